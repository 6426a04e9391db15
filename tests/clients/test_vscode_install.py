"""VS Code on a machine without axe-lsp: the server in the extension, how it is kept alive, and how one is installed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pytest

from support.extension import TRUSTING, packaged_for_linux, path_without_server, vscode
from support.review_project import MANAGER, MENDED, write_project

T = TypeVar("T")

PROBLEMS = [
    "negative-timeout [Ln 8, Col 11]",
    "unknown-agent [Ln 9, Col 25]",
    "max-depth [Ln 12, Col 13]",
]

PATIENCE = 300
"""Seconds. pip installs some thirty packages, on a machine that may be busy."""


@pytest.mark.editor
def test_the_server_in_the_extension_is_kept_alive_within_limits(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    extension = packaged_for_linux(tmp_path_factory.mktemp("platform"))
    project = tmp_path / "review"
    write_project(project)
    variables = {"PATH": path_without_server(), "OPENAI_API_KEY": "none"}
    with vscode(extension, project, tmp_path, TRUSTING, variables) as window:
        window.open_file("axe/agents/manager.toml")
        window.wait_for_problems(PROBLEMS)
        window.wait_for_status("axe-lsp 0.", "running, from the extension, with Python 3.")

        for text, problems in [(MENDED, []), (MANAGER, PROBLEMS)] * 2:
            _kill_server(tmp_path)
            window.replace_text(text)
            window.wait_for_problems(problems)
        _kill_server(tmp_path)
        window.wait_for_message("crashed 5 times in 3 minutes", "is not started again")
        window.wait_for_status("crashed again and again")
        window.screenshot("crashed")
        window.answer_message("crashed 5 times", "Restart")
        window.wait_for_status("running")
        window.replace_text(MENDED)
        window.wait_for_problems([])


@pytest.mark.editor
def test_without_a_server_vscode_says_where_it_looked_and_installs_one(
    extension: Path, tmp_path: Path
) -> None:
    project = tmp_path / "review"
    write_project(project)
    variables = {"PATH": path_without_server(), "OPENAI_API_KEY": "none"}
    with vscode(extension, project, tmp_path, TRUSTING, variables) as window:
        window.open_file("axe/agents/manager.toml")
        window.wait_for_message("was not found", f"{project}/.venv/bin/axe-lsp", "axe-lsp on PATH")
        window.wait_for_status("axe-lsp was not found", "neither checked nor run")
        window.screenshot("no server")
        window.answer_message("was not found", "Install")
        window.pick("The version that comes with this extension")
        storage = tmp_path / "data" / "User" / "globalStorage" / "axe-lsp.axe-lsp"
        _wait_for((storage / "server" / "bin" / "axe-lsp").exists)
        window.wait_for_problems(PROBLEMS)
        window.wait_for_status("running, from what the extension has installed")


def _kill_server(scratch: Path) -> None:
    """Ends the server as a crash would, and waits until it is gone."""
    process = _wait_for(lambda: _server(scratch))
    os.kill(process, signal.SIGKILL)
    _wait_for(lambda: _server(scratch) != process)


def _server(scratch: Path) -> int | None:
    """The process of the server that lies in the extension which is installed in `scratch`."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # It has just ended.
            command = path.read_text(encoding="utf-8", errors="replace")
            if str(scratch) in command and "bundled/axe-lsp.py" in command:
                return int(path.parent.name)
    return None


def _wait_for(condition: Callable[[], T | None]) -> T:
    deadline = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)
    return value
