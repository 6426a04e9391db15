"""The version of a build: that of `axe_lsp.__version__`, and the commit if it is not a release.

hatch executes this file. Outside a checkout, as in an sdist, the version is that of the sdist.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent


def version() -> str:
    """`0.1.0` for a commit with the tag `v0.1.0`, else `0.1.0+g1234567`. Needs no history and no other tags."""
    source = (ROOT / "server" / "axe_lsp" / "__init__.py").read_text("utf-8")
    release = re.findall(r'^__version__ = "(.+)"$', source, re.MULTILINE)[0]
    package_info = ROOT / "PKG-INFO"
    if package_info.exists():
        return re.findall(r"^Version: (.+)$", package_info.read_text("utf-8"), re.MULTILINE)[0]
    if not (ROOT / ".git").exists() or f"v{release}" in _git("tag", "--points-at", "HEAD").split():
        return release
    commit = _git("rev-parse", "--short=7", "HEAD").strip()
    return f"{release}+g{commit}" if commit else release


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except OSError:  # Git is not installed.
        return ""
    return done.stdout
