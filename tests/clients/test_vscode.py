"""The VS Code extension in the real workbench, as a user meets it: squiggles, problems, a run."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from support.codex_project import CLAUDE_AGENT, write_claude_project, write_codex_project
from support.editors import current_code_server, missing, server_program
from support.engines import agent
from support.extension import TRUSTING, UNTRUSTING, put_server_into, set_in_workspace, vscode
from support.plain_mcp import ASKING, plain_server
from support.review_project import MANAGER, MENDED, script_review, write_project
from support.scripted_provider import Answer, Call, Hold, Says, ScriptedProvider

PROBLEMS = [
    "negative-timeout [Ln 8, Col 11]",
    "unknown-agent [Ln 9, Col 25]",
    "max-depth [Ln 12, Col 13]",
]

NOTES = "".join(f"line {number}\n" for number in range(1, 13))


@pytest.mark.editor
def test_an_agent_is_mended_and_run_in_vscode(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "review"
    manager = write_project(project)
    put_server_into(project).symlink_to(server_program())
    review = script_review(provider)
    with vscode(extension, project, tmp_path, TRUSTING, provider.environment) as window:
        window.open_file("axe/agents/manager.toml")
        window.wait_for_squiggles(errors=2, warnings=1)
        window.wait_for_problems(PROBLEMS)
        window.picture("problems")
        window.replace_text(MENDED)
        window.wait_for_problems([])

        window.run_command("axe: Run This Agent")
        window.answer_question("Run manager", "Review the change")
        seen = window.wait_for_output("fast🚀 | No bugs found.", "slow · turn 1")
        assert "slow ✓" not in seen
        window.screenshot("run")
        review.slow.release()
        seen = window.wait_for_output("slow | The style is fine.", "manager | Ready to")
        assert "merge" not in seen
        review.end.release()
        window.wait_for_output("manager | Ready to merge.", "manager ✓ completed")
        window.screenshot("answer")

        window.run_command("axe: Search Runs")
        window.pick("manager", "completed", "Review the change")
        window.wait_for_text("# manager", "> Review the change", "### slow")

        window.run_command("axe: Get Started")
        steps = ["Install the language server", "Open an agent", "Run it"]
        window.wait_until("ticks", lambda: window.setting_up.steps_done()[:3] == steps)
        window.picture("walkthrough")
    assert manager.read_text(encoding="utf-8") == MANAGER, "what ran was not saved"


@pytest.mark.editor
def test_agents_ask_in_vscode_before_they_change_something(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "review"
    writer = write_project(project).with_name("writer.toml")
    text = agent("writer", tools=["edit_file", "write_file", "run_command"])["writer"]
    writer.write_text(text, encoding="utf-8")
    put_server_into(project).symlink_to(server_program())
    (project / "notes.txt").write_text(NOTES, encoding="utf-8")
    script_changes(provider)
    with vscode(extension, project, tmp_path, TRUSTING, provider.environment) as window:
        window.open_file("axe/agents/writer.toml")
        window.wait_for_problems(PROBLEMS)
        window.run_command("axe: Run This Agent")
        window.answer_question("Run writer", "Write")
        window.wait_for_message("wants to change notes.txt")
        window.wait_for_diff("line 1", "first line")
        window.wait_for_diff("line 12", "line 12")  # Both sides are the whole file.
        window.answer_message("wants to change notes.txt", "Deny")
        window.wait_for_message("wants to write a.txt")
        window.answer_message("wants to write a.txt", "More…")
        window.choose("Deny and Say Why")
        window.answer_question("wants to write a.txt", "write b.txt")
        window.wait_for_message("wants to write b.txt")
        window.answer_message("wants to write b.txt", "Show")
        window.wait_for_diff("", "B")
        window.focus_diff()
        window.press_in_title("More…", lambda: window.offers("Allow This File for This Run"))
        window.choose("Allow This File for This Run")
        window.wait_for_message("wants to run a command: touch d.txt")
        window.answer_message("touch d.txt", "More…")
        window.choose("Always Allow This Command Here")
        window.screenshot("approval")
        window.wait_for_output("writer | First.", "writer ✓ completed")

        (project / "d.txt").unlink()
        window.run_command("axe: Run This Agent")
        window.answer_question("Run writer", "Again")
        window.wait_for_output("writer | Second.")
    assert (project / "d.txt").exists(), "what is always allowed here was not asked about again"
    assert {path.name for path in project.glob("?.txt")} == {"b.txt", "d.txt"}
    assert (project / "b.txt").read_text(encoding="utf-8") == "C\n"
    assert (project / "notes.txt").read_text(encoding="utf-8") == NOTES
    told = [request.body["messages"][-1]["content"] for request in provider.asked("m-writer")]
    assert told[1] == "edit_file was not allowed: the user said no"
    assert told[2] == "write_file was not allowed: the user said no: write b.txt"


@pytest.mark.editor
def test_nobody_answers_a_question_in_vscode_who_is_typing_something_else(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "review"
    writer = write_project(project).with_name("writer.toml")
    text = agent("writer", tools=["write_file", "run_command"])["writer"]
    writer.write_text(text, encoding="utf-8")
    put_server_into(project).symlink_to(server_program())
    hold = Hold()
    write = Says(calls=[Call("write_file", {"path": "a.txt", "content": "A\n"})])
    commands = [
        Says(calls=[Call("run_command", {"command": f"touch {name}.txt"})]) for name in "bcde"
    ]
    provider.script("m-writer", Answer(write, hold=hold), *commands)
    with vscode(extension, project, tmp_path, TRUSTING, provider.environment) as window:
        window.open_file("axe/agents/writer.toml")
        runs = window.open_view("Runs")
        window.run_agent("writer", "Write")
        hold.wait_until_arrived()
        runs.wait_for("writer", "Turn 1")
        window.go_to_end()
        hold.release()
        lines = itertools.count(1)

        def typing_meets_question() -> bool:
            window.type_on(f"# typed {next(lines)}\n")
            return window.shows_message("wants to write a.txt")

        window.wait_until("a question", typing_meets_question)
        window.wait_for_diff("", "A")
        runs.wait_until_spoken("writer", "writer, asks you, wants to write a.txt")
        runs.wait_until_spoken("write_file", "write_file, asks you, wants to write a.txt")
        window.wait_until("the badge", lambda: window.badge() == "1 question from agents")
        window.picture("approval")
        for key in ("Enter", "Space", "Control+Shift+a", "Escape", "Enter"):
            window.press_keys(key)
            window.type_on(f"# typed {next(lines)}\n")
        window.wait_for_text(*(f"# typed {line}" for line in range(1, next(lines))))
        assert len(provider.asked("m-writer")) == 1, "nothing was answered"
        assert not (project / "a.txt").exists()

        runs.press("writer", "Allow")
        window.wait_for_message("touch b.txt")
        window.close_message("touch b.txt")
        assert (project / "a.txt").exists()
        runs.wait_until_spoken("writer", "writer, asks you, wants to run a command: touch b.txt")
        window.screenshot("asking")
        runs.press_until_spoken(
            "writer", "Deny", "writer, asks you, wants to run a command: touch c"
        )
        window.wait_for_message("touch c.txt")
        window.repeat_until(
            "allowed commands",
            lambda: runs.choose("writer", entry="Allow the Same for This Run"),
            (project / "e.txt").exists,
        )
        window.wait_until_silent("touch")
    assert {path.name for path in project.glob("?.txt")} == {"a.txt", "c.txt", "d.txt", "e.txt"}


@pytest.mark.editor
def test_a_model_asks_in_vscode_what_it_wants_to_know(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "review"
    asker = write_project(project).with_name("asker.toml")
    asker.write_text(agent("asker", tools=["ask_user"])["asker"], encoding="utf-8")
    put_server_into(project).symlink_to(server_program())
    choices = {"choices": ["Postgres", "SQLite"]}
    questions = {"Which one?": choices, "Which two?": choices, "Why?": {}, "Sure?": {}}
    calls = [Call("ask_user", {"question": each, **more}) for each, more in questions.items()]
    provider.script("m-asker", *(Says(calls=[each]) for each in calls), Says("Understood."))
    with vscode(extension, project, tmp_path, TRUSTING, provider.environment) as window:
        window.open_file("axe/agents/asker.toml")
        runs = window.open_view("Runs")
        window.run_agent("asker", "Go")
        window.wait_for_message('agent "asker" asks: Which one?')
        window.go_to_end()
        for key in ("Enter", "Space", "Escape", "Enter"):
            window.press_keys(key)
        window.type_on("# typed")
        window.wait_for_text("# typed")
        assert len(provider.asked("m-asker")) == 1, "nothing was answered"

        runs.wait_until_spoken("asker", "asker, asks you, asks: Which one?")
        runs.press("asker", "Answer…")
        window.choose("SQLite")
        window.wait_for_message("asks: Which two?")
        window.answer_message("asks: Which two?", "Answer…")
        window.choose("Answer in Other Words…")
        window.answer_question('agent "asker" asks', "DuckDB")
        window.wait_for_message("asks: Why?")
        window.run_command("axe: Answer a Question of an Agent…")
        window.answer_question('agent "asker" asks', "For speed")
        window.wait_for_message("asks: Sure?")
        window.answer_message("asks: Sure?", "Don't Answer")
        window.wait_for_output("asker | Understood.", "asker ✓ completed")
    told = [request.body["messages"][-1]["content"] for request in provider.asked("m-asker")]
    assert told[1:] == ["SQLite", "DuckDB", "For speed", "the user dismissed the question"]


@pytest.mark.editor
def test_a_codex_project_is_checked_in_vscode_without_settings(
    extension: Path, tmp_path: Path
) -> None:
    project = tmp_path / "review"
    reviewer = write_codex_project(project)
    put_server_into(project).symlink_to(server_program())
    with vscode(extension, project, tmp_path, TRUSTING) as window:
        window.open_file(".codex/agents/reviewer.toml")
        window.wait_for_squiggles(errors=1, warnings=0)
        window.wait_for_problems(["unknown-key [Ln 4, Col 1]", "unknown-key [Ln 5, Col 1]"])
        window.replace_text(reviewer.read_text("utf-8").replace("efort", "effort"))
        window.wait_for_problems(["unknown-key [Ln 4, Col 1]"])


@pytest.mark.editor
def test_claude_agent_is_checked_in_vscode_without_settings(
    extension: Path, tmp_path: Path
) -> None:
    project = tmp_path / "review"
    write_claude_project(project)
    put_server_into(project).symlink_to(server_program())
    with vscode(extension, project, tmp_path, TRUSTING) as window:
        window.open_file(".claude/agents/reviewer.md")
        window.wait_for_problems(["unknown-tool [Ln 4, Col 14]"])
        window.replace_text(CLAUDE_AGENT.replace("Greb", "Grep"))
        window.wait_for_problems([])


@pytest.mark.editor
def test_keys_are_suggested_in_vscode_as_one_types(extension: Path, tmp_path: Path) -> None:
    project = tmp_path / "review"
    solo = write_project(project).with_name("solo.toml")
    solo.write_text('name = "solo"\nmodel = "ollama/m"\n', encoding="utf-8")
    put_server_into(project).symlink_to(server_program())
    with vscode(extension, project, tmp_path, TRUSTING) as window:
        window.open_file("axe/agents/solo.toml")
        window.wait_for_problems(PROBLEMS)
        window.go_to_end()
        window.type_on("sys")
        window.wait_for_suggestion("system_prompt")
        window.press_keys("Escape", "Shift+Home", "Delete")
        window.type_on("too")
        window.wait_for_suggestion("tools")
        window.press_keys("Enter")
        window.wait_for_suggestion("read_file")


def script_changes(provider: ScriptedProvider) -> None:
    """Two runs: a file that is there, a new one, another one twice and a command, then the same command."""
    edited = {"path": "notes.txt", "old_string": "line 1\n", "new_string": "first line\n"}
    contents = (("a.txt", "A\n"), ("b.txt", "B\n" * 60), ("b.txt", "C\n"))
    writes = [
        Says(calls=[Call("write_file", {"path": path, "content": content})])
        for path, content in contents
    ]
    command = Says(calls=[Call("run_command", {"command": "touch d.txt"})])
    edit = Says(calls=[Call("edit_file", edited)])
    provider.script("m-writer", edit, *writes, command, Says("First."), command, Says("Second."))


@pytest.mark.editor
def test_an_untrusted_workspace_is_checked_and_starts_nothing_of_its_own(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "review"
    write_project(project)
    tests = project / "axe" / "tests" / "manager.toml"
    tests.parent.mkdir()
    tests.write_text('agent = "manager"\n[[case]]\nname = "asks"\ntask = "Go."\n', encoding="utf-8")
    trap = put_server_into(project)
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n", encoding="utf-8")
    trap.chmod(0o755)
    set_in_workspace(project, {"axe.server.path": str(trap)})
    settings = {**UNTRUSTING, "axe.server.path": str(server_program())}
    with vscode(extension, project, tmp_path, settings, provider.environment) as window:
        window.open_file("axe/agents/manager.toml")
        window.wait_for_problems(PROBLEMS)
        assert not window.offers_command("axe: Run This Agent")
        window.screenshot("untrusted")
        window.run_command("Test: Run All Tests")
        window.answer_dialog("Running tests may execute code in your workspace", "Cancel")
    assert provider.requests == []
    assert not (tmp_path / "sprung").exists()


@pytest.mark.editor
def test_a_workspace_that_is_trusted_later_runs_agents_at_once(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "review"
    solo = write_project(project).with_name("solo.toml")
    solo.write_text(agent("solo")["solo"], encoding="utf-8")
    provider.script("m-solo", Says("Trusted."))
    settings = {**UNTRUSTING, "axe.server.path": str(server_program())}
    with vscode(extension, project, tmp_path, settings, provider.environment) as window:
        window.open_file("axe/agents/solo.toml")
        window.wait_for_problems(PROBLEMS)
        window.wait_for_status("agents do not run, because you have not trusted this workspace")
        window.wait_until("lenses", lambda: window.lenses() == ["Preview", "0 references"])
        agents = window.open_view("Agents")
        agents.wait_for_message("you have not trusted this workspace")
        assert window.offers_command("axe: Trust This Workspace…")
        offered = agents.entries("solo", "Preview the Request")
        assert not [entry for entry in offered if "Run" in entry]
        for title in ("Run This Agent", "Run With Input…", "Run Again"):
            assert not window.offers_command(f"axe: {title}")
        window.press_key("Control+F5")
        window.wait_for_message("Agents do not run here", "you have not trusted this workspace")
        window.screenshot("untrusted")
        window.trust()
        window.show_file("solo.toml")
        window.press_key("Control+F5")
        window.answer_question("Run solo", "Go")
        window.wait_for_output("solo | Trusted.")


@pytest.mark.editor
def test_a_current_vscode_checks_explains_and_runs_agents(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "review"
    solo = write_project(project).with_name("solo.toml")
    solo.write_text(agent("solo")["solo"], encoding="utf-8")
    put_server_into(project).symlink_to(server_program())
    provider.script("m-solo", Says("Current."))
    server = current_code_server() or missing("current code-server", ".ci/install-code-server")
    with vscode(extension, project, tmp_path, TRUSTING, provider.environment, server) as window:
        window.open_file("axe/agents/solo.toml")
        window.wait_for_problems(PROBLEMS)
        window.wait_for_status("running, from the .venv of the workspace")
        window.hover("model", "provider")
        window.run_agent("solo", "Go")
        window.run_command("axe: Show the Log of Runs")
        window.wait_for_output("solo | Current.", "solo ✓ completed")


@pytest.mark.editor
def test_an_mcp_server_is_started_and_asks_in_vscode(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "review"
    bot = write_project(project).with_name("bot.toml")
    server = plain_server(tmp_path, ASKING)
    bot.write_text(agent("bot", mcp_servers=[server])["bot"], encoding="utf-8")
    put_server_into(project).symlink_to(server_program())
    provider.script("m-bot", Says(calls=[Call("tell", {})]), Says("done"))
    with vscode(extension, project, tmp_path, TRUSTING, provider.environment) as window:
        window.open_file("axe/agents/bot.toml")
        window.run_command("axe: Run This Agent")
        window.answer_question("Run bot", "Work")
        window.wait_for_message('wants to start the MCP server "plain"')
        window.screenshot("server")
        window.answer_message("wants to start", "More…")
        window.choose("Allow This MCP Server for This Run")
        window.wait_for_message('wants to call tell of the MCP server "plain"')
        window.screenshot("server-call")
        window.answer_message("wants to call tell", "Allow")
        window.wait_for_message('MCP server "plain" of agent "bot" asks: May I go on?')
        window.screenshot("server-asks")
        window.answer_message("May I go on?", "Answer…")
        window.choose("Accept")
        window.wait_for_output("bot ✓ completed")
    told = provider.asked("m-bot")[1].body["messages"][-1]["content"]
    assert '"action": "accept"' in told
