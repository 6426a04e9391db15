"""`axe/resume`: an editor has a run go on that ended before it was completed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.raw_client import ServerError
from support.scripted_provider import Answer, Call, Hold, Says, ScriptedProvider, calls_agent
from support.session import Editor, Project

Json = Any

STAYS = {"run": {"goOn": False}}
"""The settings of a client whose runs do not go on by themselves."""

LEAD = 'name = "lead"\nmodel = "ollama/m-lead"\nsub_agents = ["solo"]\n'
SOLO = 'name = "solo"\nmodel = "ollama/m-solo"\n'
ASKS = Says("I ask.", calls=[calls_agent("solo", "s")])


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider) -> Project:
    project = Project(tmp_path, provider.environment)
    project.write("lead", LEAD)
    project.write("solo", SOLO)
    return project


def agent_events(editor: Editor) -> list[Json]:
    return [
        each["params"]
        for each in editor.client.received
        if each.get("method", "").startswith("axe/")
    ]


def host_of(editor: Editor) -> int:
    """Return the process that executes the runs of a server: its only child."""
    assert editor.client.process is not None
    server = editor.client.process.pid
    (host,) = Path(f"/proc/{server}/task/{server}/children").read_text(encoding="ascii").split()
    return int(host)


def wait_until_stored(editor: Editor) -> None:
    """Until the history has all up to the request of the agent `solo`."""
    editor.client.wait_for(
        "axe/turn", lambda params: params["agent"] == "solo" and params["kind"] == "begin"
    )
    editor.client.request("axe/runs", {})


def refusal(editor: Editor, **params: Json) -> ServerError:
    with pytest.raises(ServerError) as refused:
        editor.client.request("axe/resume", params)
    return refused.value


def test_a_run_whose_host_was_killed_goes_on_in_another_one(
    project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", ASKS, Says("Done."))
    provider.script("m-solo", Answer(Says("never"), hold=hold), Says("one"))
    with project.editor(initializationOptions=STAYS) as editor:
        request = editor.client.start_request("axe/run", {"agent": "lead", "task": "Go"})
        hold.wait_until_arrived()
        wait_until_stored(editor)
        (going,) = editor.client.request("axe/runs", {"status": "running"})
        running = refusal(editor, runId=going["runId"])
        os.kill(host_of(editor), signal.SIGKILL)
        with pytest.raises(ServerError, match="signal 9"):
            editor.client.result(request)
        (killed,) = editor.client.request("axe/runs", {"status": "killed"})

        result = editor.client.request("axe/resume", {"runId": killed["runId"]})
        (done,) = editor.client.request("axe/runs", {})
        stored = editor.client.request("axe/events", {"runId": killed["runId"]})
        seen = agent_events(editor)
        completed = refusal(editor, runId=killed["runId"])

    assert running.data["reason"] == "running"
    assert killed["resumable"] is True
    assert (result["runId"], result["content"], result["turns"]) == (killed["runId"], "Done.", 2)
    assert (done["status"], done.get("resumable")) == ("completed", None)
    assert [each["seq"] for each in seen] == list(range(1, len(seen) + 1))
    assert [each["params"]["seq"] for each in stored][-1] == seen[-1]["seq"]
    resumed = [each for each in seen if each.get("kind") == "resume"]
    assert [(each["agent"], each["turn"]) for each in resumed] == [("lead", 2), ("solo", 1)]
    begun = [each["agent"] for each in seen if each.get("kind") == "begin" and "task" in each]
    assert begun == ["lead", "solo"]
    assert [request.model for request in provider.requests] == [
        "m-lead",
        "m-solo",
        "m-solo",
        "m-lead",
    ]
    assert completed.data == {"kind": "config", "exitCode": 2, "reason": "completed"}


def end_by_signal(number: signal.Signals) -> Callable[[Editor], object]:
    def end(editor: Editor) -> None:
        assert editor.client.process is not None
        editor.client.process.send_signal(number)

    return end


ENDS: dict[str, Callable[[Editor], object]] = {
    "SIGTERM": end_by_signal(signal.SIGTERM),
    "SIGINT": end_by_signal(signal.SIGINT),
    "shutdown and exit": lambda editor: editor.client.leave(),
    "end of input": lambda editor: editor.client.end_input(),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_run_whose_server_ends_is_killed_and_goes_on_in_later_server(
    project: Project, provider: ScriptedProvider, end: Callable[[Editor], object]
) -> None:
    hold = Hold()
    provider.script("m-lead", ASKS, Says("Done."))
    provider.script("m-solo", Answer(Says("never"), hold=hold), Says("one"))
    with project.editor() as editor:
        editor.client.start_request("axe/run", {"agent": "lead", "task": "Go"})
        hold.wait_until_arrived()
        wait_until_stored(editor)
        end(editor)
        editor.client.wait_until_ended()
        assert editor.client.exit_code() in (0, 1, 130)

    with project.editor() as editor:
        (killed,) = editor.client.request("axe/runs", {"status": "killed"})
        ended = [
            each["params"]
            for each in editor.client.request("axe/events", {"runId": killed["runId"]})
            if each["method"] == "axe/agent"
            and (each["params"]["agent"], each["params"]["kind"]) == ("lead", "end")
        ]
        result = editor.client.request("axe/resume", {"runId": killed["runId"]})
    assert killed["resumable"] is True
    assert ended[0]["reason"] == "server"
    assert ended[0]["error"].endswith(f"`axe-lsp resume {killed['runId'][:8]}` continues it")
    assert result["content"] == "Done."


def test_a_run_that_was_stopped_goes_on_in_a_later_server(
    project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", ASKS, Says("Done."))
    provider.script("m-solo", Answer(Says("never"), hold=hold), Says("one"))
    with project.editor() as editor:
        request = editor.client.start_request("axe/run", {"agent": "lead"})
        hold.wait_until_arrived()
        wait_until_stored(editor)
        (going,) = editor.client.request("axe/runs", {"status": "running"})
        editor.client.request("axe/stop", {"runId": going["runId"]})
        with pytest.raises(ServerError, match="stopped"):
            editor.client.result(request)

    with project.editor() as editor:
        result = editor.client.request("axe/resume", {"runId": going["runId"]})
        first = agent_events(editor)[0]

    assert result["content"] == "Done."
    assert (first["kind"], first["saved"]["turns"]) == ("resume", 1)


def test_a_client_that_knows_only_lsp_resumes_the_newest_run(
    project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-solo", Answer(Says("never"), hold=hold), Says("one"))
    with project.editor(initializationOptions=STAYS) as editor:
        request = editor.client.start_request("axe/run", {"agent": "solo"})
        hold.wait_until_arrived()
        wait_until_stored(editor)
        os.kill(host_of(editor), signal.SIGKILL)
        with pytest.raises(ServerError, match="signal 9"):
            editor.client.result(request)

        result = editor.client.request("workspace/executeCommand", {"command": "axe.resume"})
        shown = [each["message"] for each in editor.client.notifications("window/showMessage")]
        with pytest.raises(ServerError, match="no run of this workspace can be resumed"):
            editor.client.request("workspace/executeCommand", {"command": "axe.resume"})

    assert result["content"] == "one"
    assert "solo: one" in shown


def test_a_client_that_knows_only_lsp_replies_to_a_run_and_forks_it(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-solo", Says("one"), Says("two"))
    provider.script("m-other", Says("three"))
    with project.editor() as editor:

        def answer(command: str, argument: Json) -> str:
            params = {"command": command, "arguments": [argument]}
            content: str = editor.client.request("workspace/executeCommand", params)["content"]
            return content

        first = editor.client.request("axe/run", {"agent": "solo", "task": "Count."})["runId"]
        assert answer("axe.run", {"continue": first, "task": "Go on."}) == "two"
        fork = {"runId": first, "fromTurn": 1, "model": "ollama/m-other"}
        assert answer("axe.resume", fork) == "three"

    messages = provider.asked("m-solo")[1].body["messages"]
    assert [each["content"] for each in messages] == ["Count.", "one", "Go on."]


@pytest.mark.parametrize(
    ("params", "complaint"),
    [
        ({}, '"runId": string'),
        ({"runId": 1}, '"runId": string'),
        ({"runId": "x", "timeoutMs": 0}, '"timeoutMs" must be a whole number above 0'),
        ({"runId": "x", "maxTokens": "9"}, '"maxTokens" must be a whole number above 0'),
    ],
)
def test_invalid_params_are_refused(project: Project, params: Json, complaint: str) -> None:
    with project.editor() as editor:
        assert complaint in refusal(editor, **params).message
        unknown = refusal(editor, runId="0" * 32)

    assert unknown.code == -32803
    assert unknown.data == {"kind": "config", "exitCode": 2, "reason": "unknown"}


def test_a_fork_begins_a_run_of_its_own(project: Project, provider: ScriptedProvider) -> None:
    provider.script("m-lead", ASKS, Says("Done."))
    provider.script("m-solo", Says("one"))
    with project.editor() as editor:
        former = editor.client.request("axe/run", {"agent": "lead", "task": "Go"})
        provider.script("m-other", Says("Forked."))
        fork = editor.client.request(
            "axe/resume",
            {"runId": former["runId"], "fromTurn": 2, "model": "ollama/m-other"},
        )
        newest, oldest = editor.client.request("axe/runs", {})
        late = refusal(editor, runId=former["runId"], fromTurn=3)

    assert (fork["content"], fork["turns"], fork["status"]) == ("Forked.", 2, "completed")
    assert newest["forkedFrom"] == {"runId": former["runId"], "turn": 2}
    assert (newest["runId"], newest["task"]) == (fork["runId"], "Go")
    assert oldest["runId"] == former["runId"]
    messages = provider.requests[-1].body["messages"]
    assert [each["role"] for each in messages] == ["user", "assistant", "tool"]
    assert len(provider.requests) == 4
    assert "can be forked at turn 1 to 2, not at 3" in late.message


def test_a_completed_run_goes_on_by_a_further_message(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", ASKS, Says("Done."), Says("Because."))
    provider.script("m-solo", Says("one"))
    with project.editor() as editor:
        former = editor.client.request("axe/run", {"agent": "lead", "task": "Go"})
        project.write("lead", LEAD.replace("m-lead", "m-edited"))
        reply = editor.client.request(
            "axe/run", {"continue": former["runId"], "task": "Why?", "timeoutMs": 60_000}
        )
        newest, _ = editor.client.request("axe/runs", {})
        warnings = editor.client.notifications("window/showMessage")

    assert (reply["content"], reply["turns"], reply["agent"]) == ("Because.", 1, "lead")
    assert (newest["continues"], newest["task"]) == (former["runId"], "Why?")
    assert newest["continuable"] is True
    messages = provider.requests[-1].body["messages"]
    assert [each["role"] for each in messages] == ["user", "assistant", "tool", "assistant", "user"]
    assert (messages[-2]["content"], messages[-1]["content"]) == ("Done.", "Why?")
    assert not warnings


def test_a_run_that_can_not_be_continued_is_refused_with_the_reason(
    project: Project, provider: ScriptedProvider
) -> None:
    def refused(**params: Json) -> ServerError:
        with pytest.raises(ServerError) as failure:
            editor.client.request("axe/run", params)
        return failure.value

    hold = Hold()
    provider.script("m-solo", Answer(Says("never"), hold=hold))
    with project.editor() as editor:
        request = editor.client.start_request("axe/run", {"agent": "solo"})
        hold.wait_until_arrived()
        wait_until_stored(editor)
        (going,) = editor.client.request("axe/runs", {})
        running = refused(**{"continue": going["runId"], "task": "x"})
        editor.client.request("axe/stop", {"runId": going["runId"]})
        with pytest.raises(ServerError, match="stopped"):
            editor.client.result(request)
        stopped = refused(**{"continue": going["runId"], "task": "x"})
        unknown = refused(**{"continue": "0" * 32, "task": "x"})
        others = refused(**{"continue": going["runId"], "task": "x", "agent": "lead"})
        blank = refused(**{"continue": going["runId"], "task": " "})
        both = refused(**{"continue": going["runId"], "task": "x", "workdir": "/"})

    reasons = [each.data["reason"] for each in (running, stopped, unknown, others)]
    assert reasons == ["running", "notCompleted", "unknown", "agent"]
    assert "needs a message" in blank.message
    assert '"workdir" can\'t be used with "continue"' in both.message
    assert len(provider.requests) == 1


def test_trust_of_this_workspace_does_not_count_for_a_run_of_another(
    project: Project, provider: ScriptedProvider, tmp_path: Path
) -> None:
    """A run of another folder goes on, whose next sub-agent reaches outside of that folder."""
    other = Project(tmp_path / "other", {**provider.environment, **project.environment})
    (tmp_path / "note.txt").write_text("of somebody else")
    other.write("lead", LEAD)
    other.write("solo", f'{SOLO}skill = "{tmp_path / "note.txt"}"\n')
    provider.script("m-lead", Says("First."), ASKS, ASKS, Says("Done."))
    provider.script("m-solo", Says("one"))
    with other.editor(initializationOptions={"trusted": True}) as editor:
        former = editor.client.request("axe/run", {"agent": "lead", "task": "Go"})
        again = {"continue": former["runId"], "task": "And?"}

    with (
        project.editor(initializationOptions={"trusted": True}) as editor,
        pytest.raises(ServerError, match="you have not trusted that"),
    ):
        editor.client.request("axe/run", again)
    sent = b"".join(request.raw for request in provider.requests)
    assert b"of somebody else" not in sent

    with other.editor(initializationOptions={"trusted": True}) as editor:
        assert editor.client.request("axe/run", again)["content"] == "Done."
    sent = b"".join(request.raw for request in provider.requests)
    assert b"of somebody else" in sent


def test_allow_rules_of_this_workspace_do_not_count_for_a_run_of_another(
    project: Project, provider: ScriptedProvider, tmp_path: Path
) -> None:
    other = Project(tmp_path / "other", {**provider.environment, **project.environment})
    other.write("solo", f'{SOLO}tools = ["write_file"]\n')
    writes = Says(calls=[Call("write_file", {"path": "made.txt", "content": "x"})])
    provider.script("m-solo", Says("First."), writes, Says("No."), writes, Says("Yes."))
    allows = {"tools": {"allow": ["write_file"]}}
    with other.editor(initializationOptions=allows) as editor:
        former = editor.client.request("axe/run", {"agent": "solo", "task": "Go"})
        again = {"continue": former["runId"], "task": "And?"}

    with project.editor(initializationOptions=allows) as editor:
        assert editor.client.request("axe/run", again)["content"] == "No."
    assert not (other.root / "made.txt").exists()

    with other.editor(initializationOptions=allows) as editor:
        assert editor.client.request("axe/run", again)["content"] == "Yes."
    assert (other.root / "made.txt").exists()
