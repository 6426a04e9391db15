"""The view "Runs" of the VS Code extension in the real workbench: live trees, history, timeline."""

from __future__ import annotations

import subprocess
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

from axe_lsp.hosting.history.database import history_file
from axe_lsp.hosting.history.rows import Origin
from support.accessibility import check_accessible
from support.editors import (
    clean_environment,
    code_server,
    current_code_server,
    missing,
    server_program,
)
from support.engines import agent
from support.extension import TRUSTING, kill_server, put_server_into, vscode
from support.past import Tale, put
from support.review_project import MENDED, script_review, write_project
from support.scripted_provider import Answer, Call, Hold, Refuses, Says, ScriptedProvider


@pytest.mark.editor
def test_a_run_from_the_lens_grows_as_a_tree_and_one_agent_of_it_can_be_stopped(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "review"
    write_project(project).write_text(MENDED, encoding="utf-8")
    put_server_into(project).symlink_to(server_program())
    review = script_review(provider)
    with vscode(extension, project, tmp_path, TRUSTING, provider.environment) as window:
        window.open_file("axe/agents/manager.toml")
        runs = window.open_view("Runs")
        window.run_agent("manager", "Review the change")
        rows = runs.wait_for("Today", "manager", "Turn 1", "fast🚀", "slow", "Turn 1")
        assert not any("Ready" in row for row in rows)
        runs.wait_until_spoken("fast🚀", "fast🚀, completed, ")  # From now on no row moves.
        runs.wait_until_spoken("slow", "slow, running, ")
        window.picture("runs")

        runs.press_until_spoken("slow", "Stop", "slow, cancelled, ")
        runs.wait_for("manager", "fast🚀", "slow", "Ready to")
        runs.wait_until_spoken("manager", "manager, running, ")
        runs.click("Turn 2")
        window.wait_for_text("# manager, turn 2", "running · ", "Ready to")
        assert runs.has_focus(), "a click opens a preview, as in every tree of VS Code"
        review.end.release()
        window.wait_for_text("completed · ", "Ready to merge.")
        runs.wait_for("manager", "slow", "Ready to merge.")
        runs.wait_until_spoken("manager", "manager, completed, ")
        window.screenshot("document")
        runs.click("Turn 2")
        window.press_until("Enter", "an editor with the focus", lambda: not runs.has_focus())

        runs.press("manager", "Show Timeline")
        timeline = window.webview()
        bars = timeline.get_by_role("treeitem")
        bars.first.focus()
        assert "manager, completed" in (bars.first.get_attribute("aria-label") or "")
        names = timeline.locator(".name").all_inner_texts()
        assert names == ["manager", "Turn 1", "fast🚀", "Turn 1", "slow", "Turn 1", "Turn 2"]
        figures = timeline.locator(".figures").nth(1).get_attribute("data-figures")
        assert "10 + 5" in (figures or "")
        timeline.get_by_role("region").filter(has_text="manager: completed").wait_for()
        window.picture("timeline")
        check_accessible(timeline)
        window.reload()
        bars.nth(6).wait_for()
        assert timeline.locator(".name").all_inner_texts() == names, "it comes back"

        def walk() -> None:
            bars.first.focus()
            for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowLeft", "Enter"):
                timeline.locator(":focus").press(key, timeout=1000)

        window.repeat_until("a child", walk, lambda: window.shows_text("# fast🚀"))
        window.wait_for_text("# fast🚀", "> Look for bugs", "No bugs found.")


@pytest.mark.editor
def test_the_tree_moves_while_text_streams(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "notes"
    teller = project / "axe" / "agents" / "teller.toml"
    teller.parent.mkdir(parents=True)
    teller.write_text(agent("teller")["teller"], encoding="utf-8")
    words = " ".join(f"word{number}" for number in range(12000))
    provider.script("m-teller", Answer(Says(words), pace=0.01))
    put_server_into(project).symlink_to(server_program())
    with vscode(extension, project, tmp_path, TRUSTING, provider.environment) as window:
        window.open_file("axe/agents/teller.toml")
        runs = window.open_view("Runs")
        window.run_agent("teller", "Tell")
        # A tree that waits until no more text comes would have one state at most. A busy machine draws few of them.
        said = runs.wait_for_moves("word", 5)
        assert all(row.startswith("Turn 1") for row in said)
        runs.wait_until_spoken("teller", "teller, running, ")


@pytest.mark.editor
def test_runs_of_others_are_followed_and_past_ones_found_compared_and_run_again(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = _project_with_notes(tmp_path)
    hold, end = Hold(), Hold()
    reads = Says(calls=[Call("read_file", {"path": "notes.txt"})])
    answers = [
        Answer(Says("It ships soon."), hold=hold),
        Says("Yes, on Friday."),
        Answer(Says("Lost."), hold=end),
        Says("Again."),
    ]
    provider.script("m-reader", *(each for answer in answers for each in (reads, answer)))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    early, earlier = (datetime.now().astimezone().date() - timedelta(days=days) for days in (3, 4))
    tales = [_old_run(number, early if number < 60 else earlier) for number in range(65)]
    put(history_file(environment), *tales, origin=Origin(str(project), 30))
    with (
        vscode(extension, project, tmp_path, TRUSTING, provider.environment) as window,
        subprocess.Popen(_command("When?"), cwd=project, env=environment, text=True) as elsewhere,
    ):
        window.open_file("axe/agents/reader.toml")
        runs = window.open_view("Runs")
        runs.wait_until_spoken("reader", "reader, running, ")
        runs.wait_for("reader", "read_file", "Turn 2")
        runs.click("read_file")
        window.wait_for_text("# read_file", '"path": "notes.txt"', "Result:", "Ship on Friday.")
        hold.release()
        runs.wait_for("reader", "It ships soon.")
        runs.wait_until_spoken("reader", "reader, completed, ")
        assert elsewhere.wait(60) == 0

        runs.wait_for("Today", _named(early), "Load older runs")
        runs.click("Load older runs")
        runs.wait_for("Today", _named(early), _named(earlier))
        runs.wait_until_gone("Load older runs")

        subprocess.run(_command("On Friday?"), cwd=project, env=environment, check=True)
        window.reload()
        runs.wait_for("Today", "On Friday?", "When?")
        runs.unfold("On Friday?")
        runs.wait_for("On Friday?", "Turn 1", "read_file", "Yes, on Friday.", "When?")

        runs.choose("When?", also="On Friday?", entry="Compare Runs")
        window.wait_for_tab("reader", "↔")
        window.wait_for_diff("> When?", "> On Friday?")
        window.screenshot("compared")

        runs.choose("On Friday?", entry="Export Run")
        window.agree_to_file("Export Run")
        window.wait_until("a file is written", lambda: bool(_exported(project)))
        (file,) = project.glob("reader-*.jsonl")
        command = [str(server_program()), "history", "export", file.stem.removeprefix("reader-")]
        told = subprocess.run(
            command, cwd=project, env=environment, check=True, capture_output=True
        )
        assert _exported(project) == told.stdout.decode()

        runs.press("When?", "Run Again")
        runs.wait_until_spoken("When?", "reader, running, ")
        end.wait_until_arrived()
        kill_server(project)
        runs.wait_until_spoken("When?", "reader, killed, ")
        window.show_file("reader.toml")
        window.wait_for_status("running")
        runs.press("When?", "Run Again")
        window.wait_for_output("reader ▶ When?", "reader | Again.", "reader ✓ completed")
        runs.wait_until_spoken("When?", "reader, completed, ")
        assert provider.asked("m-reader")[-1].body["messages"][0]["content"] == "When?"
        provider.script("m-reader", Refuses(400, "no such model"))
        runs.press("When?", "Run Again")
        window.answer_message("no such model", "Show Run")
        window.webview().locator(".error", has_text="no such model").wait_for()


@pytest.mark.editor
@pytest.mark.parametrize("which", ["oldest", "current"])
def test_a_filter_leaves_the_runs_with_all_its_words(
    extension: Path, provider: ScriptedProvider, tmp_path: Path, which: str
) -> None:
    server = code_server() if which == "oldest" else current_code_server()
    if server is None:
        missing("code-server", ".ci/install-code-server")
    project = _project_with_notes(tmp_path)
    hold = Hold()
    provider.script("m-reader", Answer(Says("Soon."), hold=hold))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    early = datetime.now().astimezone().date() - timedelta(days=3)
    tales = [
        Tale("a" * 32, early.isoformat()).begin("tester", task="Check the notes").end(),
        Tale("b" * 32, early.isoformat())
        .begin("tester", task="Check the plan")
        .end(status="failed"),
    ]
    put(history_file(environment), *tales, origin=Origin(str(project), 30))
    other = Tale("c" * 32, early.isoformat()).begin("tester", task="Elsewhere").end()
    put(history_file(environment), other, writer="another")
    settings = {**TRUSTING, "workbench.colorTheme": "Default High Contrast"}
    with vscode(extension, project, tmp_path, settings, provider.environment, server) as window:
        window.open_file("axe/agents/reader.toml")
        runs = window.open_view("Runs")
        window.run_agent("reader", "When?")
        runs.wait_until_spoken("When?", "reader, running, ")
        runs.wait_for("When?", _named(early))
        window.run_command("axe: Filter Runs…")
        window.type_into_question("Filter Runs", "check FAILED")
        runs.wait_until_gone("When?")
        runs.wait_for(_named(early), "Check the plan")
        runs.wait_until_gone("the notes")
        window.answer_question("Filter Runs", "running")
        runs.wait_for("Today", "When?", "Turn 1")
        runs.wait_until_gone("Check the")
        runs.wait_until_gone(_named(early))
        runs.wait_for_message("1 of 3 runs with “running”")
        window.picture(f"filter-{which}")
        hold.release()
        runs.wait_until_gone("When?")
        runs.wait_for_message("0 of 3 runs with “running”")
        window.run_command("axe: Show All Runs")
        runs.wait_for("When?", _named(early))
        runs.wait_until_gone("Check the")
        runs.unfold(_named(early))
        runs.wait_for("When?", _named(early), "Check the", "Check the")
        runs.wait_until_gone("Elsewhere")
        window.run_command("axe: Show Runs of All Folders")
        runs.wait_for(_named(early), "Elsewhere")
        window.run_command("axe: Show Runs of This Workspace")
        runs.wait_until_gone("Elsewhere")


@pytest.mark.editor
def test_one_crash_of_the_server_is_one_message(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = _project_with_notes(tmp_path)
    holds = [Hold(), Hold()]
    provider.script("m-reader", *(Answer(Says("Never."), hold=hold) for hold in holds))
    with vscode(extension, project, tmp_path, TRUSTING, provider.environment) as window:
        window.open_file("axe/agents/reader.toml")
        runs = window.open_view("Runs")
        for task, hold in zip(("When?", "Where?"), holds, strict=True):
            window.run_agent("reader", task)
            runs.wait_until_spoken(task, "reader, running, ")
            hold.wait_until_arrived()
        kill_server(project)
        for task in ("When?", "Where?"):
            runs.wait_until_spoken(task, "reader, killed, ")
        window.wait_for_message("has stopped. Its runs have ended. It is starting again.")
        assert len(window.messages()) == 1
        for hold in holds:
            hold.release()


@pytest.mark.editor
def test_a_finished_run_is_replied_to_and_forked_and_the_fork_compared(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = _project_with_notes(tmp_path)
    reads = Says(calls=[Call("read_file", {"path": "notes.txt"})])
    provider.script("m-reader", reads, Says("On Friday."), Says("At noon."))
    provider.script("m-other", Says("On some Friday."))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    subprocess.run(_command("When?"), cwd=project, env=environment, check=True)
    with vscode(extension, project, tmp_path, TRUSTING, provider.environment) as window:
        window.open_file("axe/agents/reader.toml")
        runs = window.open_view("Runs")
        runs.wait_until_spoken("When?", "reader, completed, ")
        runs.press("When?", "Reply to Run…")
        window.answer_question("Reply to reader", "At what time?")
        runs.wait_until_spoken("At what time?", "reader, completed, ")
        sent = provider.asked("m-reader")[-1].body["messages"]
        assert [each["content"] for each in sent[-2:]] == ["On Friday.", "At what time?"]

        runs.choose("When?", entry="Fork Run…")
        window.pick("Turn 1")
        window.answer_question("Fork reader at turn 1", "ollama/m-other")
        window.wait_for_output("reader ▶ When?", "reader | On some Friday.")
        runs.wait_for("When?", "At what time?", "When?")
        runs.choose("When?", entry="Compare Runs")
        window.wait_for_tab("reader", "↔")
        window.wait_for_diff("2 turns", "1 turn ")
        window.picture("fork")
    assert len(provider.asked("m-other")) == 1


@pytest.mark.editor
def test_the_file_changes_of_a_run_are_shown_and_undone(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "notes"
    writer = project / "axe" / "agents" / "writer.toml"
    writer.parent.mkdir(parents=True)
    writer.write_text(agent("writer", tools=["write_file"])["writer"], encoding="utf-8")
    notes, plan = project / "notes.txt", project / "plan.txt"
    notes.write_text("Ship on Friday.\n", encoding="utf-8")
    plan.write_text("Rest.\n", encoding="utf-8")
    put_server_into(project).symlink_to(server_program())
    calls = [
        Call("write_file", {"path": file.name, "content": "Ship never.\n"}, file.name)
        for file in (notes, plan)
    ]
    provider.script("m-writer", Says(calls=calls), Says("Done."))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    command = [str(server_program()), "run", "writer", "-p", "Change it", "--yes"]
    subprocess.run(command, cwd=project, env=environment, check=True)
    plan.write_text("Ship never. Rest.\n", encoding="utf-8")
    with vscode(extension, project, tmp_path, TRUSTING, provider.environment) as window:
        window.open_file("axe/agents/writer.toml")
        runs = window.open_view("Runs")
        runs.wait_until_spoken("Change it", "writer, completed, ")
        runs.choose("Change it", entry="Undo File Changes of Run…")
        asked = window.answer_dialog("Put back notes.txt as before this run of writer?", "Cancel")
        assert "plan.txt is left: it has changed since." in asked
        runs.choose("Change it", entry="Show Page")
        page = window.webview()
        rows = page.locator(".run-edits li")
        rows.filter(has_text="plan.txt").filter(has_text="undo leaves it").wait_for()
        rows.filter(has_text="notes.txt").get_by_role(
            "link", name="notes.txt", exact=True
        ).wait_for()
        check_accessible(page)
        page.get_by_role("button", name="Review changes: turn 1").click()
        window.wait_for_tab("Changes of writer in turn 1")
        window.wait_for_diff("Ship on Friday.", "Ship never.")
        window.show_file("writer: Change it")
        page.get_by_role("button", name="Review changes: notes.txt").click()
        window.wait_for_tab("notes.txt: writer")
        window.wait_for_diff("Ship on Friday.", "Ship never.")
        window.picture("undo")
        assert notes.read_text(encoding="utf-8") == "Ship never.\n"
        dialog = "Put back notes.txt"
        window.press_in_title("Undo These Changes", lambda: window.shows_dialog(dialog))
        window.answer_dialog(dialog, "Put Back")
        window.wait_for_message("1 file put back.")
        window.show_file("writer: Change it")
        rows.filter(has_text="notes.txt").filter(has_text="put back").wait_for()
    assert notes.read_text(encoding="utf-8") == "Ship on Friday.\n"
    assert plan.read_text(encoding="utf-8") == "Ship never. Rest.\n"


@pytest.mark.editor
def test_a_fork_puts_files_back_as_before_its_turn_and_shows_the_shared_turns(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "notes"
    writer = project / "axe" / "agents" / "writer.toml"
    writer.parent.mkdir(parents=True)
    writer.write_text(agent("writer", tools=["write_file"])["writer"], encoding="utf-8")
    notes = project / "notes.txt"
    notes.write_text("Ship on Friday.\n", encoding="utf-8")
    put_server_into(project).symlink_to(server_program())
    writes = [
        Says(text, [Call("write_file", {"path": "notes.txt", "content": f"{text}\n"}, text)])
        for text in ("First", "Second")
    ]
    provider.script("m-writer", *writes, Says("Done."), Says("Done *again*."))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    command = [str(server_program()), "run", "writer", "-p", "Change it", "--yes"]
    subprocess.run(command, cwd=project, env=environment, check=True)
    pages = {**TRUSTING, "axe.editor.showRuns": "page"}
    with vscode(extension, project, tmp_path, pages, provider.environment) as window:
        window.open_file("axe/agents/writer.toml")
        runs = window.open_view("Runs")
        runs.wait_until_spoken("Change it", "writer, completed, ")
        runs.choose("Change it", entry="Show Page")
        page = window.webview()
        page.locator(".turn > summary", has_text="Turn 2").hover()
        page.get_by_role("button", name="Retry from Here: turn 2").click()
        window.choose("Conversation and Files")
        window.wait_for_tab("notes.txt: writer from turn 2 on")
        window.wait_for_diff("First", "Second")
        window.picture("fork-files")
        assert notes.read_text(encoding="utf-8") == "Second\n", "it is asked about first"
        window.choose("Put Back")
        window.wait_for_message("1 file put back.")
        assert notes.read_text(encoding="utf-8") == "First\n"
        window.wait_for_tab("writer: fork of Change it")
        page.locator("article:not(.shared) .text em", has_text="again").wait_for()
        shared = page.locator("article.shared")
        shared.locator(".text", has_text="First").wait_for()
        assert shared.locator(".turn > summary > .name").all_inner_texts() == ["Turn 1"]
        assert page.locator("article .task:visible").all_inner_texts() == ["Change it"]
        window.picture("fork-page")
        check_accessible(page)


def _project_with_notes(folder: Path) -> Path:
    """Return an agent `reader`, and a file for it to read."""
    project = folder / "notes"
    reader = project / "axe" / "agents" / "reader.toml"
    reader.parent.mkdir(parents=True)
    reader.write_text(agent("reader", tools=["read_file"])["reader"], encoding="utf-8")
    (project / "notes.txt").write_text("Ship on Friday.\n", encoding="utf-8")
    put_server_into(project).symlink_to(server_program())
    return project


def _old_run(number: int, day: date) -> Tale:
    return Tale(f"{number:032x}", day.isoformat()).begin("old").end()


def _named(day: date) -> str:
    """Return a day as the view names it."""
    return f"{day:%A, %B} {day.day}"


def _exported(project: Path) -> str:
    """Return what was written into the project, if anything."""
    return "".join(path.read_text(encoding="utf-8") for path in project.glob("reader-*.jsonl"))


def _command(task: str) -> list[str]:
    return [str(server_program()), "run", "reader", "-p", task]
