"""VS Code on a machine without axe-lsp: the server in the extension, how it is kept alive, and how one is installed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from axe_lsp import __version__
from support.editors import server_program
from support.engines import agent
from support.extension import TRUSTING, packaged_for_linux, path_without_server, vscode
from support.other_server import write_clone, write_wheel
from support.processes import bearing, parent_of
from support.review_project import MANAGER, MENDED, write_project
from support.scripted_provider import Answer, Hold, Says, ScriptedProvider
from support.workbench import Workbench

T = TypeVar("T")

PROBLEMS = [
    "negative-timeout [Ln 8, Col 11]",
    "unknown-agent [Ln 9, Col 25]",
    "max-depth [Ln 12, Col 13]",
]

HOST = "axe_lsp.hosting.host.host"
"""What is on the command line of the process that makes the runs."""

PATIENCE = 300
"""Seconds. pip installs some thirty packages, on a machine that may be busy."""


MAX_PACKAGE = 2_000_000
"""Bytes of the universal extension."""


def test_universal_package_is_no_larger_than_its_budget(extension: Path) -> None:
    assert extension.stat().st_size <= MAX_PACKAGE


@pytest.mark.editor
def test_the_server_in_the_extension_is_kept_alive_within_limits_and_its_runs_end_with_it(
    provider: ScriptedProvider, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    extension = packaged_for_linux(tmp_path_factory.mktemp("platform"))
    project = tmp_path / "review"
    solo = write_project(project).with_name("solo.toml")
    solo.write_text(agent("solo", description="Alone")["solo"], encoding="utf-8")
    hold = Hold()
    provider.script("m-solo", Answer(Says("Never said."), hold=hold))
    variables = {"PATH": path_without_server(), **provider.environment}
    with vscode(extension, project, tmp_path, TRUSTING, variables) as window:
        window.open_file("axe/agents/solo.toml")
        window.wait_for_problems(PROBLEMS)
        window.wait_for_status("axe-lsp 0.", "running, from the extension, with Python 3.")

        runs = window.open_view("Runs")
        window.run_agent("solo", "Wait")
        runs.wait_until_spoken("solo", "solo, running, ")
        runs.click("Turn 1")
        window.wait_for_text("# solo, turn 1", "running · ")
        _kill_server(window, tmp_path, number=1)
        window.wait_for_message("has stopped. Its runs have ended. It is starting again.")
        runs.wait_until_spoken("solo", "solo, killed, ")
        window.wait_for_text("# solo, turn 1", "killed · ")
        _wait_for(lambda: not [each for each in bearing(str(tmp_path)).values() if HOST in each])
        hold.release()

        window.view("Agents").click("manager")
        window.wait_for_tab("manager.toml")
        for number, text, problems in [(2, MENDED, []), (3, MANAGER, PROBLEMS), (4, MENDED, [])]:
            _kill_server(window, tmp_path, number)
            window.replace_text(text)
            window.wait_for_problems(problems)
        killed = 4
        while not window.shows_message("crashed 5 times"):
            # Once, unless the machine is so busy that the first was more than three minutes ago.
            killed += 1
            _kill_server(window, tmp_path, killed)
            window.wait_until("the next", partial(_is_given_up_or_there, window, killed + 1))
        window.wait_for_message("crashed 5 times in 3 minutes", "is not started again")
        window.wait_for_status("crashed again and again")
        window.screenshot("crashed")
        window.answer_message("crashed 5 times", "Restart")
        window.wait_for_status("running")
        window.replace_text(MANAGER)
        window.wait_for_problems(PROBLEMS)


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


@pytest.mark.editor
def test_a_new_user_gets_from_no_server_to_the_first_run_and_hears_of_versions_that_do_not_fit(
    extension: Path, tmp_path: Path
) -> None:
    project = tmp_path / "empty"
    project.mkdir()
    (project / "notes.txt").write_text("Nothing yet.\n", encoding="utf-8")
    variables = {"PATH": path_without_server()}
    with vscode(extension, project, tmp_path, TRUSTING, variables) as window:
        window.open_file("notes.txt")
        agents = window.open_view("Agents")
        agents.wait_for_welcome("Choose the Program…")
        assert window.messages() == [], "the view says it, with the same buttons"
        runs = window.view("Runs")
        runs.wait_for_welcome("The language server was not found")
        runs.wait_for_welcome("Install It…")

        agents.press_button("Install It…")
        window.setting_up.pick("A wheel…")
        window.setting_up.give(write_wheel(tmp_path, "9.9.0"))
        _wait_for(lambda: _installed(tmp_path, "9.9.0"))
        window.wait_for_message("is version 9.9.0, this extension 0.", "Some things may not work")
        window.answer_message("is version 9.9.0", "Install")
        window.setting_up.pick("A clone of axe-lsp…")
        window.setting_up.give(write_clone(tmp_path / "clone", "8.8.0"))
        _wait_for(lambda: _installed(tmp_path, "8.8.0"))
        window.wait_for_message("is version 8.8.0, this extension 0.")
        window.answer_message("is version 8.8.0", "Choose Program")
        window.setting_up.give(server_program())
        agents.wait_for_welcome("Copy the Demo")

        window.run_command("axe: Get Started")
        window.wait_for_walkthrough("Install the language server", "Open an agent", "Run it")
        window.wait_until(
            "a server", lambda: "Install the language server" in str(window.setting_up.steps_done())
        )
        assert "Open an agent" not in window.setting_up.steps_done()
        window.run_command("axe: Copy the Demo to a Folder…")
        window.setting_up.give(tmp_path)
        window.wait_for_folder("axe-demo")
        window.wait_for_tab("release-check.toml")
        window.wait_for_status(f"axe-lsp {__version__}, running, from the setting axe.server.path")
        window.run_agent("release-check", "")
        window.wait_for_output("release-check ✓ completed")
        window.run_command("axe: Get Started")
        steps = ["Install the language server", "Open an agent", "Run it"]
        window.wait_until("ticks", lambda: window.setting_up.steps_done()[:3] == steps)

        window.setting_up.show_extension("Agents in TOML and Markdown")
        pictures = window.webview().locator("img")
        pictures.first.wait_for()
        widths = pictures.evaluate_all("(all) => all.map((each) => each.naturalWidth)")
        assert len(widths) > 2, "the page shows what the extension looks like"
        assert all(widths), "without a network"
        window.screenshot("page")


def _installed(scratch: Path, version: str) -> list[Path]:
    """Return what shows that the extension has installed the server in that version."""
    storage = scratch / "data" / "User" / "globalStorage" / "axe-lsp.axe-lsp"
    return list(storage.glob(f"server/lib/*/site-packages/axe_lsp-{version}.dist-info/RECORD"))


def _kill_server(window: Workbench, scratch: Path, number: int) -> None:
    """Ends a server as a crash would, when so many have come up, and waits until it is gone."""
    window.wait_until(f"server {number}", lambda: window.servers() == number)
    process = _wait_for(lambda: _server(scratch))
    os.kill(process, signal.SIGKILL)
    _wait_for(lambda: _server(scratch) != process)


def _is_given_up_or_there(window: Workbench, number: int) -> bool:
    return window.shows_message("crashed 5 times") or window.servers() == number


def _server(scratch: Path) -> int | None:
    """Return the process of the server that lies in the extension which is installed in `scratch`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # It has just ended.
            command = path.read_text(encoding="utf-8", errors="replace")
            if str(scratch) in command and "bundled/axe-lsp.py" in command:
                found.append(int(path.parent.name))
    # What it is about to start looks like itself for a moment.
    return next((pid for pid in found if parent_of(pid) not in found), None)


def _wait_for(condition: Callable[[], T | None]) -> T:
    deadline = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)
    return value
