"""`axe-lsp run NAME --continue`: a further message in the conversation of a completed run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.answers import Call, Says
from support.command_line import Home
from support.scripted_provider import Refuses, ScriptedProvider

SOLO = 'name = "solo"\nmodel = "anthropic/m"\ntools = ["read_file"]\nsystem_prompt = "Be brief."\n'


@pytest.fixture
def former(home: Home, provider: ScriptedProvider) -> dict[str, Any]:
    """Return a completed run that has thought, read a file and answered."""
    home.add({"solo": SOLO})
    (home.work / "note.txt").write_text("x" * 60_000)
    reads = Call("read_file", {"path": "note.txt"})
    provider.script("m", Says("I look.", calls=[reads], thinking="Hm."), Says("It is x."))
    assert home.call("run", "solo", "-p", "What is it?")[0] == 0
    return newest(home)


def test_the_conversation_goes_on_with_an_identical_beginning(
    home: Home, provider: ScriptedProvider, former: dict[str, Any]
) -> None:
    home.add({"solo": SOLO.replace("Be brief.", "Be long.")})  # It counts for new runs alone.
    before = provider.requests[-1].body
    provider.script("m", Says("Sixty thousand."), Says("Yes."))

    assert home.call("run", "solo", "--continue", "-p", "How often?") == (0, "Sixty thousand.", "")
    assert home.call("run", "solo", "-p", "Sure?", "--continue") == (0, "Yes.", "")

    first, second = (request.body for request in provider.requests[-2:])
    assert without_marks(first["messages"][:3]) == without_marks(before["messages"])
    assert without_marks(second["messages"][:5]) == without_marks(first["messages"])
    assert texts(second) == ["What is it?", "It is x.", "How often?", "Sixty thousand.", "Sure?"]
    for body in (first, second):
        assert without_marks(body["tools"]) == without_marks(before["tools"])
        assert "Be brief." in json.dumps(body["system"])
    run = newest(home)
    assert (run["turns"], run["task"], run["status"]) == (1, "Sure?", "completed")
    assert run["runId"] != former["runId"]


def test_a_run_that_is_named_is_continued_and_the_new_one_says_so(
    home: Home, provider: ScriptedProvider, former: dict[str, Any]
) -> None:
    provider.script("m", Says("Other."), Says("Go on."))
    home.call("run", "solo", "-p", "Something else")

    assert home.call("run", "solo", "--continue", former["runId"][:8], "-p", "And?")[1] == "Go on."

    assert newest(home)["continues"] == former["runId"]
    shown = home.call("history", "show", newest(home)["runId"])[1]
    assert f"├─ continues {former['runId'][:8]}\n" in shown
    assert "What is it?" in texts(provider.requests[-1].body)


def test_a_continued_run_can_be_resumed(
    home: Home, provider: ScriptedProvider, former: dict[str, Any]
) -> None:
    provider.script("m", Refuses(401), Says("Sixty thousand."))
    assert home.call("run", "solo", "--continue", "-p", "How often?")[0] == 3
    failed = provider.requests[-1].raw

    assert home.call("resume")[:2] == (0, "Sixty thousand.")

    assert provider.requests[-1].raw == failed


def test_another_model_gets_the_conversation_in_plain_words(
    home: Home, provider: ScriptedProvider, former: dict[str, Any]
) -> None:
    provider.script("other", Says("Many."))

    code, out, _ = home.call(
        "run", "solo", "--continue", "--model", "openai/other", "-p", "How often?"
    )

    assert (code, out) == (0, "Many.")
    sent = json.dumps(provider.requests[-1].body)
    assert "It is x." in sent
    assert "signature" not in sent


def test_the_answer_of_a_typed_agent_is_continued_as_it_was_given(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add({"solo": f'{SOLO}[output]\ntype = "object"\n'})
    provider.script("m", Says("no"), Says('{ "a": 1 }'), Says('{"a": 2}'))
    assert home.call("run", "solo", "-p", "Count.")[1] == '{"a":1}'

    assert home.call("run", "solo", "--continue", "-p", "Again.")[1] == '{"a":2}'

    told = texts(provider.requests[-1].body)
    assert (told[0], told[1], told[-2], told[-1]) == ("Count.", "no", '{ "a": 1 }', "Again.")


def test_what_can_not_be_continued_is_refused_with_the_reason(
    home: Home, provider: ScriptedProvider, former: dict[str, Any]
) -> None:
    home.add({"other": SOLO.replace("solo", "other")})
    run = former["runId"]

    def refused(*arguments: str) -> str:
        code, _, err = home.call("run", *arguments)
        assert (code, len(err.splitlines())) == (2, 1)
        return err

    assert 'is one of agent "solo", not of "other"' in refused(
        "other", "--continue", run, "-p", "x"
    )
    assert "no completed run of agent" in refused("other", "--continue", "-p", "x")
    assert "needs a message" in refused("solo", "--continue")
    provider.script("m", Refuses(401))
    home.call("run", "solo", "-p", "fails")
    failed = newest(home)["runId"]
    assert "resume it first" in refused("solo", "--continue", failed, "-p", "x")
    assert len(provider.requests) == 3


def newest(home: Home) -> dict[str, Any]:
    """Return the newest run of the history."""
    run: dict[str, Any] = json.loads(home.call("history", "list", "--json")[1])[0]
    return run


def texts(body: Any) -> list[str]:
    """Return the texts of the messages, without calls and results."""
    contents = (message["content"] for message in body["messages"])
    blocks = (
        block
        for content in contents
        for block in ([{"type": "text", "text": content}] if isinstance(content, str) else content)
    )
    said = [block["text"] for block in blocks if block["type"] == "text"]
    return [text for text in said if text != "I look."]


def without_marks(value: Any) -> Any:
    """JSON without the marks for the provider's cache, which stand at the end of the conversation."""
    if isinstance(value, list):
        return [without_marks(each) for each in value]
    if isinstance(value, dict):
        return {key: without_marks(each) for key, each in value.items() if key != "cache_control"}
    return value
