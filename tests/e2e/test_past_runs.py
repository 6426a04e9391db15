"""What editors learn of runs that others have started, and of those that are over."""

from __future__ import annotations

import os
import select
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.hosting.history.database import history_file, open_history
from support.raw_client import ServerError
from support.scripted_provider import PATIENCE, Answer, Hold, Says, ScriptedProvider, calls_agent
from support.session import Editor, Project

Json = Any
Connect = Callable[..., Editor]

LEAD = 'name = "lead"\nmodel = "ollama/m-lead"\nsub_agents = ["solo"]\n'
SOLO = 'name = "solo"\nmodel = "ollama/m-solo"\n'
SHOWS = {"window": {"showMessage": {}}}
ASKS = Says("I ask.", calls=[calls_agent("solo", "s")])


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider) -> Project:
    project = Project(tmp_path, provider.environment)
    project.write("lead", LEAD)
    project.write("solo", SOLO)
    return project


def heard(editor: Editor) -> list[Json]:
    """Return all notifications of runs so far."""
    return [each for each in editor.client.received if each.get("method", "").startswith("axe/")]


def as_stored(messages: list[Json]) -> list[Json]:
    return [
        {"method": each["method"], "params": each["params"]}
        for each in messages
        if each["method"] != "axe/text"
    ]


def run(editor: Editor, agent: str = "solo", **params: Json) -> Json:
    return editor.client.request("axe/run", {"agent": agent, **params})


