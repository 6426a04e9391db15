"""Runs that outlive their server: what each death leaves, and how the next server takes the runs over.

The rows of the table in docs/resume.md are tests here.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from support.command_line import COMMAND
from support.processes import bearing, hosts_bearing, wait_for_none
from support.raw_client import NEVER, ServerError
from support.scripted_provider import Answer, Call, Hold, Says, ScriptedProvider
from support.session import Editor, Project
from support.waiting import wait_until

Json = Any

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="runs outlive their server on Linux only"
)

WRITE = Call("write_file", {"path": "a.txt", "content": "A\n"})
AGENT = 'name = "lead"\nmodel = "openai/m-lead"\ntools = ["write_file"]\n'
CAPABILITIES = {"experimental": {"axe": {"approve": True, "attach": True}}}


@pytest.fixture
def mark() -> Iterator[str]:
    mark = uuid.uuid4().hex
    yield mark
    for pid in bearing(mark):  # Runs are meant to outlive what a test ends.
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    wait_for_none(mark)


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider, mark: str) -> Project:
    project = Project(tmp_path, {**provider.environment, "PYTHON_MARK": mark})
    project.write("lead", AGENT)
    return project


def window(project: Project, grace: int = 60, **initialize: Json) -> Any:
    """Return an editor that attaches again, as VS Code does, and whose runs outlive it."""
    options = {"run": {"onWindowClose": "reload", "grace": grace}}
    return project.editor(capabilities=CAPABILITIES, initializationOptions=options, **initialize)


def command(project: Project, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words],
        cwd=project.root,
        env={**os.environ, **project.environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def kill(editor: Editor) -> None:
    assert editor.client.process is not None
    editor.client.process.kill()
    editor.client.process.wait()


def begin(editor: Editor, hold: Hold) -> str:
    """Begin a run whose first answer is held; return its id once others can find its process."""
    editor.client.start_request("axe/run", {"agent": "lead", "task": "Go."})
    hold.wait_until_arrived()
    run_id = str(editor.client.wait_for("axe/agent")["runId"])
    wait_for_socket(editor.project)
    return run_id


def wait_for_socket(project: Project) -> None:
    folder = Path(project.environment["XDG_STATE_HOME"]) / "axe" / "runs"
    wait_until(
        lambda: bool(list(folder.glob("[0-9]*.sock"))), lambda: list(folder.parent.glob("*"))
    )


def status_of(editor: Editor, run_id: str) -> str:
    (row,) = [each for each in editor.client.request("axe/runs", {}) if each["runId"] == run_id]
    return str(row["status"])


def wait_for_status(editor: Editor, run_id: str, status: str) -> None:
    wait_until(lambda: status_of(editor, run_id) == status, lambda: status_of(editor, run_id))


def told(editor: Editor) -> list[int]:
    """Return the numbers of the events that the editor has got."""
    return [
        each["params"]["seq"]
        for each in editor.client.received
        if each.get("method", "").startswith("axe/") and "seq" in each.get("params", {})
    ]


def asked(editor: Editor) -> list[Json]:
    return [each for each in editor.client.received if each.get("method") == "axe/approve"]


def end_of(editor: Editor) -> Json:
    return editor.client.wait_for("axe/agent", lambda params: params["kind"] == "end")


@contextmanager
def left_by_window(
    project: Project, provider: ScriptedProvider, *answers: Says
) -> Iterator[tuple[str, Hold]]:
    """Provide a run whose window was closed in order, and what holds its first answer."""
    hold = Hold()
    provider.script(
        "m-lead", *(Answer(each, hold=hold) if each is answers[0] else each for each in answers)
    )
    with window(project) as editor:
        run_id = begin(editor, hold)
        assert editor.client.leave() == 0
    yield run_id, hold


def test_run_goes_on_in_the_next_window_after_a_reload(
    project: Project, provider: ScriptedProvider, mark: str
) -> None:
    with (
        left_by_window(project, provider, Says("All done.")) as (run_id, hold),
        window(project) as editor,
    ):
        result = editor.client.request(
            "axe/subscribe", {"runId": run_id, "after": 0, "answer": True}
        )
        assert result == {"live": True, "answers": True}
        hold.release()
        assert end_of(editor)["status"] == "completed"
        assert told(editor) == list(range(1, len(told(editor)) + 1))
        wait_for_status(editor, run_id, "completed")
        wait_until(lambda: not hosts_bearing(mark), lambda: bearing(mark))
    assert len(provider.requests) == 1, "nothing is asked again"


def test_run_goes_on_in_the_next_window_after_the_server_was_killed(
    project: Project, provider: ScriptedProvider, mark: str
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("All done."), hold=hold))
    with window(project) as former:
        run_id = begin(former, hold)
        kill(former)
    with window(project) as editor:
        editor.client.request("axe/subscribe", {"runId": run_id, "after": 0})
        assert editor.client.request("axe/stop", {"runId": run_id}) == {"stopped": True}
        assert end_of(editor)["status"] == "cancelled"
        wait_until(lambda: not hosts_bearing(mark), lambda: bearing(mark))


def test_open_question_is_asked_again_in_the_next_window(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", Says(calls=[WRITE]), Says("All done."))
    with window(project) as former:
        former.client.answer_with["axe/approve"] = lambda _: NEVER
        former.client.start_request("axe/run", {"agent": "lead"})
        wait_until(lambda: asked(former), lambda: former.client.received)
        wait_for_socket(project)
        kill(former)
    assert not (project.root / "a.txt").exists()
    with window(project) as editor:
        editor.client.answer_with["axe/approve"] = lambda _: {"decision": "allow"}
        assert end_of(editor)["status"] == "completed"
    assert (project.root / "a.txt").read_text() == "A\n"
    assert len(provider.requests) == 2


def test_run_ends_with_its_server_by_default(
    project: Project, provider: ScriptedProvider, mark: str
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("Never."), hold=hold))
    with project.editor() as former:
        run_id = begin(former, hold)
        kill(former)
    hold.wait_until_hung_up()
    wait_for_none(mark)
    with window(project) as editor:
        wait_for_status(editor, run_id, "killed")


def test_run_ends_when_nobody_comes_within_the_grace(
    project: Project, provider: ScriptedProvider, mark: str
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("Never."), hold=hold), Says("All done."))
    with window(project, grace=1) as former:
        run_id = begin(former, hold)
        kill(former)
    hold.wait_until_hung_up()
    wait_for_none(mark)
    with window(project) as editor:
        events = editor.client.request("axe/events", {"runId": run_id})
        end = events[-1]["params"]
        assert (end["status"], end["reason"]) == ("killed", "server")
        result = editor.client.request("axe/resume", {"runId": run_id})
        assert result["content"] == "All done."


def test_run_without_a_window_is_stopped_from_a_terminal(
    project: Project, provider: ScriptedProvider, mark: str
) -> None:
    with left_by_window(project, provider, Says("Never.")) as (run_id, hold):
        assert command(project, "stop", run_id).returncode == 0
        hold.wait_until_hung_up()
        wait_for_none(mark)


def test_run_without_a_window_is_attached_to_from_a_terminal(
    project: Project, provider: ScriptedProvider
) -> None:
    with left_by_window(project, provider, Says("All done.")) as (run_id, hold):
        hold.release()
        assert command(project, "attach", run_id).stdout.strip() == "All done."


def test_host_that_dies_without_a_server_leaves_a_run_to_resume(
    project: Project, provider: ScriptedProvider, mark: str
) -> None:
    with left_by_window(project, provider, Says("Never."), Says("All done.")) as (run_id, _):
        (host,) = hosts_bearing(mark)
        os.kill(host, signal.SIGKILL)
        wait_for_none(mark)
        with window(project) as editor:
            wait_for_status(editor, run_id, "killed")
            assert editor.client.request("axe/resume", {"runId": run_id})["content"] == "All done."


def test_host_that_dies_after_its_adoption_is_replaced(
    project: Project, provider: ScriptedProvider, mark: str
) -> None:
    with left_by_window(project, provider, Says("Never."), Says("All done.")) as (run_id, _):
        (host,) = hosts_bearing(mark)
        with window(project) as editor:
            editor.client.request("axe/subscribe", {"runId": run_id, "after": 0})
            os.kill(host, signal.SIGKILL)
            assert end_of(editor)["status"] == "completed"
            assert told(editor) == list(range(1, len(told(editor)) + 1))


def test_run_outlives_two_servers_after_each_other(
    project: Project, provider: ScriptedProvider
) -> None:
    with left_by_window(project, provider, Says("All done.")) as (run_id, hold):
        with window(project) as second:
            second.client.request("axe/subscribe", {"runId": run_id, "after": 0})
            kill(second)
        with window(project) as third:
            third.client.request("axe/subscribe", {"runId": run_id, "after": 0})
            hold.release()
            assert end_of(third)["status"] == "completed"
    assert len(provider.requests) == 1


@pytest.mark.slow
def test_host_that_is_stopped_for_good_is_killed_without_its_server(
    project: Project, provider: ScriptedProvider, mark: str
) -> None:
    """Its guard waits for signs of life, and the next server passes it over."""
    with left_by_window(project, provider, Says("Never.")) as (run_id, hold):
        (host,) = hosts_bearing(mark)
        os.kill(host, signal.SIGSTOP)
        hold.wait_until_hung_up()
        wait_for_none(mark)
        with window(project) as editor:
            wait_for_status(editor, run_id, "killed")


def test_window_of_another_folder_does_not_get_the_run(
    project: Project, provider: ScriptedProvider, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    folder = {"uri": other.as_uri(), "name": "other"}
    with (
        left_by_window(project, provider, Says("All done.")) as (run_id, _),
        window(project, workspaceFolders=[folder]) as editor,
    ):
        result = editor.client.request("axe/subscribe", {"runId": run_id, "after": 0})
        assert result == {"live": False}


PRETENDER = """
import os, socket, sys, time
from axe_lsp.hosting import protocol
from axe_lsp.hosting.executors import folder
from axe_lsp.runtime.files.folders import state_folder

