"""`ask_user` through the language server: who is asked how, and what comes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.raw_client import NEVER
from support.scripted_provider import Call, Says, ScriptedProvider, calls_agent
from support.session import Editor, Project

Json = Any

WHICH = Call("ask_user", {"question": "Which one?", "choices": ["Postgres", "SQLite"]})
OPEN = Call("ask_user", {"question": "Which one?"})
ASKS = {"experimental": {"axe": {"ask": True}}}
SHOWS = {"window": {"showMessage": {}}}
NOBODY = "nobody can be asked here; decide yourself and say what you assumed"
DISMISSED = "the user dismissed the question"


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider) -> Project:
    project = Project(tmp_path, provider.environment)
    asker = 'model = "openai/m-{0}"\nname = "{0}"\ntools = ["ask_user"]\n'
    project.write("asker", asker.format("asker"))
    project.write("apart", asker.format("apart") + '[isolation]\nmode = "process"\n')
    project.write("lead", 'name = "lead"\nmodel = "openai/m-lead"\nsub_agents = ["apart"]\n')
    return project


def asked(editor: Editor, method: str) -> list[Json]:
    received = editor.client.received
    return [message["params"] for message in received if message.get("method") == method]


def told(provider: ScriptedProvider, agent: str = "asker") -> str:
    """Return what the model was told about its question."""
    content: str = provider.asked(f"m-{agent}")[-1].body["messages"][-1]["content"]
    return content


def run(project: Project, capabilities: Json, answers: dict[str, Json], **options: Json) -> Editor:
    """Run the agent in an editor that gives these results."""
    with project.editor(capabilities=capabilities, initializationOptions=options) as editor:
        for method, result in answers.items():
            editor.client.answer_with[method] = lambda _, result=result: result
        editor.client.request("axe/run", {"agent": "asker"})
    return editor


def test_the_client_is_asked_and_its_answer_reaches_the_model(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-asker", Says(calls=[WHICH]), Says(calls=[OPEN]), Says("done"))
    editor = run(project, ASKS, {"axe/ask": {"answer": "DuckDB"}})
    first, second = asked(editor, "axe/ask")
    calls = [event["callId"] for event in asked(editor, "axe/tool") if event["kind"] == "begin"]
    assert [first.pop("callId"), second.pop("callId")] == calls
    assert first == {**second, "choices": ["Postgres", "SQLite"]}
    assert second.pop("runId") == second.pop("rootRunId")
    assert second == {
        "agent": "asker",
        "depth": 0,
        "reason": 'agent "asker" asks',
        "question": "Which one?",
        "timeoutMs": 120_000,
    }
    assert told(provider) == "DuckDB"


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (None, DISMISSED),
        ({"answer": ""}, DISMISSED),
        ({"answer": 1}, "the editor's answer was not understood"),
        ("Postgres", "the editor's answer was not understood"),
    ],
)
def test_invalid_answer_is_an_error_for_the_model(
    project: Project, provider: ScriptedProvider, result: Json, expected: str
) -> None:
    provider.script("m-asker", Says(calls=[WHICH]), Says("done"))
    run(project, ASKS, {"axe/ask": result})
    assert told(provider) == expected


def test_no_answer_in_time_withdraws_the_question(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-asker", Says(calls=[WHICH]), Says("done"))
    editor = run(project, ASKS, {"axe/ask": NEVER}, approvalTimeout=1)
    assert told(provider) == "the user did not answer within 1 s"
    requests = [it["id"] for it in editor.client.received if it.get("method") == "axe/ask"]
    assert [it["id"] for it in asked(editor, "$/cancelRequest")] == requests


def test_an_agent_in_a_process_of_its_own_asks_the_client_of_its_root(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", Says(calls=[calls_agent("apart", "go")]), Says("done"))
    provider.script("m-apart", Says(calls=[OPEN]), Says("well"))
    with project.editor(capabilities=ASKS) as editor:
        editor.client.answer_with["axe/ask"] = lambda _: {"answer": "DuckDB"}
        root = editor.client.request("axe/run", {"agent": "lead"})["runId"]
        (question,) = asked(editor, "axe/ask")
    assert (question["agent"], question["depth"]) == ("apart", 1)
    assert (question["rootRunId"], question["parentRunId"]) == (root, root)
    assert told(provider, "apart") == "DuckDB"


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"title": "SQLite"}, "SQLite"),
        ({"title": "No Answer"}, DISMISSED),
        ({"title": "of some other message"}, DISMISSED),
        (None, DISMISSED),
    ],
)
def test_other_clients_show_a_message_with_the_choices(
    project: Project, provider: ScriptedProvider, chosen: Json, expected: str
) -> None:
    provider.script("m-asker", Says(calls=[WHICH]), Says("done"))
    editor = run(project, SHOWS, {"window/showMessageRequest": chosen})
    (message,) = asked(editor, "window/showMessageRequest")
    assert message["message"] == 'agent "asker" asks:\nWhich one?'
    titles = [action["title"] for action in message["actions"]]
    assert titles == ["No Answer", "Postgres", "SQLite"]
    assert told(provider) == expected


def test_default_button_in_emacs_is_no_answer(project: Project, provider: ScriptedProvider) -> None:
    provider.script("m-asker", Says(calls=[WHICH]), Says("done"))
    with project.editor(clientInfo={"name": "Eglot"}, capabilities={}) as editor:
        editor.client.answer_with["window/showMessageRequest"] = lambda params: params["actions"][0]
        editor.client.request("axe/run", {"agent": "asker"})
    assert told(provider) == DISMISSED


@pytest.mark.parametrize(("capabilities", "call"), [(SHOWS, OPEN), ({}, WHICH)])
def test_where_nobody_can_answer_the_model_decides(
    project: Project, provider: ScriptedProvider, capabilities: Json, call: Call
) -> None:
    provider.script("m-asker", Says(calls=[call]), Says("done"))
    editor = run(project, capabilities, {})
    assert told(provider) == NOBODY
    assert asked(editor, "window/showMessage") == []


def test_a_client_that_refuses_to_ask_has_not_answered(
    project: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-asker", Says(calls=[WHICH]), Says("done"))
    run(project, ASKS, {})
    assert told(provider) == "the user could not be asked"
