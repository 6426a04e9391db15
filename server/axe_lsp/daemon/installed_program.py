"""The version of another program that is installed, such as Codex. Everything here may block.

A package of npm says its version in a file above the program. Else the program is started once, with a home folder of
its own that is deleted afterwards, since Codex leaves files there (`codex --version`, Codex 0.171).
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from functools import lru_cache
from itertools import islice
from pathlib import Path

import msgspec

from axe_lsp.agentfile.other_programs import Program
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.search_path import find_program

_MOST_FOLDERS = 6
"""Folders above a program in which the file of its package may be."""

_PATIENCE = 10.0
"""Seconds that a program has to say its version."""

_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?")


def installed_version(program: Program, environment: Environment) -> str:
    """Return the version of a program on the PATH, "" if there is none or it does not say."""
    path = find_program(program.name, environment)
    if path is None:
        return ""
    try:
        real = os.path.realpath(path)
        return _version_of(real, Path(real).stat().st_mtime_ns, program.home_variable)
    except OSError:
        return ""


@lru_cache(maxsize=16)  # A program is asked once, and again after it has changed.
def _version_of(path: str, _changed: int, home_variable: str) -> str:
    return _version_of_package(Path(path)) or _version_by_itself(path, home_variable)


def _version_of_package(program: Path) -> str:
    for folder in islice(program.parents, _MOST_FOLDERS):
        try:
            package = msgspec.json.decode((folder / "package.json").read_bytes())
        except (OSError, ValueError):
            continue
        is_its_own = isinstance(package, dict) and f"{program.stem}" in str(package.get("name"))
        found = _VERSION.match(str(package.get("version", ""))) if is_its_own else None
        if found is not None:
            return found[0]
    return ""


def _version_by_itself(path: str, home_variable: str) -> str:
    with tempfile.TemporaryDirectory(prefix="axe-version-") as home:
        environment = {"PATH": os.defpath, "HOME": home, home_variable: home}
        try:
            done = subprocess.run(  # noqa: S603 - the user's program, by its absolute path
                [path, "--version"],
                cwd=home,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PATIENCE,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return ""
    found = _VERSION.search(done.stdout.decode("utf-8", "replace"))
    return found[0] if found is not None and done.returncode == 0 else ""
