"""The VS Code extension, packaged as users get it, and a window of VS Code in which it is installed.

`AXE_TEST_VSIX` and `AXE_TEST_PLATFORM_VSIX` name what `.ci/run` has packaged; else it is packaged here.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from support.editors import PROJECT, clean_environment, code_server, missing
from support.processes import bearing
from support.workbench import Workbench, workbench

UNTRUSTING = {"security.workspace.trust.startupPrompt": "never", "axe.editor.showRuns": "output"}
"""Settings with which a workspace is not trusted until somebody says so."""

TRUSTING = {
    "security.workspace.trust.enabled": False,
    "files.autoSave": "off",
    "axe.editor.showRuns": "output",
}


def packaged(folder: Path) -> Path:
    """Return the universal extension, which has the server's wheel in it."""
    return _packaged("AXE_TEST_VSIX", folder / "axe-lsp.vsix")


def packaged_for_linux(folder: Path) -> Path:
    """Return the extension with all that the server needs on this platform."""
    vsix = folder / "axe-lsp-linux-x64.vsix"
    return _packaged("AXE_TEST_PLATFORM_VSIX", vsix, "--target", "linux-x64")


def _packaged(variable: str, vsix: Path, *options: str) -> Path:
    given = os.environ.get(variable)
    if given:
        return Path(given)
    npm = shutil.which("npm")
    folder = PROJECT / "vscode-extension"
    if npm is None or not (folder / "node_modules").exists():
        missing("tools of the VS Code extension", "`npm ci` in vscode-extension")
    with _alone_in(folder):
        if not vsix.exists():
            _package([npm, "run", "package", "--", "--out", str(vsix), *options], folder)
    return vsix


def _package(command: Sequence[str], folder: Path) -> None:
    environment = {**os.environ, "PYTHON": sys.executable}
    built = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """While no other worker is: what goes into a package is built in one place."""
    place = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        os.close(place)


@contextmanager
def vscode(
    extension: Path | None,
    project: Path,
    scratch: Path,
    settings: Mapping[str, Any],
    variables: Mapping[str, str] | None = None,
    server: Path | None = None,
    others: Sequence[Path] = (),
) -> Iterator[Workbench]:
    """Provide a window on `project`. `variables` are added to its environment, `server` is another code-server."""
    server = server or code_server()
    if server is None or not shutil.which("chromium") or not find_spec("playwright"):
        missing("code-server with a browser", ".ci/install-code-server")
    environment = clean_environment(scratch / "home", **(variables or {}))
    with workbench(server, extension, project, environment, scratch, settings, others) as window:
        yield window


def path_without_server() -> str:
    """Return the folders of programs of this machine, without those that have an `axe-lsp`."""
    folders = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(each for each in folders if not Path(each, "axe-lsp").exists())


def kill_server(project: Path) -> None:
    """End the server that was put into a project, as a crash would."""
    program = f"{project}/.venv/bin/axe-lsp"
    for process in [each for each, line in bearing(program).items() if program in line]:
        os.kill(process, signal.SIGKILL)


def put_server_into(project: Path) -> Path:
    """Return where the extension looks first: the project's own environment."""
    program = project / ".venv" / "bin" / "axe-lsp"
    program.parent.mkdir(parents=True)
    return program


def set_in_workspace(project: Path, settings: Mapping[str, Any]) -> None:
    """Settings that the repository brings."""
    folder = project / ".vscode"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
