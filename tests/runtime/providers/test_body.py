"""The bytes of growing conversations: the same as if each request were encoded for itself."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from axe_lsp.runtime.messages import Message, Request, Tool, ToolCall, ToolResult
from axe_lsp.runtime.providers.body import encode_body
from axe_lsp.runtime.providers.restrictions import Restrictions
from support.answers import DIALECTS, Dialect
from support.bodies import FORMATS, path_tells_streams

texts = st.text(max_size=20)
rounds = st.lists(
    st.tuples(texts, st.dictionaries(texts, texts, max_size=2), st.lists(texts, min_size=1)),
    max_size=4,
)


def history(said: list[tuple[str, dict[str, str], list[str]]]) -> list[Message]:
    messages = [Message("user", "ask")]
    for text, arguments, results in said:
        calls = tuple(ToolCall(str(i), "t", arguments) for i, _ in enumerate(results))
        answers = tuple(ToolResult(str(i), result) for i, result in enumerate(results))
        messages += [Message("assistant", text, calls), Message("tool", tool_results=answers)]
    return messages


def request(messages: list[Message], system: str = "s") -> Request:
    return Request("m", tuple(messages), system, tools=(Tool("t", "d"),))


@pytest.mark.parametrize("current", [False, True])
@pytest.mark.parametrize("dialect", DIALECTS)
@given(said=rounds, system=texts)
def test_a_request_that_grows_is_as_one_that_is_new(
    dialect: Dialect, current: bool, said: list[tuple[str, dict[str, str], list[str]]], system: str
) -> None:
    wire_format, restrictions = FORMATS[dialect], Restrictions(current)
    messages = history(said)
    growing = request(messages[:1], system)
    for end in range(1, len(messages) + 1, 2):
        growing = replace(growing, messages=tuple(messages[:end]))
        fresh = request(messages[:end], system)
        assert encode_body(wire_format, growing, False, restrictions) == encode_body(
            wire_format, fresh, False, restrictions
        )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_change_of_what_is_asked_is_sent(dialect: Dialect) -> None:
    first = request(history([("", {}, ["r"])]))
    variants = [
        first,
        replace(first, temperature=0.1),
        replace(first, system="other"),
        replace(first, tools=()),
        replace(first, max_tokens=3),
        replace(first, messages=first.messages[:1]),
        replace(first, messages=(Message("user", "else"), *first.messages[1:])),
        first,
    ]
    for variant in variants:
        sent = encode_body(FORMATS[dialect], variant, stream=False)
        alone = encode_body(FORMATS[dialect], replace(variant, kept={}), stream=False)
        assert sent == alone
    if not path_tells_streams(dialect):
        streamed = json.loads(encode_body(FORMATS[dialect], first, stream=True))
        assert streamed["stream"] is True


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_was_sent_is_the_beginning_of_what_is_sent_next(dialect: Dialect) -> None:
    """To the byte, as prompt caches want it; marks aside, which are no part of the prompt."""
    messages = history([("hm", {"a": "b"}, ["r1", "r2"]), ("", {}, ["r3"])])
    growing = request(messages[:3])
    before = encode_body(FORMATS[dialect], growing, stream=False)
    after = encode_body(
        FORMATS[dialect],
        replace(growing, messages=tuple(messages)),
        stream=False,
        restrictions=None,
    )
    if not FORMATS[dialect].SHAPE.cache_mark:
        assert after.startswith(before.removesuffix(b"]}"))
    else:
        mark = FORMATS[dialect].SHAPE.cache_mark
        assert _unmarked(after, mark)["messages"][:3] == _unmarked(before, mark)["messages"]


def _unmarked(body: bytes, mark: bytes) -> dict[str, list[object]]:
    unmarked: dict[str, list[object]] = json.loads(body.replace(mark, b""))
    return unmarked


@pytest.mark.parametrize(
    ("dialect", "most"), [("openai", 1), ("ollama", 1), ("anthropic", 2), ("bedrock", 2)]
)
def test_a_long_run_encodes_no_message_again(dialect: Dialect, most: int) -> None:
    """Twice with Anthropic: with the mark of the last turns, and without."""
    encoded: Counter[int] = Counter()
    wire_format = FORMATS[dialect]

    class Counting:
        def __getattr__(self, name: str) -> Any:
            return getattr(wire_format, name)

        def encode_message(self, message: Message, marked: bool) -> list[Any]:
            encoded[id(message)] += 1
            return wire_format.encode_message(message, marked)

    messages = history([("", {}, ["r" * 100])] * 49)
    growing = request(messages[:1])
    for end in range(1, len(messages) + 1, 2):
        growing = replace(growing, messages=tuple(messages[:end]))
        encode_body(Counting(), growing, stream=False, restrictions=Restrictions(current=True))
    assert len(encoded) == len(messages)
    assert max(encoded.values()) == most
