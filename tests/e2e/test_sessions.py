"""`axe/run {continue, session}`: a conversation whose agent is read again for each message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.raw_client import ServerError
from support.scripted_provider import Answer, Call, Hold, Refuses, Says, ScriptedProvider
from support.session import Project

Json = Any

SOLO = """\
name = "solo"
model = "anthropic/m-solo"
system_prompt = "You read."
tools = ["read_file"]
"""

READS = Says("I look.", [Call("read_file", {"path": "a.txt"})], thinking="I have to look.")


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider) -> Project:
    project = Project(tmp_path, provider.environment)
    project.write("solo", SOLO)
    (project.root / "a.txt").write_text("It is a.")
    return project


def roles(body: Json) -> str:
    """Return the roles of the messages, as their first letters."""
    return "".join(message["role"][0] for message in body["messages"])


def text_of(message: Json) -> str:
    """Return the text of a message of Anthropic's wire."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content)


def unmarked(value: Json) -> Json:
    """Return a part of a request without the marks of what is to be cached, which move."""
    if isinstance(value, dict):
        return {key: unmarked(each) for key, each in value.items() if key != "cache_control"}
    return [unmarked(each) for each in value] if isinstance(value, list) else value


def test_an_unchanged_agent_gets_what_was_sent_before_and_a_changed_one_its_new_prompt(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-solo", READS, Says("First."), Says("Second."), Says("Third."))
    with project.editor() as editor:
        first = editor.client.request("axe/run", {"agent": "solo", "task": "Go"})
        further = {"task": "Why?", "session": True}
        second = editor.client.request("axe/run", {"continue": first["runId"], **further})
        project.write("solo", SOLO.replace("You read.", "You write."))
        third = editor.client.request(
            "axe/run", {"continue": second["runId"], "agent": "solo", **further}
        )
        newest, *_ = editor.client.request("axe/runs", {})

    assert (second["content"], third["content"]) == ("Second.", "Third.")
    assert (newest["continues"], newest["continuable"]) == (second["runId"], True)
    _, before, same, changed = (unmarked(request.body) for request in provider.requests)
    assert same["messages"][:3] == before["messages"]
    assert same["tools"] == before["tools"]
    assert text_of({"content": same["system"]}) == text_of({"content": before["system"]})
    assert roles(same) == "uauau"
    assert changed["messages"][:5] == same["messages"]
    assert "You write." in str(changed["system"])
    assert roles(changed) == "uauauau"


def test_another_model_gets_no_signed_thinking_of_the_first(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-solo", READS, Says("First."))
    provider.script("m-other", Says("Second."))
    with project.editor() as editor:
        first = editor.client.request("axe/run", {"agent": "solo", "task": "Go"})
        further = {"task": "Why?", "session": True, "model": "anthropic/m-other"}
        editor.client.request("axe/run", {"continue": first["runId"], **further})

    body = provider.requests[-1].body
    assert (body["model"], roles(body)) == ("m-other", "uauau")
    assert b"I have to look." in provider.requests[-2].raw
    assert b"I have to look." not in provider.requests[-1].raw


def test_an_agent_without_tools_gets_calls_and_results_as_text(
    project: Project, provider: ScriptedProvider
) -> None:
    project.write("poet", 'name = "poet"\nmodel = "anthropic/m-solo"\n')
    provider.script("m-solo", READS, Says("First."), Says("Second."))
    with project.editor() as editor:
        first = editor.client.request("axe/run", {"agent": "solo", "task": "Go"})
        further = {"task": "A poem.", "session": True, "agent": "poet"}
        second = editor.client.request("axe/run", {"continue": first["runId"], **further})

    assert second["agent"] == "poet"
    body = provider.requests[-1].body
    assert roles(body) == "uauau"
    assert b"tool_use" not in provider.requests[-1].raw
    assert '[read_file {"path":"a.txt"}]' in text_of(body["messages"][1])
    assert "It is a." in text_of(body["messages"][2])


def test_a_run_that_was_stopped_goes_on_with_what_was_said_and_done(
    project: Project, provider: ScriptedProvider
) -> None:
    project.write("solo", SOLO.replace("read_file", "read_file', 'run_command").replace("'", '"'))
    sleeps = Call("run_command", {"command": "sleep 60"})
    both = Says("I look.", [READS.calls[0], sleeps])
    provider.script("m-solo", both, Says("Now this."))
    allows = {"tools": {"allow": ["run_command"]}}
    with project.editor(initializationOptions=allows) as editor:
        request = editor.client.start_request("axe/run", {"agent": "solo", "task": "Go"})
        editor.client.wait_for(
            "axe/tool", lambda params: (params["kind"], params["name"]) == ("begin", "run_command")
        )
        (going,) = editor.client.request("axe/runs", {})
        editor.client.request("axe/stop", {"runId": going["runId"]})
        with pytest.raises(ServerError, match="stopped"):
            editor.client.result(request)
        further = {"continue": going["runId"], "task": "Leave it.", "session": True}
        assert editor.client.request("axe/run", further)["content"] == "Now this."

    body = provider.requests[-1].body
    assert roles(body) == "uauau"
    of_read, of_sleep = body["messages"][2]["content"]
    assert "It is a." in str(of_read)
    assert (of_sleep["is_error"], "interrupted" in str(of_sleep)) == (True, True)
    assert [text_of(each) for each in body["messages"][3:]] == ["(interrupted)", "Leave it."]


def test_partial_answer_stays_in_the_conversation(
    project: Project, provider: ScriptedProvider
) -> None:
    hold = Hold(chunk=5)
    provider.script("m-solo", Answer(Says("One two three four"), hold=hold), Says("Five."))
    with project.editor() as editor:
        request = editor.client.start_request("axe/run", {"agent": "solo", "task": "Count"})
        hold.wait_until_arrived()
        editor.client.wait_for("axe/text", lambda params: "two" in params["delta"])
        (going,) = editor.client.request("axe/runs", {})
        editor.client.request("axe/stop", {"runId": going["runId"]})
        with pytest.raises(ServerError, match="stopped"):
            editor.client.result(request)
        further = {"continue": going["runId"], "task": "Go on.", "session": True}
        editor.client.request("axe/run", further)

    told = [text_of(message) for message in provider.requests[-1].body["messages"]]
    assert told == ["Count", "One two ", "Go on."]


def test_a_message_that_the_provider_has_refused_is_part_of_the_conversation(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-solo", Refuses(401), Says("Yes."))
    with project.editor() as editor:
        with pytest.raises(ServerError) as failure:
            editor.client.request("axe/run", {"agent": "solo", "task": "Hello?"})
        further = {"task": "Are you there?", "session": True}
        run_id = failure.value.data["runId"]
        editor.client.request("axe/run", {"continue": run_id, **further})

    said = [text_of(message) for message in provider.requests[-1].body["messages"]]
    assert said == ["Hello?", "(interrupted)", "Are you there?"]


def test_a_session_needs_a_run_to_go_on_with(project: Project) -> None:
    def refused(**params: Json) -> ServerError:
        with pytest.raises(ServerError) as failure:
            editor.client.request("axe/run", params)
        return failure.value

    with project.editor() as editor:
        alone = refused(agent="solo", session=True)
        wrong = refused(agent="solo", session="yes")
        unknown = refused(**{"continue": "0" * 32, "task": "x", "session": True})

    assert '"session" is for "continue"' in alone.message
    assert '"session" must be true or false' in wrong.message
    assert unknown.data["reason"] == "unknown"
