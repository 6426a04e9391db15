"""Ids and names of tool calls of former turns, as the service of the next request takes them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.agentfile.schema.providers import WIRES, Wire
from axe_lsp.agentfile.schema.services import SERVICES
from axe_lsp.runtime import plain_text
from axe_lsp.runtime.messages import Message, Request, Tool, ToolCall, ToolResult
from axe_lsp.runtime.providers import former_turns
from axe_lsp.runtime.providers.former_turns import (
    CallRules,
    fitting_name,
    with_former_turns,
)

MISTRAL = next(row.call_ids for row in SERVICES if row.call_ids)
ID_PATTERNS = sorted({*(traits.call_ids for traits in WIRES.values()), MISTRAL})
NAME_PATTERNS = sorted({traits.tool_names for traits in WIRES.values()})

ids = st.one_of(
    st.text(max_size=80),
    st.from_regex("[a-zA-Z0-9]{9}", fullmatch=True),
    st.sampled_from(["call_1", "functions.read:0", "gemini_0", "", "a" * 41, "toolu_" + "b" * 24]),
)


def request(
    calls: Sequence[tuple[str, str]], *, origin: str = "other", offers: str = ""
) -> Request:
    """Return a conversation in which each turn has one call, given by its id and name."""
    messages = [Message("user", "go")]
    for call_id, name in calls:
        messages.append(Message("assistant", "", (ToolCall(call_id, name),), origin=origin))
        messages.append(Message("tool", tool_results=(ToolResult(call_id, "r", name=name),)))
    return Request("m", tuple(messages), tools=(Tool(offers, ""),) if offers else ())


def sent(made: Request) -> list[tuple[str, str]]:
    """Return the id and the name of each call, which are those of its result."""
    calls = [call for message in made.messages for call in message.tool_calls]
    results = [result for message in made.messages for result in message.tool_results]
    pairs = [(call.id, call.name) for call in calls]
    assert [(result.call_id, result.name) for result in results] == pairs
    return pairs


def rules(ids: str, names: str = ".*", **more: bool) -> CallRules:
    return CallRules("here", ids, names, **more)


@pytest.mark.parametrize("pattern", ID_PATTERNS)
@given(given_ids=st.lists(ids, max_size=8))
def test_ids_of_another_model_fit_and_are_unique(pattern: str, given_ids: list[str]) -> None:
    made = with_former_turns(request([(each, "f") for each in given_ids]), rules(pattern))
    new = [call_id for call_id, _ in sent(made)]
    assert len(set(new)) == len(new)
    assert all(re.fullmatch(pattern, each) for each in new)


@pytest.mark.parametrize("pattern", ID_PATTERNS)
@given(given_ids=st.lists(ids, unique=True, max_size=8))
def test_fitting_ids_stay_byte_for_byte(pattern: str, given_ids: list[str]) -> None:
    made = with_former_turns(request([(each, "f") for each in given_ids]), rules(pattern))
    for (new, _), old in zip(sent(made), given_ids, strict=True):
        if re.fullmatch(pattern, old):
            assert new == old


@pytest.mark.parametrize("pattern", ID_PATTERNS)
@given(given_ids=st.lists(ids, max_size=8), count=st.integers(0, 8))
def test_ids_do_not_depend_on_later_turns(pattern: str, given_ids: list[str], count: int) -> None:
    whole = sent(with_former_turns(request([(each, "f") for each in given_ids]), rules(pattern)))
    beginning = request([(each, "f") for each in given_ids[:count]])
    assert sent(with_former_turns(beginning, rules(pattern))) == whole[:count]


@pytest.mark.parametrize("pattern", NAME_PATTERNS)
@given(names=st.lists(st.text(max_size=200), unique=True, max_size=8))
def test_names_of_unknown_tools_fit_and_stay_apart(pattern: str, names: list[str]) -> None:
    new = [fitting_name(name, pattern) for name in names]
    assert len(set(new)) == len(new)
    for old, name in zip(names, new, strict=True):
        assert re.fullmatch(pattern, name)
        assert name == old or not re.fullmatch(pattern, old)


def test_encoded_id_depends_on_id_alone() -> None:
    alone = request([("functions.read:0", "f")])
    second = request([("functions.edit:0", "f"), ("functions.read:0", "f")])
    assert (
        sent(with_former_turns(alone, rules(MISTRAL)))[0]
        == sent(with_former_turns(second, rules(MISTRAL)))[1]
    )


def test_same_id_in_all_turns_takes_one_digest_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    digested: list[str] = []

    def short_digest(text: str) -> str:
        digested.append(text)
        return plain_text.short_digest(text)

    monkeypatch.setattr(former_turns, "short_digest", short_digest)
    made = with_former_turns(request([("gemini_0", "f")] * 200), rules(MISTRAL))
    assert len({*sent(made)}) == 200
    assert len(digested) == 200


def test_own_ids_go_back_as_they_came() -> None:
    own = [("functions.read:0", "f"), ("a" * 90, "f"), ("same", "f"), ("same", "f")]
    asked = request(own, origin="here")
    assert with_former_turns(asked, rules("[a-z]{1,40}")) is asked


def test_own_id_changes_where_another_call_has_it_already() -> None:
    before = request([("call_1", "f")])
    own = request([("call_1", "f")], origin="here").messages[1:]
    both = with_former_turns(
        Request("m", (*before.messages, *own)), rules(WIRES["openai-chat"].call_ids)
    )
    (first, _), (second, _) = sent(both)
    assert (first, second != "call_1") == ("call_1", True)


def test_own_ids_of_mistral_are_checked_too() -> None:
    made = with_former_turns(
        request([("chatcmpl-tool-1", "f")], origin="here"), rules(MISTRAL, checks_own_ids=True)
    )
    assert re.fullmatch(MISTRAL, sent(made)[0][0])


@pytest.mark.parametrize("wire", WIRES)
def test_own_call_of_an_unknown_tool_gets_a_name_that_the_service_takes(wire: Wire) -> None:
    pattern = WIRES[wire].tool_names
    name = "view file\" path='a'"
    made = with_former_turns(request([("c1", name)], origin="here"), rules("c1", pattern))
    assert re.fullmatch(pattern, sent(made)[0][1])
    assert (sent(made)[0][1] == name) is (wire == "ollama")


def test_name_of_an_offered_tool_stays() -> None:
    asked = request([("c1", "my.tool")], origin="here", offers="my.tool")
    assert with_former_turns(asked, rules("c1", "[a-z]+")) is asked


def test_former_turns_are_the_same_objects_in_each_request() -> None:
    asked = request([("a.b", "f")])
    first, second = (with_former_turns(asked, rules("[a-z0-9]{9}")) for _ in range(2))
    assert all(one is two for one, two in zip(first.messages, second.messages, strict=True))


def test_thoughts_of_another_model_are_left_out() -> None:
    signed = [{"type": "thinking", "thinking": "hm", "signature": "s"}]
    answers = [
        Message("assistant", "x", original=signed, origin=each) for each in ("here", "there")
    ]
    asked = Request("m", (Message("user", "go"), *answers))
    own, foreign = with_former_turns(asked, rules(".*")).messages[1:]
    assert (own.original, foreign.original) == (signed, None)
