"""Tests of agents in the Testing view of the real workbench."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import agent_tests
from support.agent_tests import PLAIN, TOO_FEW_TURNS
from support.editors import server_program
from support.extension import TRUSTING, put_server_into, vscode


@pytest.mark.editor
def test_the_testing_view_runs_a_case_and_shows_the_failure_at_its_expectation(
    extension: Path, tmp_path: Path
) -> None:
    project = tmp_path / "notes"
    project.mkdir()
    cases = agent_tests.Project(project).case(TOO_FEW_TURNS, PLAIN)
    put_server_into(project).symlink_to(server_program())
    with vscode(extension, project, tmp_path, TRUSTING) as window:
        window.open_file("axe/tests/release.toml")
        window.run_command("Testing: Focus on Test Explorer View")

        def shows(*rows: str) -> None:
            window.wait_until(f"the tests {rows}", lambda: window.tests() == [*rows])

        shows("release.toml (Not yet run)")
        window.run_command("Test: Run All Tests")
        shows("release.toml (Failed)", "asks (Failed)")
        window.wait_for_text("lead: turns is 3, more than 1")
        window.picture("testing")
        page = window.webview()
        told = page.locator("article .task", has_text="Can this be released?")
        window.press_on_test("asks", "Show the Run of This Test", lambda: told.count() > 0)
        page.locator("article summary", has_text="read_file").first.wait_for()
        window.show_file("release.toml")
        cases.write_text(PLAIN + TOO_FEW_TURNS.replace("1", "3"))
        window.wait_for_text("max = 3")
        window.run_command("Test: Run All Tests")
        shows("release.toml (Passed)", "asks (Passed)")
