"""Which editors this machine has, and the surroundings in which a test starts one.

An editor that is missing is skipped with the script that installs it; where `AXE_REQUIRE_EDITORS` is
set, as in `.ci/run`, it is a failure, because a test that is skipped everywhere proves nothing.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn

import pytest

PROJECT = Path(__file__).parents[2]
CACHE = PROJECT / ".cache"


def missing(editor: str, installer: str) -> NoReturn:
    """Ends the test of an editor that is not there."""
    reason = f"no {editor} on this machine: {installer} installs it"
    if os.environ.get("AXE_REQUIRE_EDITORS"):
        pytest.fail(reason)
    pytest.skip(reason)


def neovims() -> list[Path]:
    """`AXE_TEST_NVIM` alone if it is set, else the one on PATH and those of `.ci/install-neovim`."""
    chosen = os.environ.get("AXE_TEST_NVIM")
    if chosen:
        return [Path(chosen)]
    on_path = shutil.which("nvim")
    return [*([Path(on_path)] if on_path else []), *sorted(CACHE.glob("neovim-*/nvim"))]


def emacsen() -> list[Path]:
    """`AXE_TEST_EMACS` alone if it is set, else the one on PATH and those of `.ci/install-emacs`."""
    chosen = os.environ.get("AXE_TEST_EMACS")
    if chosen:
        return [Path(chosen)]
    on_path = shutil.which("emacs")
    return [*([Path(on_path)] if on_path else []), *sorted(CACHE.glob("emacs-*/emacs"))]


def helix() -> Path | None:
    """`AXE_TEST_HELIX` if it is set, else the newest of `.ci/install-helix`."""
    chosen = os.environ.get("AXE_TEST_HELIX")
    if chosen:
        return Path(chosen)
    installed = sorted(CACHE.glob("helix-*/hx"))
    return installed[-1] if installed else None


def code_server() -> Path | None:
    """`AXE_TEST_CODE_SERVER` if it is set, else the oldest of `.ci/install-code-server`."""
    chosen = os.environ.get("AXE_TEST_CODE_SERVER")
    if chosen:
        return Path(chosen)
    installed = _code_servers()
    return installed[0] if installed else None


def current_code_server() -> Path | None:
    """Return the later one of the two that `.ci/install-code-server` installs."""
    installed = _code_servers()
    return installed[-1] if len(installed) > 1 else None


def _code_servers() -> list[Path]:
    return sorted(CACHE.glob("code-server-*/code-server"), key=_version)


def _version(program: Path) -> list[int]:
    return [int(part) for part in program.parent.name.rpartition("-")[2].split(".")]


def server_program() -> Path:
    """`AXE_TEST_SERVER` if it is set, else the `axe-lsp` of the environment that the tests run in."""
    chosen = os.environ.get("AXE_TEST_SERVER")
    return Path(chosen) if chosen else Path(sys.executable).parent / "axe-lsp"


def clean_environment(home: Path, **variables: str) -> dict[str, str]:
    """Return an environment that knows nothing of the user's editor, agents and keys."""
    kept = {name: os.environ[name] for name in ("LANG", "PATH", "TMPDIR") if name in os.environ}
    folders = {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
    }
    for folder in folders.values():
        Path(folder).mkdir(parents=True, exist_ok=True)
    return {**kept, **folders, **variables}
