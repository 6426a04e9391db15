"""Runs from the editor: every turn of the tree streamed back, stopped, refused, survived."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from support.processes import children_of
from support.raw_client import ServerError
from support.scripted_provider import (
    Answer,
    Call,
    Hold,
    Raw,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)
from support.session import Editor, Project
from support.waiting import promptly

Json = Any

PARENT = """\
name = "parent"
model = "openai/m-parent"
system_prompt = "You delegate."
sub_agents = ["left", "right"]
"""
CHILD = 'name = "{0}"\nmodel = "anthropic/m-{0}"\nsystem_prompt = "You are {0}."\n'
BOTH = Says("Asking both.", calls=[calls_agent("left", "do l"), calls_agent("right", "do r")])


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider) -> Project:
    project = Project(tmp_path, provider.environment)
    project.write("parent", PARENT)
    for name in ("left", "right"):
        project.write(name, CHILD.format(name))
    return project


def events(editor: Editor) -> list[Json]:
    """Return all notifications of runs so far, `method` included."""
    return [
        {"method": message["method"], **message["params"]}
        for message in editor.client.received
        if message.get("method", "").startswith("axe/")
    ]


def wait_for_event(editor: Editor, method: str, **members: Json) -> Json:
    return editor.client.wait_for(
        f"axe/{method}", lambda it: all(it.get(name) == value for name, value in members.items())
    )


def start_run(editor: Editor, **params: Json) -> int:
    return editor.client.start_request("axe/run", params or {"uri": editor.uri("parent")})


def outline(event: Json) -> str:
    kind = f" {event['kind']}" if "kind" in event else ""
    return f"{event['agent']}: {event['method'].removeprefix('axe/')}{kind}"


# -- what a client sees


@pytest.mark.req("001-11.1", "001-11.3", "000-8")
def test_a_turn_arrives_while_a_child_is_still_working(
    project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-parent", BOTH, Says("Both agree.", usage=(20, 7)))
    provider.script("m-left", Says("left says yes"))
    provider.script("m-right", Answer(Says("right says yes"), hold=hold))
    with project.editor() as editor:
        request = start_run(editor)
        hold.wait_until_arrived()
        turn = wait_for_event(editor, "turn", agent="left", kind="end")
        assert turn["text"] == "left says yes"
        assert not any(
            event.get("agent") == "parent" and event.get("turn") == 2 for event in events(editor)
        )
        hold.release()
        result = editor.client.result(request)
        assert result["content"] == "Both agree."
        assert result["status"] == "completed"
        assert (result["inputTokens"], result["outputTokens"]) == (30, 12)
        assert (result["turns"], result["toolCalls"]) == (2, 2)


@pytest.mark.req("004-7", "004-10")
def test_task_has_the_description_of_its_caller(
    project: Project, provider: ScriptedProvider
) -> None:
    project.write("parent", 'name = "parent"\nmodel = "openai/m-parent"\n[task]\n')
    arguments = {"description": "find auth", "prompt": "Find it.", "subagent_type": "explore"}
    provider.script("m-parent", Says(calls=[Call("Task", arguments)]), Says("r"), Says("Done."))
    with project.editor() as editor:
        request = start_run(editor)
        begin = wait_for_event(editor, "agent", agent="explore", kind="begin")
        assert (begin["task"], begin["description"]) == ("Find it.", "find auth")
        assert (begin["parentAgent"], begin["model"]) == ("parent", "openai/m-parent")
        assert editor.client.result(request)["content"] == "Done."


@pytest.mark.req("002-12")
def test_events_have_their_ids_a_gapless_order_and_come_before_the_answer(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-parent", BOTH, Says("Done."))
    provider.script("m-left", Says("l"))
    provider.script("m-right", Says("r"))
    with project.editor() as editor:
        result = editor.client.result(start_run(editor))
        answered = next(
            index for index, it in enumerate(editor.client.received) if it.get("result") == result
        )
        seen = events(editor)
        assert len(seen) == sum(
            it.get("method", "").startswith("axe/") for it in editor.client.received[:answered]
        )
        assert [event["seq"] for event in seen] == list(range(1, len(seen) + 1))
        root = result["runId"]
        for event in seen:
            assert event["rootRunId"] == root
            is_root = event["agent"] == "parent"
            assert (event["runId"] == root) == is_root
            assert event.get("parentRunId") == (None if is_root else root)
            assert event["depth"] == (0 if is_root else 1)
            assert event["time"].endswith("Z")
        assert outline(seen[0]) == "parent: agent begin"
        assert outline(seen[-1]) == "parent: agent end"
        left = [outline(event) for event in seen if event["agent"] == "left"]
        assert left == [
            "left: agent begin",
            "left: turn begin",
            "left: text",
            "left: turn end",
            "left: agent end",
        ]
        tools = [
            event for event in seen if event["method"] == "axe/tool" and event["kind"] == "end"
        ]
        children = {event["runId"] for event in seen if event["depth"] == 1}
        assert {tool["childRunId"] for tool in tools} == children
        begin = next(event for event in seen if outline(event) == "left: agent begin")
        assert (begin["task"], begin["parentAgent"]) == ("do l", "parent")


def test_text_arrives_as_it_is_written(project: Project, provider: ScriptedProvider) -> None:
    hold = Hold(chunk=5)
    provider.script("m-left", Answer(Says("one two three four"), hold=hold))
    with project.editor() as editor:
        request = start_run(editor, agent="left", task="count")
        first = wait_for_event(editor, "text")
        assert "one two three four".startswith(first["delta"])
        hold.release()
        assert editor.client.result(request)["content"] == "one two three four"
        deltas = [event["delta"] for event in events(editor) if event["method"] == "axe/text"]
        assert "".join(deltas) == "one two three four"
        assert len(deltas) > 1
        assert provider.requests[0].body["messages"][0]["content"] == "count"


def test_the_open_buffer_runs_not_the_file(project: Project, provider: ScriptedProvider) -> None:
    provider.script("m-left", Says("as typed"))
    with project.editor() as editor:
        editor.open("left")
        editor.replace("left", "You are left.", "You are somebody else.")
        request = start_run(editor, uri=editor.uri("left"))
        # What is typed after the request does not count.
        editor.replace("left", "somebody else", "nobody")
        assert editor.client.result(request)["content"] == "as typed"
        assert provider.requests[0].body["system"] == "You are somebody else."


def test_an_unsaved_document_runs(project: Project, provider: ScriptedProvider) -> None:
    provider.script("m-left", Says("from nowhere"))
    with project.editor() as editor:
        editor.open("untitled:Untitled-1", CHILD.format("left"), language="axe-agent")
        result = editor.client.result(start_run(editor, uri="untitled:Untitled-1"))
        assert result["content"] == "from nowhere"


def test_model_and_workdir_of_a_run_override_the_file(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("other", Says("ok"))
    (project.root / "sub").mkdir()
    with project.editor() as editor:
        params = {"agent": "left", "model": "openai/other", "workdir": str(project.root / "sub")}
        assert editor.client.request("axe/run", params)["content"] == "ok"
        preview = editor.client.request("axe/preview", params)
        assert preview["workdir"] == str(project.root / "sub")


# -- stopping


def test_cancelling_the_request_ends_the_whole_tree_within_a_second(
    project: Project, provider: ScriptedProvider
) -> None:
    holds = [Hold(), Hold()]
    provider.script("m-parent", BOTH)
    provider.script("m-left", Answer(Says("never"), hold=holds[0]))
    provider.script("m-right", Answer(Says("never"), hold=holds[1]))
    with project.editor() as editor:
        request = start_run(editor)
        for hold in holds:
            hold.wait_until_arrived()
        with promptly():
            editor.client.cancel(request)
            answer = editor.client.answer(request)
        assert answer["error"]["code"] == -32800
        for hold in holds:
            hold.wait_until_hung_up()
        ends = [event for event in events(editor) if outline(event).endswith("agent end")]
        assert [(event["agent"], event["status"]) for event in ends][-1] == ("parent", "cancelled")
        assert {event["status"] for event in ends} == {"cancelled"}
        assert len(ends) == 3


def test_stopping_one_child_leaves_the_others(project: Project, provider: ScriptedProvider) -> None:
    hold = Hold()
    provider.script("m-parent", BOTH, Says("One had to do."))
    provider.script("m-left", Says("fine"))
    provider.script("m-right", Answer(Says("never"), hold=hold))
    with project.editor() as editor:
        request = start_run(editor)
        hold.wait_until_arrived()
        child = wait_for_event(editor, "agent", agent="right", kind="begin")["runId"]
        assert editor.client.request("axe/stop", {"runId": child}) == {"stopped": True}
        assert editor.client.result(request)["content"] == "One had to do."
        told = provider.asked("m-parent")[1].body["messages"][-2:]
        assert told[0]["content"] == "fine"
        assert told[1]["content"] == (
            'Error: sub-agent "right" failed - cancelled. '
            "You may retry or proceed without this result."
        )


def test_stop_of_an_unknown_run_stops_nothing(project: Project) -> None:
    with project.editor() as editor:
        assert editor.client.request("axe/stop", {"runId": "nothing"}) == {"stopped": False}
        with pytest.raises(ServerError) as caught:
            editor.client.request("axe/stop", {})
        assert caught.value.code == -32602


# -- progress and commands


def test_progress_with_the_clients_token_and_cancelled_through_it(
    project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-left", Answer(Says("never"), hold=hold))
    with project.editor() as editor:
        request = start_run(editor, agent="left", workDoneToken="t")
        begin = editor.client.wait_for("$/progress")
        assert begin["token"] == "t"
        assert begin["value"]["title"] == "axe: left"
        assert begin["value"]["cancellable"]
        hold.wait_until_arrived()
        editor.client.notify("window/workDoneProgress/cancel", {"token": "t"})
        assert editor.client.answer(request)["error"]["code"] == -32800
        end = editor.client.wait_for("$/progress", lambda it: it["value"]["kind"] == "end")
        assert end["token"] == "t"


def test_progress_with_a_token_of_the_servers(project: Project, provider: ScriptedProvider) -> None:
    provider.script("m-left", Says("done"))
    with project.editor(capabilities={"window": {"workDoneProgress": True}}) as editor:
        editor.client.answer_with["window/workDoneProgress/create"] = lambda _: None
        editor.client.result(start_run(editor, agent="left"))
        # To read the agents takes so long on a busy machine that there is a token for that, too.
        created = editor.client.wait_for(
            "window/workDoneProgress/create", lambda it: it["token"].startswith("axe-run")
        )
        token = created["token"]
        end = editor.client.wait_for(
            "$/progress", lambda it: it["token"] == token and it["value"]["kind"] == "end"
        )
        assert end["value"]["message"].startswith("completed after ")


def test_progress_of_many_events_is_throttled(project: Project, provider: ScriptedProvider) -> None:
    provider.script("m-parent", Says(calls=[calls_agent("nobody", "x")] * 200), Says("done"))
    with project.editor() as editor:
        started = time.monotonic()
        editor.client.result(start_run(editor, agent="parent", workDoneToken="t"))
        values = [each["value"] for each in editor.client.notifications("$/progress")]
        elapsed = time.monotonic() - started
    assert sum(value["kind"] == "report" for value in values) <= 2 + 10 * elapsed
    assert values[-1]["message"].startswith("completed after ")


def test_commands_serve_clients_that_know_only_lsp(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-parent", BOTH, Says("Done."))
    provider.script("m-left", Says("l"))
    provider.script("m-right", Refuses(500, "broken"))
    with project.editor() as editor:
        command = {"command": "axe.run", "arguments": [{"agent": "parent"}]}
        result = editor.client.request("workspace/executeCommand", command)
        assert result["content"] == "Done."
        assert events(editor) == []
        lines = [it["message"] for it in editor.client.notifications("window/logMessage")]
        assert lines[0] == "parent: started on openai/m-parent"
        assert "parent: turn 1, calls call_agent, call_agent" in lines
        assert any(line.startswith("  right: failed after ") for line in lines)
        assert editor.client.wait_for("window/showMessage")["message"] == "parent: Done."
        command = {"command": "axe.preview", "arguments": [{"agent": "parent"}]}
        preview = editor.client.request("workspace/executeCommand", command)
        assert preview["text"].startswith("=== Dry Run ===")
        command = {"command": "axe.stop", "arguments": [{"runId": result["runId"]}]}
        assert editor.client.request("workspace/executeCommand", command) == {"stopped": False}
        assert editor.client.request("workspace/executeCommand", {"command": "axe.stop"}) == {
            "stopped": False
        }
        told = editor.client.wait_for("window/showMessage")["message"]
        assert told == "No run of this editor is active."


def test_clients_that_know_only_lsp_hear_that_an_answer_is_not_whole(
    project: Project, provider: ScriptedProvider
) -> None:
    project.write("cut", 'name = "cut"\nmodel = "anthropic/m-cut"\n')
    provider.script("m-cut", Says("Half a", stop_reason="max_tokens"))
    with project.editor() as editor:
        command = {"command": "axe.run", "arguments": [{"agent": "cut"}]}
        editor.client.request("workspace/executeCommand", command)
        lines = [it["message"] for it in editor.client.notifications("window/logMessage")]
        warning = editor.client.wait_for("window/showMessage")
    cut = "the answer was cut off at the output limit"
    assert f"cut: turn 1, max_tokens; {cut}" in lines
    assert warning == {"type": 2, "message": f'Agent "cut": {cut}'}


@pytest.mark.parametrize(
    ("command", "trusted", "agent", "told"),
    [
        ("axe.run", True, "nobody", "agent config not found"),
        ("axe.run", True, 3, '"agent"'),
        ("axe.run", False, "left", "do not run in an untrusted workspace"),
        ("axe.preview", True, "nobody", "agent config not found"),
    ],
)
def test_errors_of_commands_are_shown_as_messages(
    project: Project, command: str, trusted: bool, agent: object, told: str
) -> None:
    with project.editor(initializationOptions={"trusted": trusted}) as editor:
        order = {"command": command, "arguments": [{"agent": agent}]}
        with pytest.raises(ServerError, match=told):
            editor.client.request("workspace/executeCommand", order)
        message = editor.client.wait_for("window/showMessage")
    assert message["type"] == 1
    assert told in message["message"]


def test_a_cancelled_command_stops_the_run(project: Project, provider: ScriptedProvider) -> None:
    hold = Hold()
    provider.script("m-left", Answer(Says("never"), hold=hold))
    with project.editor() as editor:
        command = {"command": "axe.run", "arguments": [{"agent": "left"}]}
        request = editor.client.start_request("workspace/executeCommand", command)
        hold.wait_until_arrived()
        editor.client.cancel(request)
        assert editor.client.answer(request)["error"]["code"] == -32800
        hold.wait_until_hung_up()


def test_preview_shows_everything_and_sends_nothing(
    project: Project, provider: ScriptedProvider
) -> None:
    (project.root / "notes.md").write_text("some notes")
    project.write("parent", PARENT + 'files = ["*.md"]\n')
    with project.editor() as editor:
        preview = editor.client.request("axe/preview", {"agent": "parent", "task": "go"})
        assert preview["model"] == "openai/m-parent"
        assert preview["files"] == [{"path": "notes.md", "bytes": 10}]
        assert preview["userMessage"] == "go"
        assert (preview["tools"], preview["subAgents"]) == (["call_agent"], ["left", "right"])
        assert preview["systemPrompt"].startswith("You delegate.\n\n---\n\n## Context Files")
        assert preview["estimatedTokens"] > 0
        assert preview["text"].startswith("=== Dry Run ===")
        assert provider.requests == []


def test_agents_are_listed_with_their_problems(project: Project) -> None:
    (project.user_agents / "left.toml").write_text(CHILD.format("left"))
    project.write("bad", 'name = "bad"\nmodel = "olama/x"\n')
    project.write("plan", 'name = "plan"\nmodel = "ollama/m"\n')
    with project.editor() as editor:
        editor.problems("bad", 1)
        found = editor.client.request("axe/agents")
        builtin = {each["name"]: each for each in found if each["scope"] == "builtin"}
        assert set(builtin) == {"code", "explore", "plan"}
        assert builtin["plan"]["uri"] is None
        assert builtin["plan"]["tools"] == ["run_command", "read_file"]
        assert [each["scope"] for each in found if each["name"] == "plan"] == [
            "workspace",
            "builtin",
        ]
        found = [each for each in found if each["name"] not in builtin]
        assert [(each["name"], each["scope"]) for each in found] == [
            ("bad", "workspace"),
            ("left", "workspace"),
            ("left", "user"),
            ("parent", "workspace"),
            ("right", "workspace"),
        ]
        assert [each["code"] for each in found[0]["problems"]] == ["unknown-provider"]
        assert found[3]["subAgents"] == ["left", "right"]
        assert found[3]["uri"] == editor.uri("parent")


# -- what goes wrong


MALFORMED: list[tuple[Json, str]] = [
    (None, 'params must be an object with "agent" or "uri"'),
    ({}, 'give either "agent" or "uri"'),
    ({"agent": "a", "uri": "b"}, 'give either "agent" or "uri"'),
    ({"agent": 5}, '"agent" must be a string'),
    ({"agent": "a", "timeoutMs": 0}, '"timeoutMs" must be a whole number above 0'),
    ({"agent": "a", "workDoneToken": []}, '"workDoneToken" must be a string or an integer'),
]


def test_malformed_params_are_explained(project: Project) -> None:
    with project.editor() as editor:
        for params, said in MALFORMED:
            with pytest.raises(ServerError) as caught:
                editor.client.request("axe/run", params)
            assert caught.value.code == -32602
            assert said in caught.value.message


def test_unknown_params_are_warned_about(project: Project, provider: ScriptedProvider) -> None:
    provider.script("m-left", Says("ok"))
    with project.editor() as editor:
        result = editor.client.request("axe/run", {"agent": "left", "promt": "x", "task": "y"})
        assert result["content"] == "ok"
        told = editor.client.notifications("window/showMessage")
        said = 'axe/run: unknown parameter "promt"; it has no effect'
        assert told == [{"type": 2, "message": said}]


def fails(editor: Editor, **params: Json) -> ServerError:
    with pytest.raises(ServerError) as caught:
        editor.client.request("axe/run", params)
    assert caught.value.code == -32803
    return caught.value


def test_an_agent_that_does_not_exist_or_is_broken(project: Project) -> None:
    project.write("deep", CHILD.format("deep") + "[sub_agents_config]\nmax_depth = 6\n")
    with project.editor() as editor:
        error = fails(editor, agent="none")
        assert error.message.startswith("agent config not found: none. Searched folders: ")
        assert fails(editor, agent="lefft").message.endswith("lefft. Did you mean `left`?")
        assert (error.data["kind"], error.data["exitCode"]) == ("config", 2)
        error = fails(editor, agent="deep")
        assert error.message.startswith(
            "sub_agents_config.max_depth cannot exceed 5. The error is at "
        )
        error = fails(editor, agent="left", model="nowhere/x")
        assert error.data["exitCode"] == 1
        (only,) = editor.client.request("axe/runs", {})
        assert only["agent"] == "left", "what could not be loaded is no run"


@pytest.mark.parametrize(
    ("answer", "attempts", "said"),
    [
        (Refuses(401, "bad key"), 1, "auth: bad key"),
        (Refuses(529, "busy"), 1, "overloaded: busy"),
        (Raw(b"<html>"), 1, "server: "),
        (Raw(b'{"a": 1}', cut=0), 3, "server: "),
        (
            Raw(b"event: x\ndata: {\n\n", headers={"Content-Type": "text/event-stream"}),
            1,
            "server: ",
        ),
    ],
    ids=["refused", "overloaded", "garbage", "hung up", "garbage stream"],
)
def test_a_provider_that_fails_is_named_and_the_session_goes_on(
    project: Project, provider: ScriptedProvider, answer: Refuses | Raw, attempts: int, said: str
) -> None:
    provider.script("m-left", *[answer] * attempts, Says("better"))
    with project.editor() as editor:
        error = fails(editor, agent="left")
        assert error.message.startswith(said)
        assert error.data["kind"] == "api"
        assert error.data["exitCode"] == 3
        assert "key-anthropic" not in str(editor.client.received)
        assert editor.client.request("axe/run", {"agent": "left"})["content"] == "better"


@pytest.mark.req("002-9", "002-11")
def test_a_provider_that_never_answers_times_out(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-left", Answer(Says("never"), hold=Hold()))
    with project.editor() as editor:
        error = fails(editor, agent="left", timeoutMs=300)
        assert error.message == "timeout after 0.3s"
        assert error.data["partial"]["status"] == "timeout"


def test_a_missing_key_says_how_to_set_it(tmp_path: Path) -> None:
    project = Project(tmp_path, {"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": ""})
    project.write("left", CHILD.format("left"))
    with project.editor() as editor:
        error = fails(editor, agent="left")
        assert "set ANTHROPIC_API_KEY or add to config.toml" in error.message
        assert error.data["exitCode"] == 3


def test_runs_are_refused_in_an_untrusted_workspace(project: Project) -> None:
    with project.editor(initializationOptions={"trusted": False}) as editor:
        error = fails(editor, agent="left")
        assert "untrusted workspace" in error.message
        with pytest.raises(ServerError, match="untrusted workspace"):
            editor.client.request(
                "workspace/executeCommand", {"command": "axe.run", "arguments": [{"agent": "left"}]}
            )
        editor.open("left")
        assert editor.ask("hover", "left", "nam") is not None


def test_if_the_run_host_is_killed_the_run_ends_and_the_editor_goes_on(
    project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-left", Answer(Says("never"), hold=hold), Says("again"))
    with project.editor(initializationOptions={"run": {"goOn": False}}) as editor:
        editor.open("left")
        request = start_run(editor, agent="left")
        hold.wait_until_arrived()
        assert editor.client.process is not None
        (host,) = children_of(editor.client.process.pid)
        os.kill(host, signal.SIGKILL)
        error = editor.client.answer(request)["error"]
        assert (error["code"], error["data"]["kind"]) == (-32803, "agent")
        assert wait_for_event(editor, "agent", kind="end")["status"] == "killed"
        assert editor.ask("hover", "left", "nam") is not None
        assert editor.client.request("axe/run", {"agent": "left"})["content"] == "again"
        assert editor.client.leave() == 0


def test_no_process_is_left_when_the_editor_leaves_in_the_middle_of_a_run(
    project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-left", Answer(Says("never"), hold=hold))
    with project.editor() as editor:
        start_run(editor, agent="left")
        hold.wait_until_arrived()
        assert editor.client.process is not None
        (host,) = children_of(editor.client.process.pid)
        editor.client.end_input()
        assert editor.client.exit_code() == 1
        hold.wait_until_hung_up()
        assert not is_running(host)


def is_running(pid: int) -> bool:
    listed = subprocess.run(
        ["ps", "-p", str(pid), "-o", "stat="], check=False, capture_output=True, text=True
    )
    return bool(listed.stdout.strip()) and not listed.stdout.startswith("Z")


def test_a_run_whose_budget_is_used_up_fails_with_what_there_is(
    project: Project, provider: ScriptedProvider
) -> None:
    project.write("parent", PARENT + "\n[budget]\nmax_tokens = 40\n")
    provider.script("m-parent", BOTH, Says("never"))
    provider.script("m-left", Says("l"))
    provider.script("m-right", Says("r"))
    with project.editor() as editor:
        error = editor.client.answer(start_run(editor))["error"]
        end = wait_for_event(editor, "agent", agent="parent", kind="end")
    assert (error["code"], error["message"]) == (
        -32803,
        "budget exceeded: used 45 of 40 tokens",
    )
    assert (error["data"]["kind"], error["data"]["exitCode"]) == ("budget", 4)
    partial = error["data"]["partial"]
    assert (partial["content"], partial["status"]) == ("Asking both.", "killed")
    assert partial["budget"] == {"maxTokens": 40, "usedTokens": 45, "exceeded": True}
    assert (end["status"], end["reason"], end["error"]) == ("killed", "budget", error["message"])


# -- messages to a run that works


def test_message_is_queued_changed_listed_and_given(
    project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    project.write("solo", 'name = "solo"\nmodel = "openai/m-solo"\n')
    provider.script("m-solo", Answer(Says("first"), hold=hold), Says("second"))
    with project.editor() as editor:
        request = start_run(editor, uri=editor.uri("solo"))
        hold.wait_until_arrived()
        run = wait_for_event(editor, "agent", kind="begin")["runId"]
        sent = editor.client.request("axe/message", {"runId": run, "text": "In French."})
        message = {"runId": run, "messageId": sent["messageId"]}
        changed = editor.client.request("axe/changeMessage", {**message, "text": "In German."})
        (queued,) = editor.client.request("axe/messages", {"runId": run})
        (row,) = editor.client.request("axe/runs", {"status": "running"})
        hold.release()
        result = editor.client.result(request)
        with pytest.raises(ServerError) as refused:
            editor.client.request("axe/message", {"runId": run, "text": "Hello?"})
        with pytest.raises(ServerError) as unknown:
            editor.client.request("axe/message", {"runId": "0" * 32, "text": "Hello?"})
    assert sent["state"] == "queued"
    assert changed == {"changed": True}
    assert (queued["text"], queued["mode"], queued["from"]) == ("In German.", "next", "person")
    assert row["queued"] == 1
    assert result["content"] == "second"
    assert provider.asked("m-solo")[1].body["messages"][-1]["content"] == "In German."
    assert (refused.value.code, refused.value.data) == (-32803, {"reason": "ended"})
    assert unknown.value.data == {"reason": "unknown"}


@pytest.mark.parametrize(
    "params",
    [{}, {"runId": "x"}, {"runId": "x", "text": " "}, {"runId": "x", "text": "t", "mode": "soon"}],
)
def test_message_without_a_text_or_with_an_unknown_mode_is_invalid(
    project: Project, params: Json
) -> None:
    with project.editor() as editor, pytest.raises(ServerError) as refused:
        editor.client.request("axe/message", params)
    assert refused.value.code == -32602
