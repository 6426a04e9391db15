"""`kill -9` of the process that executes runs, below a server that lives: the runs go on by themselves, once."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support.answers import Call
from support.raw_client import ServerError
from support.scripted_provider import Answer, Hold, Refuses, Says, ScriptedProvider, calls_agent
from support.session import Editor, Project

Json = Any

AGENTS = {
    "lead": 'name = "lead"\nmodel = "anthropic/m-lead"\nsub_agents = ["middle"]\n',
    "middle": 'name = "middle"\nmodel = "openai/m-middle"\nsub_agents = ["leaf"]\n',
    "leaf": 'name = "leaf"\nmodel = "openai/m-leaf"\ntools = ["read_file", "run_command"]\n',
}

ALLOWED = {"tools": {"allow": ["*"]}}

PARTS = 2

EVENTS = range(1, 60, 7)
"""The numbers of the events after which the host is killed; the run has at least so many."""


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider) -> Project:
    project = Project(tmp_path, provider.environment)
    for name, text in AGENTS.items():
        project.write(name, text)
    (project.root / "long.txt").write_text("x" * 60_000)
    return project


def script(provider: ScriptedProvider, hold: Hold) -> None:
    """What each model answers depends on nothing but the request, however often it comes.

    The last answer waits for the release of `hold`.
    """

    def says(model: str, match: str, what: Says, hold: Hold | None = None) -> None:
        provider.script(model, Answer(what, match=match, repeat=True, hold=hold))

    delegates = [calls_agent("middle", f"part {n}.") for n in range(PARTS)]
    says("m-lead", "tool_result", Says("All is done.", thinking="I count them."), hold)
    says("m-lead", "", Says("I ask them.", calls=delegates, thinking="I have to delegate."))
    says("m-middle", "tool_call_id", Says("My part is done."))
    says("m-leaf", "tool_call_id", Says("It is done."))
    for part in range(PARTS):
        says("m-middle", f"part {part}.", Says(calls=[calls_agent("leaf", f"leaf {part}.")]))
        command = f"echo {part} >> effects.txt; sleep 0.05"
        calls = [Call("read_file", {"path": "long.txt"}), Call("run_command", {"command": command})]
        says("m-leaf", f"leaf {part}.", Says(calls=calls))


def told(editor: Editor) -> list[Json]:
    """Return the events that the editor has got, in order."""
    return [
        each["params"]
        for each in editor.client.received
        if each.get("method", "").startswith("axe/") and "seq" in each["params"]
    ]


def host_of(editor: Editor) -> int:
    """Return the process that executes the runs of a server: its only child."""
    assert editor.client.process is not None
    server = editor.client.process.pid
    (host,) = Path(f"/proc/{server}/task/{server}/children").read_text(encoding="ascii").split()
    return int(host)


def kill_the_host(editor: Editor) -> None:
    os.kill(host_of(editor), signal.SIGKILL)


def wait_until_stored(editor: Editor, agent: str) -> None:
    """Until the history has all up to the next request of an agent."""
    editor.client.wait_for(
        "axe/turn", lambda params: params["agent"] == agent and params["kind"] == "begin"
    )
    editor.client.request("axe/runs", {})


def assert_gapless(events: list[Json], stored: list[Json] | None = None) -> None:
    """No event is missing or comes twice, and no run begins twice or has two ends.

    Of what a host had stored and not sent when it died, only the `stored` events come: a finished text has no pieces.
    """
    numbers = [each["seq"] for each in events]
    expected = range(1, numbers[-1] + 1) if stored is None else (each["seq"] for each in stored)
    assert numbers == sorted({*numbers, *expected})
    of_runs = Counter(
        (each["runId"], each["kind"])
        for each in events
        if each.get("kind") in ("begin", "end") and ("task" in each or "status" in each)
    )
    begins = [count for (_, kind), count in of_runs.items() if kind == "begin"]
    assert set(begins) == {1}, of_runs


@pytest.mark.parametrize("number", EVENTS)
def test_a_run_goes_on_by_itself_after_any_event(
    project: Project, provider: ScriptedProvider, number: int
) -> None:
    hold = Hold()
    script(provider, hold)
    with project.editor(initializationOptions=ALLOWED) as editor:
        request = editor.client.start_request("axe/run", {"agent": "lead", "task": "Go"})
        editor.client.wait_for_event(number)
        kill_the_host(editor)
        hold.release()
        result = editor.client.result(request)
        events = told(editor)
        stored = editor.client.request("axe/events", {"runId": result["runId"]})
        (done,) = editor.client.request("axe/runs", {})
    file = project.root / "effects.txt"  # It may be missing: both commands were interrupted.
    effects = file.read_text().split() if file.exists() else []
    sent = Counter(request.raw for request in provider.requests)
    provider.requests.clear()
    with project.editor(initializationOptions=ALLOWED) as editor:
        whole = editor.client.request("axe/run", {"agent": "lead", "task": "Go"})
        last = told(editor)[-1]
    bodies = {request.raw for request in provider.requests}

    used = ("status", "inputTokens", "outputTokens", "turns", "toolCalls", "tree")
    assert result["content"] == whole["content"] == "All is done."
    assert_gapless(events, [each["params"] for each in stored])
    assert {key: events[-1].get(key) for key in used} == {key: last.get(key) for key in used}
    assert [each["agent"] for each in events if each.get("kind") == "resume"][:1] == ["lead"]
    assert len(effects) == len(set(effects)), f"done twice: {effects}"
    for body, count in sent.items():
        is_told = b"this call was interrupted" in body
        assert body in bodies or is_told, body[:2000]
        assert count <= 2
    assert done["status"] == "completed"
    assert stored[-1]["params"]["seq"] == events[-1]["seq"]


def test_a_run_that_has_lost_two_hosts_is_killed_and_can_be_resumed(
    project: Project, provider: ScriptedProvider
) -> None:
    holds = [Hold(), Hold()]
    provider.script("m-lead", Says(calls=[calls_agent("middle", "go")]), Says("Done."))
    held = [Answer(Says("never"), hold=hold) for hold in holds]
    provider.script("m-middle", *held, Says("one"))
    with project.editor() as editor:
        request = editor.client.start_request("axe/run", {"agent": "lead", "task": "Go"})
        for hold in holds:
            hold.wait_until_arrived()
            wait_until_stored(editor, "middle")
            kill_the_host(editor)
        with pytest.raises(ServerError, match="axe-lsp resume") as failure:
            editor.client.result(request)
        assert failure.value.data["partial"]["turns"] == 1
        (killed,) = editor.client.request("axe/runs", {})
        assert (killed["status"], killed["reason"], killed["resumable"]) == ("killed", "host", True)

        result = editor.client.request("axe/resume", {"runId": killed["runId"]})
        warnings = [each["message"] for each in editor.client.notifications("window/showMessage")]
        assert_gapless(told(editor))

    assert (result["content"], result["turns"]) == ("Done.", 2)
    assert len(provider.asked("m-lead")) == 2
    assert len(provider.asked("m-middle")) == 3
    [warning] = [each for each in warnings if "goes on in a new one" in each]
    assert "was ended by signal 9" in warning


def test_a_run_that_is_not_kept_does_not_go_on(
    project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-leaf", Answer(Says("never"), hold=hold))
    with project.editor(initializationOptions={"history": {"keepDays": 0}}) as editor:
        request = editor.client.start_request("axe/run", {"agent": "leaf"})
        hold.wait_until_arrived()
        wait_until_stored(editor, "leaf")
        kill_the_host(editor)
        with pytest.raises(ServerError, match="Run the agent again"):
            editor.client.result(request)
        assert_gapless(told(editor))


def test_a_run_is_resumed_by_its_host_and_goes_on_when_that_dies(
    project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-leaf", Refuses(401), Answer(Says("never"), hold=hold), Says("Done."))
    with project.editor() as editor:
        with pytest.raises(ServerError) as failure:
            editor.client.request("axe/run", {"agent": "leaf", "task": "Go"})
        wait_until_stored(editor, "leaf")
        request = editor.client.start_request("axe/resume", {"runId": failure.value.data["runId"]})
        hold.wait_until_arrived()
        wait_until_stored(editor, "leaf")
        kill_the_host(editor)
        assert editor.client.result(request)["content"] == "Done."
        assert_gapless(told(editor))
        (run,) = editor.client.request("axe/runs", {})
    assert run["status"] == "completed"
    assert [each.body["messages"][0]["content"] for each in provider.requests] == ["Go"] * 3


def test_a_run_that_is_stopped_while_it_is_claimed_can_be_resumed_later(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-leaf", Refuses(401), Says("Done."))
    with project.editor() as editor:
        with pytest.raises(ServerError) as failure:
            editor.client.request("axe/run", {"agent": "leaf", "task": "Go"})
        run_id = failure.value.data["runId"]
        editor.client.request("axe/runs", {})
        history = project.home / ".local" / "state" / "axe" / "history.db"
        with closing(sqlite3.connect(history, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")  # Whoever claims the run waits for it.
            request = editor.client.start_request("axe/resume", {"runId": run_id})
            while not any(history.parent.glob("history-writers/*")):
                pass  # The folder is made with the first lock.
            editor.client.request("axe/stop", {"runId": run_id})
            other.execute("ROLLBACK")
        with pytest.raises(ServerError, match="stopped"):
            editor.client.result(request)
        (run,) = editor.client.request("axe/runs", {})
        assert (run["status"], run["resumable"]) == ("failed", True)
        assert editor.client.request("axe/resume", {"runId": run_id})["content"] == "Done."


APART = '[isolation]\nmode = "process"\n'


def test_an_agent_in_a_process_of_its_own_goes_on_when_the_host_of_its_tree_dies(
    project: Project, provider: ScriptedProvider
) -> None:
    project.write("leaf", AGENTS["leaf"] + APART)
    hold = Hold()
    writes = Call("run_command", {"command": "echo once >> effects.txt"})
    provider.script("m-lead", Says(calls=[calls_agent("middle", "go")]), Says("Done."))
    provider.script("m-middle", Says(calls=[calls_agent("leaf", "go")]), Says("middle"))
    provider.script(
        "m-leaf", Says(calls=[writes]), Answer(Says("never"), hold=hold), Says("It is done.")
    )
    with project.editor(initializationOptions=ALLOWED) as editor:
        request = editor.client.start_request("axe/run", {"agent": "lead", "task": "Go"})
        hold.wait_until_arrived()
        wait_until_stored(editor, "leaf")
        wait_until_stored(editor, "leaf")
        kill_the_host(editor)
        result = editor.client.result(request)
        events = told(editor)
        (run,) = editor.client.request("axe/runs", {})

    assert result["content"] == "Done."
    assert_gapless(events)
    assert (project.root / "effects.txt").read_text() == "once\n"
    assert [each.model for each in provider.requests] == [
        *("m-lead", "m-middle", "m-leaf", "m-leaf"),
        *("m-leaf", "m-middle", "m-lead"),
    ]
    ends = {each["agent"]: each for each in events if "status" in each}
    assert {name: end["inputTokens"] for name, end in ends.items()} == {
        "leaf": 20,
        "middle": 20,
        "lead": 20,
    }
    assert run["tree"]["inputTokens"] == ends["lead"]["tree"]["inputTokens"] == 60