place = state_folder(os.environ) / "runs"
listener = folder.listen(place)
while True:
    peer, _ = listener.accept()
    run = protocol.ActiveRun("f" * 32, "lead", "", sys.argv[1], is_on_its_own=True)
    peer.sendall(protocol.encode(protocol.Greeting(protocol.VERSION, os.getpid(), True)))
    lines = peer.makefile("rb")
    for line in lines:
        if b"adopt" in line:
            (place / "adopted").touch()
        else:
            peer.sendall(protocol.encode(protocol.RunList((run,))))
"""
"""A command that pretends to execute a run that has outlived its server."""


def test_command_of_an_agent_that_pretends_to_be_a_host_is_not_adopted(
    project: Project, provider: ScriptedProvider
) -> None:
    """Else it could have a run of its own invention made, with the user's keys, once it ends."""
    project.write("lead", AGENT.replace("write_file", "run_command"))
    (project.root / "pretender.py").write_text(PRETENDER)
    names = ("HOME", "XDG_STATE_HOME")
    user = " ".join(f"{each}={project.environment[each]}" for each in names)
    host = "import axe_lsp.hosting.host.host as it"  # A command line as that of a host.
    program = f"exec(open('pretender.py').read()) # {host} "
    words = shlex.join([sys.executable, "-c", program, str(project.root)])
    (project.root / "pretend.sh").write_text(f"env {user} {words}")
    provider.script("m-lead", Says(calls=[Call("run_command", {"command": "sh pretend.sh"})]))
    runs = Path(project.environment["XDG_STATE_HOME"]) / "axe" / "runs"
    with project.editor(initializationOptions={"tools": {"allow": ["run_command"]}}) as former:
        former.client.start_request("axe/run", {"agent": "lead"})
        wait_until(
            lambda: len(list(runs.glob("[0-9]*.sock"))) == 2,
            lambda: [each.body for each in provider.requests[1:]],
        )
        with window(project) as editor, pytest.raises(ServerError, match="no run"):
            editor.client.request("axe/subscribe", {"runId": "f" * 32, "after": 0})
        assert not (runs / "adopted").exists()
