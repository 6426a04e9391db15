"""Tests of agents in the Testing view of the real workbench."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import agent_tests
from support.agent_tests import PLAIN, TOO_FEW_TURNS
from support.editors import server_program
from support.extension import TRUSTING, put_server_into, vscode
from support.scripted_provider import Answer, Hold, Says, ScriptedProvider


@pytest.mark.editor
def test_the_testing_view_runs_a_case_shows_its_failure_and_records_it(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "notes"
    project.mkdir()
    cases = agent_tests.Project(project).case(TOO_FEW_TURNS, PLAIN)
    recording = project / "axe/tests/recordings/asks.toml"
    put_server_into(project).symlink_to(server_program())
    with vscode(extension, project, tmp_path, TRUSTING, provider.environment) as window:
        window.open_file("axe/tests/release.toml")
        window.run_command("Testing: Focus on Test Explorer View")

        def shows(*rows: str) -> None:
            # The duration follows after a run with real answers.
            window.wait_until(
                f"the tests {rows}",
                lambda: [row.partition(", in ")[0] for row in window.tests()] == [*rows],
            )

        def run_using(profile: str) -> None:
            window.view("Test Explorer").choose("asks", entry="Execute Using Profile")
            window.choose(profile)

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

        recording.unlink()
        hold = Hold()
        provider.script("m-lead", Answer(Says("Late."), hold=hold))
        run_using("Record")
        hold.wait_until_arrived()
        window.cancel_tests()
        hold.wait_until_hung_up()
        shows("release.toml (Skipped)", "asks (Skipped)")
        assert not recording.exists()

        provider.script("m-lead", Says("Yes."))
        run_using("Record")
        shows("release.toml (Passed)", "asks (Passed)")
        assert 'text = "Yes."' in recording.read_text()

        provider.script("m-lead", Says("No."))
        run_using("Update")
        window.wait_for_tab("Recording of asks")
        window.answer_message('Replace the recording of the case "asks"?', "Replace")
        window.wait_until("the new recording", lambda: 'text = "No."' in recording.read_text())
        shows("release.toml (Passed)", "asks (Passed)")


@pytest.mark.editor
def test_the_testing_view_runs_the_cases_of_an_agent_again_when_it_is_saved(
    extension: Path, tmp_path: Path
) -> None:
    project = tmp_path / "notes"
    project.mkdir()
    made = agent_tests.Project(project)
    made.case("", PLAIN)
    made.write("axe/tests/other.toml", 'agent = "docs"\n[[case]]\nname = "alone"\ntask = "t"\n')
    skill = tmp_path / "home/config/axe/skills/leading.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("")
    before = made.write(
        "axe/agents/lead.toml",
        (project / "axe/agents/lead.toml").read_text() + 'skill = "skills/leading.md"\n',
    ).read_text()
    put_server_into(project).symlink_to(server_program())
    with vscode(extension, project, tmp_path, TRUSTING) as window:
        window.open_file("axe/agents/lead.toml")
        window.run_command("Testing: Focus on Test Explorer View")

        def shows(*rows: str) -> None:
            window.wait_until(
                f"the tests {rows}",
                lambda: [row.partition(", in ")[0] for row in window.tests()] == [*rows],
            )

        def save(text: str) -> None:
            window.show_file("lead.toml")
            window.replace_text(text)
            window.press_key("Control+s")

        shows("other.toml (Not yet run)", "release.toml (Not yet run)")
        window.run_command("Test: Start Continuous Run")
        save(before.replace("You lead.", "You lead well."))
        shows("other.toml (Not yet run)", "release.toml (Failed)")
        save(before)
        shows("other.toml (Not yet run)", "release.toml (Passed)")
        save(before.rstrip("\n"))  # With the cursor behind the name of the skill.
        window.press_key("ArrowLeft")
        window.press_until("F12", "the skill", lambda: "leading.md" in window.tab())
        window.replace_text("Lead well.")
        window.press_key("Control+s")
        shows("other.toml (Not yet run)", "release.toml (Failed)")


@pytest.mark.editor
def test_a_run_of_the_view_runs_becomes_a_test(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "notes"
    project.mkdir()
    agent_tests.Project(project)
    put_server_into(project).symlink_to(server_program())
    provider.script("m-docs", Says("Written."))
    with vscode(extension, project, tmp_path, TRUSTING, provider.environment) as window:
        window.open_file("axe/agents/docs.toml")
        runs = window.open_view("Runs")
        window.run_agent("docs", "Write it.")
        runs.wait_until_spoken("docs", "docs, completed, ")
        runs.choose("docs", entry="New Test from Run")
        window.wait_for_text("[[case]]", 'task = "Write it."')
        window.wait_for_message("passed")
        window.run_command("Testing: Focus on Test Explorer View")
        window.wait_until("the new test", lambda: window.tests() == ["docs.toml (Not yet run)"])
    assert len(provider.requests) == 1, "the case is replayed"