def test_short_run_with_a_locked_history_is_reported_as_not_stored(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-solo", Says("ok"))
    history = history_file(project.environment)
    history.parent.mkdir(parents=True)
    open_history(history).close()
    with (
        closing(sqlite3.connect(history, isolation_level=None)) as other,
        project.editor(capabilities=SHOWS) as editor,
    ):
        other.execute("BEGIN IMMEDIATE")
        result = run(editor)
        message = editor.client.wait_for("window/showMessage")["message"]
    assert result["content"] == "ok"
    assert message.startswith("This run is not stored")
    assert "end the process that keeps it locked" in message


def test_runs_are_listed_newest_first_with_their_results(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", ASKS, Says("Done."))
    provider.script("m-solo", Says("one"), Says("two"))
    with project.editor() as editor:
        first = run(editor, "lead", task="first")
        second = run(editor, task="second")

        newest, oldest = editor.client.request("axe/runs", {})
        by_agent = editor.client.request("axe/runs", {"agent": "solo"})
        page = editor.client.request("axe/runs", {"limit": 1, "before": second["runId"]})
        of_folder = {
            folder: editor.client.request("axe/runs", {"folders": [folder.as_uri()], "limit": 1})
            for folder in (project.root, project.root.parent / "other")
        }

    assert (newest["runId"], newest["task"]) == (second["runId"], "second")
    assert (oldest["runId"], oldest["status"], oldest["turns"]) == (first["runId"], "completed", 2)
    assert oldest["workspace"] == str(project.root)
    assert [each["depth"] for each in by_agent] == [0, 1]
    assert by_agent[1]["parentRunId"] == first["runId"]
    assert page == [oldest]
    assert list(of_folder.values()) == [[newest], []]


def test_the_events_of_a_run_are_there_after_the_server_has_gone(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", ASKS, Says("Done."))
    provider.script("m-solo", Says("one"))
    with project.editor() as editor:
        run_id = run(editor, "lead")["runId"]
        seen = as_stored(heard(editor))

    with project.editor() as editor:
        events = editor.client.request("axe/events", {"runId": run_id})
        rest = editor.client.request("axe/events", {"runId": run_id, "after": 3})
        (child,) = editor.client.request("axe/runs", {"agent": "solo"})
        of_child = editor.client.request("axe/events", {"runId": child["runId"]})
        drawn = editor.client.request("axe/events", {"runId": run_id, "format": "text"})["text"]

    assert events == seen
    assert rest == [each for each in seen if each["params"]["seq"] > 3]
    assert of_child == [each for each in seen if each["params"]["agent"] == "solo"]
    assert drawn.startswith(f"Run {run_id} of ")
    assert "├─ solo: completed after" in drawn
    assert drawn.endswith("\n\nDone.\n")


@pytest.mark.req("002-16", "002-21")
def test_a_run_that_died_with_its_host_is_remembered_as_killed(
    project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-solo", Answer(Says("never"), hold=hold))
    with project.editor(initializationOptions={"run": {"goOn": False}}) as editor:
        request = editor.client.start_request("axe/run", {"agent": "solo"})
        hold.wait_until_arrived()
        (going,) = editor.client.request("axe/runs", {"status": "running"})
        os.kill(host_of(editor), signal.SIGKILL)
        with pytest.raises(ServerError, match="signal 9"):
            editor.client.result(request)

        (killed,) = editor.client.request("axe/runs", {"status": "killed"})
        events = editor.client.request("axe/events", {"runId": going["runId"]})

        assert killed["runId"] == going["runId"]
        assert events == as_stored(heard(editor))


@pytest.mark.req("002-16")
def test_events_of_a_killed_server_are_all_stored(
    project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", ASKS)
    provider.script("m-solo", Answer(Says("never"), hold=hold))
    with project.editor() as editor:
        editor.client.start_request("axe/run", {"agent": "lead"})
        hold.wait_until_arrived()
        (going,) = editor.client.request("axe/runs", {"status": "running"})
        host = os.pidfd_open(host_of(editor))
        assert editor.client.process is not None
        editor.client.process.kill()
        editor.client.wait_until_ended()
        seen = as_stored(heard(editor))
        wait_until_gone(host)

    with project.editor() as editor:
        (run,) = editor.client.request("axe/runs", {})
        events = editor.client.request("axe/events", {"runId": run["runId"]})

    assert (run["runId"], run["status"]) == (going["runId"], "killed")
    assert events[: len(seen)] == seen
    assert ends(events) == [("solo", "killed"), ("lead", "killed")]


def ends(events: list[Json]) -> list[tuple[str, str]]:
    params = [each["params"] for each in events]
    return [(each["agent"], each["status"]) for each in params if "status" in each]


def wait_until_gone(process: int) -> None:
    try:
        assert select.select([process], [], [], PATIENCE)[0], "the host lives on"
    finally:
        os.close(process)


def test_subscriber_of_all_runs_gets_events_of_other_clients(
    provider: ScriptedProvider, connect: Connect
) -> None:
    provider.script("m-solo", Says("one"), Says("two"))
    runner, watcher, stranger = connect(), connect(), connect()
    assert watcher.client.request("axe/subscribe", {}) == {"live": True}
    assert watcher.client.request("axe/subscribe", {}) == {"live": True}

    run(runner)
    run(watcher)
    for editor in (watcher, stranger):
        editor.client.request("axe/runs", {})  # What was sent before has arrived by then.

    assert heard(watcher)[: len(heard(runner))] == heard(runner)
    numbers = [each["params"]["seq"] for each in heard(watcher)]
    half = len(numbers) // 2
    assert numbers == [*range(1, half + 1)] * 2
    assert heard(stranger) == []


def test_who_unsubscribes_hears_no_more_unless_it_is_subscribed_otherwise(
    provider: ScriptedProvider, connect: Connect
) -> None:
    holds = [Hold(), Hold()]
    provider.script("m-solo", *[Answer(Says("one"), hold=hold) for hold in holds])
    runner, watcher = connect(), connect()
    watcher.client.request("axe/subscribe", {})
    watcher.client.request("axe/subscribe", {})

    def unsubscribe(**params: str) -> Json:
        return watcher.client.request("axe/unsubscribe", params)

    assert unsubscribe() == {"unsubscribed": True}
    first = runner.client.start_request("axe/run", {"agent": "solo"})
    begin = watcher.client.wait_for("axe/agent", lambda it: it["kind"] == "begin")
    watcher.client.request("axe/subscribe", {"runId": begin["runId"]})
    assert unsubscribe() == {"unsubscribed": True}
    assert unsubscribe() == {"unsubscribed": False}
    holds[0].release()
    watcher.client.wait_for("axe/agent", lambda it: it["kind"] == "end")
    runner.client.answer(first)

    second = runner.client.start_request("axe/run", {"agent": "solo"})
    begin = runner.client.wait_for(
        "axe/agent", lambda it: it["kind"] == "begin" and it["runId"] != begin["runId"]
    )
    assert unsubscribe(runId=begin["runId"]) == {"unsubscribed": False}
    watcher.client.request("axe/subscribe", {"runId": begin["runId"]})
    assert unsubscribe(runId=begin["runId"]) == {"unsubscribed": True}
    heard_while_subscribed = len(heard(watcher))
    holds[1].release()
    runner.client.answer(second)
    watcher.client.request("axe/runs", {})  # What was sent before has arrived by then.
    assert heard(watcher)[heard_while_subscribed:] == []


def test_a_client_that_comes_late_misses_nothing_and_hears_nothing_twice(
    provider: ScriptedProvider, connect: Connect
) -> None:
    hold = Hold()
    provider.script("m-lead", ASKS, Says("Done."))
    provider.script("m-solo", Answer(Says("one"), hold=hold))
    runner, watcher = connect(), connect()
    request = runner.client.start_request("axe/run", {"agent": "lead"})
    hold.wait_until_arrived()
    (going,) = watcher.client.request("axe/runs", {"status": "running"})

    answer = watcher.client.request("axe/subscribe", {"runId": going["runId"], "after": 0})
    before = len(heard(watcher))
    hold.release()
    runner.client.result(request)
    end = watcher.client.wait_for("axe/agent", lambda it: it["depth"] == 0 and it["kind"] == "end")

    assert answer == {"live": True}
    assert 0 < before < len(heard(runner))
    assert as_stored(heard(watcher)) == as_stored(heard(runner))
    assert end["seq"] == heard(runner)[-1]["params"]["seq"]


def test_subscription_to_an_ended_run_sends_its_stored_events(
    provider: ScriptedProvider, connect: Connect
) -> None:
    provider.script("m-solo", Says("one"))
    runner, watcher = connect(), connect()
    run_id = run(runner)["runId"]

    answer = watcher.client.request("axe/subscribe", {"runId": run_id, "after": 2})

    assert answer == {"live": False}
    assert heard(watcher) == as_notifications(as_stored(heard(runner))[2:])
    with pytest.raises(ServerError, match=f"no run {run_id} is going on in this server"):
        watcher.client.request("axe/subscribe", {"runId": run_id})


def test_keep_days_of_zero_stores_nothing(project: Project, provider: ScriptedProvider) -> None:
    provider.script("m-solo", Says("one"))
    with project.editor(initializationOptions={"history": {"keepDays": 0}}) as editor:
        run_id = run(editor)["runId"]

        assert editor.client.request("axe/runs", None) == []
        with pytest.raises(ServerError, match=f"no run '{run_id}' is stored"):
            editor.client.request("axe/events", {"runId": run_id})


SENSELESS = [
    ("axe/runs", [], "params must be an object"),
    ("axe/runs", {"agent": 1}, '"agent" must be a string'),
    ("axe/runs", {"limit": 0}, '"limit" must be a whole number from 1'),
    ("axe/runs", {"limit": True}, '"limit" must be a whole number from 1'),
    ("axe/runs", {"status": "done"}, '"status" is one of running, completed, failed'),
    ("axe/runs", {"before": "abc"}, "no run 'abc' is stored"),
    ("axe/runs", {"before": "nothing"}, "'nothing' is neither the id of a run nor a time"),
    (
        "axe/runs",
        {"before": "2026-99-99"},
        "'2026-99-99' is not a time: month must be in 1..12",
    ),
    ("axe/runs", {"folders": "file:///x"}, '"folders" must be an array of "file:" URIs'),
    ("axe/runs", {"folders": ["untitled:x"]}, '"folders" must be an array'),
    ("axe/events", {}, '"runId" is missing'),
    ("axe/events", {"runId": "x", "after": -1}, '"after" must be a whole number from 0'),
    ("axe/events", {"runId": "x", "format": "xml"}, '"format" is "json" or "text"'),
    ("axe/events", {"runId": "x", "format": "text", "after": 1}, 'without "after"'),
    ("axe/subscribe", {"after": 1}, '"after" needs a "runId"'),
]


def test_invalid_params_are_refused(project: Project) -> None:
    with project.editor() as editor:
        for method, params, complaint in SENSELESS:
            with pytest.raises(ServerError, match=complaint):
                editor.client.request(method, params)


def as_notifications(events: list[Json]) -> list[Json]:
    return [{"jsonrpc": "2.0", **each} for each in events]


def host_of(editor: Editor) -> int:
    """Return the process that executes the runs of a server: its only child."""
    assert editor.client.process is not None
    server = editor.client.process.pid
    children = Path(f"/proc/{server}/task/{server}/children").read_text(encoding="ascii")
    (host,) = children.split()
    return int(host)
