"""`axe-lsp acp`: the files and terminals of the client, where it has them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from support.acp_client import AcpClient
from support.acp_editor import EDITOR, FILES, TERMINALS, AcpEditor
from support.command_line import COMMAND
from support.processes import Sleepers, bearing, children_of
from support.raw_client import NEVER
from support.repositories import Repository
from support.scripted_provider import Call, Says, ScriptedProvider, calls_agent
from support.session import Project, agent_file
from support.waiting import promptly

Json = Any

READ = Call("read_file", {"path": "notes.txt"})
EDIT = Call("edit_file", {"path": "notes.txt", "old_string": "unsaved", "new_string": "edited"})
WRITE = Call("write_file", {"path": "deep/er/new.txt", "content": "new\n"})


@pytest.fixture
def project(project: Project) -> Project:
    tools = ["read_file", "write_file", "edit_file", "run_command"]
    project.write("lead", agent_file("lead", tools=tools, sub_agents=["writer"]))
    (project.root / "notes.txt").write_text("saved\n")
    return project


@pytest.fixture
def client(project: Project) -> Iterator[AcpClient]:
    with AcpClient.start(project, capabilities=EDITOR) as client:
        yield client


@pytest.fixture
def editor(client: AcpClient) -> AcpEditor:
    return AcpEditor(client)


def notes(project: Project) -> Path:
    return project.root / "notes.txt"


def axe_lsp(project: Project, *arguments: str) -> str:
    """Return the output of a subcommand."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=project.root,
        env={**os.environ, **project.environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def last_run(project: Project) -> Json:
    """Return what the history has of the last run."""
    return json.loads(axe_lsp(project, "history", "list", "--json"))[0]


def told(provider: ScriptedProvider) -> str:
    """Return what the model was told last."""
    return json.dumps(provider.requests[-1].body["messages"][-1])


def test_unsaved_text_is_read(
    client: AcpClient, editor: AcpEditor, provider: ScriptedProvider
) -> None:
    path = notes(client.project)
    editor.unsaved[str(path)] = "unsaved\n"
    provider.script("m-lead", Says(calls=[READ]), Says("Read."))
    session = client.new_session("lead")
    assert client.prompt(session, "Read") == "end_turn"
    assert editor.asked == [("fs/read_text_file", {"sessionId": session, "path": str(path)})]
    assert "1: unsaved" in told(provider)


def test_an_edit_changes_the_unsaved_text_and_goes_through_the_editor(
    client: AcpClient, editor: AcpEditor, provider: ScriptedProvider
) -> None:
    path = notes(client.project)
    editor.unsaved[str(path)] = "unsaved\nlines\n"
    provider.script("m-lead", Says(calls=[EDIT]), Says("Edited."))
    session = client.new_session("lead")
    assert client.prompt(session, "Edit") == "end_turn"
    (question,) = client.questions()
    change = {"type": "diff", "path": str(path), "oldText": "unsaved\nlines\n"}
    assert question["toolCall"]["content"] == [{**change, "newText": "edited\nlines\n"}]
    written = {"sessionId": session, "path": str(path), "content": "edited\nlines\n"}
    assert editor.params("fs/write_text_file") == [written]
    assert path.read_text() == "edited\nlines\n"
    assert [call["status"] for call in client.calls(session)] == ["completed"]


def test_what_somebody_types_while_a_file_is_edited_is_kept(
    client: AcpClient, editor: AcpEditor, provider: ScriptedProvider
) -> None:
    """The text changes between the last look of the tool and the write."""
    path = notes(client.project)
    texts = ["unsaved\n"] * 4
    editor.answer(
        "fs/read_text_file",
        lambda _: {"content": texts.pop() if texts else "typed\nunsaved\n"},
    )
    provider.script("m-lead", Says(calls=[EDIT]), Says("Edited."))
    assert client.prompt(client.new_session("lead"), "Edit") == "end_turn"
    assert path.read_text() == "typed\nedited\n"


def test_a_new_file_is_written_by_the_editor_and_can_be_undone(
    client: AcpClient, editor: AcpEditor, provider: ScriptedProvider
) -> None:
    path = notes(client.project)
    editor.unsaved[str(path)] = "unsaved\n"
    provider.script("m-lead", Says(calls=[WRITE]), Says(calls=[EDIT]), Says("Done."))
    assert client.prompt(client.new_session("lead"), "Write") == "end_turn"
    new = client.project.root / "deep" / "er" / "new.txt"
    assert new.read_text() == "new\n"
    # Clients show that they were asked for a file that is not there.
    assert str(new) not in [each["path"] for each in editor.params("fs/read_text_file")]
    assert path.read_text() == "edited\n"
    axe_lsp(client.project, "undo", "--yes", last_run(client.project)["runId"])
    assert not new.exists()
    assert path.read_text() == "unsaved\n"  # What the user had typed before is not lost.


def test_what_the_editor_can_not_do_is_done_on_the_disk_and_the_user_hears_of_it(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script(
        "m-lead", Says(calls=[READ]), Says(calls=[WRITE]), Says(calls=[WRITE]), Says("Done.")
    )
    notices = {"session": {"notices": {}}}
    with AcpClient.start(project, capabilities={**FILES, **notices}) as client:
        editor = AcpEditor(client)
        editor.refuse("fs/read_text_file", "no such buffer")
        editor.refuse("fs/write_text_file", "what?", code=-32601)
        session = client.new_session("lead")
        assert client.prompt(session, "Go") == "end_turn"
        assert [each["title"] for each in client.updates(session, "notice")] == [
            "the editor refused fs/read_text_file: no such buffer; the file is read from the disk",
            "the editor refused fs/write_text_file: what?; files are written to the disk",
        ]
        assert "1: saved" in json.dumps(provider.requests[1].body)
        assert (project.root / "deep" / "er" / "new.txt").read_text() == "new\n"


def test_what_the_client_or_its_user_refuses_is_not_done_in_another_way(
    client: AcpClient, editor: AcpEditor, provider: ScriptedProvider
) -> None:
    """Some clients ask their user again, as acpx does."""
    editor.refuse("fs/write_text_file", "Permission denied")
    editor.refuse("terminal/create", "Permission denied")
    command = Call("run_command", {"command": "touch ran"}, "2")
    provider.script("m-lead", Says(calls=[WRITE, command]), Says("Not done."))
    session = client.new_session("lead")
    assert client.prompt(session, "Go") == "end_turn"
    assert [call["status"] for call in client.calls(session)] == ["failed", "failed"]
    assert "the editor refused fs/write_text_file: Permission denied" in told(provider)
    assert not (client.project.root / "deep" / "er" / "new.txt").exists()
    assert not (client.project.root / "ran").exists()


def test_unsaved_text_is_not_overwritten_on_the_disk(
    client: AcpClient, editor: AcpEditor, provider: ScriptedProvider
) -> None:
    path = notes(client.project)
    editor.unsaved[str(path)] = "unsaved\n"
    editor.refuse("fs/write_text_file", "what?", code=-32601)
    provider.script("m-lead", Says(calls=[EDIT]), Says("Not edited."))
    session = client.new_session("lead")
    assert client.prompt(session, "Edit") == "end_turn"
    assert client.calls(session)[0]["status"] == "failed"
    assert "what?; the file has changes in the editor that are not saved" in told(provider)
    assert path.read_text() == "saved\n"


@pytest.mark.slow
def test_an_editor_that_does_not_answer_is_not_asked_again(
    client: AcpClient, editor: AcpEditor, provider: ScriptedProvider
) -> None:
    editor.answer("fs/read_text_file", lambda _: NEVER)
    provider.script("m-lead", Says(calls=[READ]), Says(calls=[READ]), Says("Read."))
    assert client.prompt(client.new_session("lead"), "Read") == "end_turn"
    assert editor.methods() == ["fs/read_text_file"]
    assert "1: saved" in told(provider)
    assert "did not answer fs/read_text_file within 5 s" in client.stderr()


@pytest.mark.parametrize("answer", [None, {}, {"content": 3}, [], "text"])
def test_invalid_answer_of_the_client_falls_back_to_the_disk(
    client: AcpClient, editor: AcpEditor, provider: ScriptedProvider, answer: Json
) -> None:
    editor.answer("fs/read_text_file", lambda _: answer)
    provider.script("m-lead", Says(calls=[READ]), Says("Read."))
    assert client.prompt(client.new_session("lead"), "Read") == "end_turn"
    assert "1: saved" in told(provider)


def test_a_file_outside_of_the_folder_never_reaches_the_editor(
    client: AcpClient, editor: AcpEditor, provider: ScriptedProvider
) -> None:
    (client.project.root.parent / "outside.txt").write_text("outside\n")
    (client.project.root / "link.txt").symlink_to("../outside.txt")
    out = [
        Call("read_file", {"path": "../outside.txt"}, "1"),
        Call("read_file", {"path": "link.txt"}, "2"),
        Call("write_file", {"path": "../outside.txt", "content": ""}, "3"),
    ]
    provider.script("m-lead", Says(calls=out), Says("Not read."))
    session = client.new_session("lead")
    assert client.prompt(session, "Read") == "end_turn"
    assert [call["status"] for call in client.calls(session)] == ["failed"] * 3
    assert editor.asked == []


def test_a_client_without_files_and_terminals_is_asked_for_none(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", Says(calls=[READ, Call("run_command", {"command": "true"}, "2")]))
    provider.script("m-lead", Says("Done."))
    with AcpClient.start(project) as client:
        editor = AcpEditor(client)
        assert client.prompt(client.new_session("lead"), "Go") == "end_turn"
        assert editor.asked == []


def test_a_command_runs_in_a_terminal_that_the_tool_call_shows(
    client: AcpClient, editor: AcpEditor, provider: ScriptedProvider, key: str
) -> None:
    command = "printf '\\033[1mbold\\033[0m\\n'; pwd; echo \"[$ANTHROPIC_API_KEY]\"; exit 3"
    provider.script("m-lead", Says(calls=[Call("run_command", {"command": command})]), Says("Ran."))
    session = client.new_session("lead")
    assert client.prompt(session, "Run") == "end_turn"
    assert editor.methods() == [
        "terminal/create",
        "terminal/wait_for_exit",
        "terminal/output",
        "terminal/release",
    ]
    (created,) = editor.params("terminal/create")
    assert (created["command"], created["args"]) == ("sh", ["-c", command])
    assert created["cwd"] == str(client.project.root)
    assert created["outputByteLimit"] == 4 * 1024 * 1024
    assert key not in str(client.received)
    variables = {each["name"]: each["value"] for each in created["env"]}
    assert variables["ANTHROPIC_API_KEY"] == ""
    assert f"exit code 3\\nbold\\n{client.project.root}\\n[]" in told(provider)
    (call,) = client.calls(session)
    assert call["statuses"] == ["pending", "in_progress", "in_progress", "failed"]
    terminal = {"type": "terminal", "terminalId": "terminal-0"}
    assert call["content"][0] == terminal
    messages = [json.dumps(message) for message in client.received]
    shown = next(n for n, it in enumerate(messages) if '"type": "terminal"' in it)
    assert shown < next(n for n, it in enumerate(messages) if "terminal/release" in it)


def test_beginning_and_end_of_a_long_output_are_kept(
    client: AcpClient, editor: AcpEditor, provider: ScriptedProvider
) -> None:
    call = Call("run_command", {"command": "echo BEGIN; yes x | head -c 300000; echo END"})
    provider.script("m-lead", Says(calls=[call]), Says("Ran."))
    assert client.prompt(client.new_session("lead"), "Run") == "end_turn"
    result = provider.requests[-1].body["messages"][-1]["content"][0]["content"]
    assert "BEGIN" in str(result)
    assert "END" in str(result)
    assert "bytes left out: the output exceeds 100KB" in str(result)
    assert len(str(result)) < 110_000


def test_a_cancel_ends_the_command_in_the_terminal_within_a_second(
    client: AcpClient, editor: AcpEditor, provider: ScriptedProvider
) -> None:
    sleepers = Sleepers()
    call = Call("run_command", {"command": sleepers.command})
    provider.script("m-lead", Says(calls=[call]))
    session = client.new_session("lead")
    number = client.start_prompt(session, "Run")
    client.wait_for("terminal/wait_for_exit")
    sleepers.wait_for(1)
    with promptly():
        client.notify("session/cancel", {"sessionId": session})
        assert client.result(number) == {"stopReason": "cancelled"}
    sleepers.wait_for(0)
    assert editor.methods()[-2:] == ["terminal/kill", "terminal/release"]
    assert client.calls(session)[0]["status"] == "failed"


def test_a_terminal_that_comes_after_a_cancel_is_released(
    client: AcpClient, editor: AcpEditor, provider: ScriptedProvider
) -> None:
    made: Future[Json] = Future()
    editor.answer("terminal/create", lambda _: made)
    editor.answer("terminal/kill", lambda _: {})
    editor.answer("terminal/release", lambda _: {})
    provider.script("m-lead", Says(calls=[Call("run_command", {"command": "true"})]))
    session = client.new_session("lead")
    number = client.start_prompt(session, "Run")
    client.wait_for("terminal/create")
    client.notify("session/cancel", {"sessionId": session})
    client.wait_for("$/cancel_request")
    made.set_result({"terminalId": "late"})
    assert client.wait_for("terminal/release") == {"sessionId": session, "terminalId": "late"}
    assert client.result(number) == {"stopReason": "cancelled"}


def test_without_a_terminal_the_command_runs_all_the_same(
    client: AcpClient, editor: AcpEditor, provider: ScriptedProvider
) -> None:
    editor.refuse("terminal/create", "what?", code=-32601)
    call = Call("run_command", {"command": "echo here"})
    provider.script("m-lead", Says(calls=[call]), Says("Ran."))
    session = client.new_session("lead")
    assert client.prompt(session, "Run") == "end_turn"
    assert "here" in told(provider)
    assert "terminal/create: what?; commands run without its terminals" in client.stderr()
    assert client.calls(session)[0]["content"][0]["type"] == "content"


def test_a_lost_terminal_does_not_run_the_command_twice(
    client: AcpClient, editor: AcpEditor, provider: ScriptedProvider
) -> None:
    editor.refuse("terminal/wait_for_exit", "terminal closed")
    call = Call("run_command", {"command": "echo once >> times"})
    provider.script("m-lead", Says(calls=[call]), Says("Lost."))
    assert client.prompt(client.new_session("lead"), "Run") == "end_turn"
    assert "it is not known what the command has done" in told(provider)
    editor.terminals["terminal-0"].exit.result(10)
    assert editor.methods()[-2:] == ["terminal/kill", "terminal/release"]
    times = client.project.root / "times"
    # The shell may have been killed before it had opened the file, or before it had written to it.
    assert not times.exists() or times.read_text() in ("", "once\n")


def test_a_client_that_goes_while_its_terminal_is_in_use_leaves_nothing_of_ours(
    project: Project, provider: ScriptedProvider
) -> None:
    sleepers = Sleepers()
    mark = str(project.root)
    provider.script("m-lead", Says(calls=[Call("run_command", {"command": sleepers.command})]))
    with AcpClient.start(project, capabilities=EDITOR, env={"AXE_TEST_MARK": mark}) as client:
        editor = AcpEditor(client)
        session = client.new_session("lead")
        client.start_prompt(session, "Run")
        client.wait_for("terminal/wait_for_exit")
        client.end_input()
        assert client.exit_code() == 0
    editor.terminals["terminal-0"].end()
    sleepers.wait_for(0)
    assert {pid for pid, line in bearing(mark).items() if "axe_lsp" in line} == set()
    assert last_run(project)["status"] == "killed"


def test_a_run_goes_on_after_its_process_has_died_with_a_terminal_open(
    project: Project, provider: ScriptedProvider
) -> None:
    sleepers = Sleepers()
    call = Call("run_command", {"command": sleepers.command})
    provider.script("m-lead", Says(calls=[call]), Says(calls=[READ]), Says("Done."))
    with AcpClient.start(project, capabilities=EDITOR) as client:
        editor = AcpEditor(client)
        session = client.new_session("lead")
        number = client.start_prompt(session, "Run")
        client.wait_for("terminal/wait_for_exit")
        sleepers.wait_for(1)
        assert client.process is not None
        (host,) = children_of(client.process.pid)
        os.kill(host, signal.SIGKILL)
        assert client.result(number) == {"stopReason": "end_turn"}
        sleepers.wait_for(0)
        assert editor.methods().count("terminal/create") == 1
        assert "terminal/release" in editor.methods()
        # The next process has the editor, too.
        assert "fs/read_text_file" in editor.methods()
        assert client.said(session) == "Done."
    assert last_run(project)["status"] == "completed"


def test_an_agent_that_may_only_read_gets_no_terminal(
    project: Project, provider: ScriptedProvider
) -> None:
    project.write("calm", agent_file("calm", type="explore", tools=["run_command"]))
    provider.script("m-calm", Says(calls=[Call("run_command", {"command": "echo here"})]))
    provider.script("m-calm", Says("Ran."))
    with AcpClient.start(project, capabilities=TERMINALS) as client:
        editor = AcpEditor(client)
        assert client.prompt(client.new_session("calm"), "Run") == "end_turn"
        assert editor.asked == []
        assert "here" in told(provider)


def test_what_an_agent_does_in_a_copy_never_reaches_the_editor(
    project: Project, provider: ScriptedProvider
) -> None:
    Repository(project.root, {})
    tools = ["read_file", "edit_file", "write_file", "run_command"]
    text = agent_file("writer", tools=tools, sub_agents=["helper"])
    project.write("writer", text + '[isolation]\nmode = "copy"\nchanges = "ask"\n')
    project.write("helper", agent_file("helper", tools=tools))
    calls = [
        Call("read_file", {"path": "notes.txt"}, "1"),
        Call("edit_file", {"path": "notes.txt", "old_string": "saved", "new_string": "done"}, "2"),
        Call("run_command", {"command": "cp notes.txt more.txt"}, "3"),
    ]
    provider.script("m-lead", Says(calls=[calls_agent("writer", "Write")]), Says("Done."))
    provider.script("m-writer", Says(calls=calls), Says(calls=[calls_agent("helper", "Help")]))
    provider.script("m-helper", Says(calls=calls[::2]), Says("Helped."))
    provider.script("m-writer", Says("Written."))
    with AcpClient.start(project, capabilities=EDITOR) as client:
        editor = AcpEditor(client)
        editor.unsaved[str(notes(project))] = "unsaved\n"
        session = client.new_session("lead")
        assert client.prompt(session, "Go") == "end_turn"
        assert editor.asked == []
        assert notes(project).read_text() == "done\n"
        *in_copy, applied = client.calls(session)
        titles = [call["title"] for call in in_copy]
        assert titles[0] == "writer (in a copy): Write"
        assert titles[2] == "writer (in a copy): edit_file notes.txt"
        assert titles[-1] == "helper (in a copy): run_command cp notes.txt more.txt"
        # A client shows a difference, and goes to a place, in its own file, which has not changed then.
        assert [call for call in in_copy if "locations" in call] == []
        kinds = {each["type"] for call in in_copy for each in call.get("content", [])}
        assert kinds == {"content"}
        # Nobody has seen what the command has changed.
        assert applied["content"][0]["path"] == str(project.root / "more.txt")
        asked = client.questions()[0]["toolCall"]["content"]
        assert "-saved\n+done" in asked[0]["content"]["text"]


def test_an_agent_in_a_process_of_its_own_has_the_editor_too(
    project: Project, provider: ScriptedProvider
) -> None:
    text = agent_file("writer", tools=["read_file", "run_command"])
    project.write("writer", text + '[isolation]\nmode = "process"\n')
    provider.script("m-lead", Says(calls=[calls_agent("writer", "Read")]), Says("Done."))
    command = Call("run_command", {"command": "echo here"}, "2")
    provider.script("m-writer", Says(calls=[READ, command]), Says("Read."))
    with AcpClient.start(project, capabilities=EDITOR) as client:
        editor = AcpEditor(client)
        editor.unsaved[str(notes(project))] = "unsaved\n"
        session = client.new_session("lead")
        assert client.prompt(session, "Go") == "end_turn"
        assert {"fs/read_text_file", "terminal/create"} <= {*editor.methods()}
        assert "1: unsaved" in json.dumps(provider.asked("m-writer")[-1].body)
        (run,) = [call for call in client.calls(session) if call["kind"] == "execute"]
        assert run["content"] == [{"type": "terminal", "terminalId": "terminal-0"}]
