"""Streamed answers: equal to whole ones, and robust against everything that can be cut or spoiled."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.messages import Response
from axe_lsp.runtime.providers.wire import WireError, parse_json
from support.answers import (
    DIALECTS,
    Call,
    Dialect,
    Says,
    calls_agent,
    stream_chunks,
    whole_body,
)
from support.bodies import FORMATS

RICH = Says(
    "Line one\nline “two” \u2028 and \x85 so on 😀",
    [calls_agent("helper", "do it\nwell", call_id="a"), Call("other", {"n": [1, None]}, "b")],
    usage=(12, 34),
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
calls = st.lists(
    st.builds(
        Call,
        st.sampled_from(["call_agent", "x"]),
        st.dictionaries(texts, st.one_of(texts, st.integers(), st.none()), max_size=3),
        st.just("id"),
    ),
    max_size=3,
)


def decode_stream(dialect: Dialect, data: bytes) -> tuple[Response, str]:
    """Return the answer and the text that came along the way."""
    decoder = FORMATS[dialect].stream_decoder()
    if FORMATS[dialect].SHAPE.is_binary:
        pieces = [data[start : start + 100] for start in range(0, len(data), 100)]
    else:
        *lines, rest = data.split(b"\n")
        pieces = [line.removesuffix(b"\r") for line in (*lines, *([rest] if rest else []))]
    deltas = [decoder.feed(piece) for piece in pieces]
    return decoder.finish(), "".join(delta.text for delta in deltas)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(text=texts, calls=calls)
def test_a_streamed_answer_equals_the_whole_one(
    dialect: Dialect, text: str, calls: list[Call]
) -> None:
    says = Says(text, calls)
    streamed, deltas = decode_stream(dialect, b"".join(stream_chunks(dialect, says, "m")))
    whole = FORMATS[dialect].decode(parse_json(json.dumps(whole_body(dialect, says, "m"))))
    assert streamed == whole
    assert deltas == whole.content == text


@pytest.mark.parametrize(
    "dialect", [each for each in DIALECTS if not FORMATS[each].SHAPE.is_binary]
)
def test_carriage_returns_at_line_ends_change_nothing(dialect: Dialect) -> None:
    data = b"".join(stream_chunks(dialect, RICH, "m"))
    assert decode_stream(dialect, data.replace(b"\n", b"\r\n")) == decode_stream(dialect, data)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_stream_that_is_cut_anywhere_is_an_error_or_complete(dialect: Dialect) -> None:
    data = b"".join(stream_chunks(dialect, RICH, "m"))
    complete, text = decode_stream(dialect, data)
    outcomes = set()
    for end in range(len(data)):
        try:
            response, deltas = decode_stream(dialect, data[:end])
        except WireError:
            outcomes.add("error")
            continue
        outcomes.add("answer")
        assert (response.content, response.tool_calls) == (complete.content, complete.tool_calls)
        assert deltas == text
    assert "error" in outcomes


@pytest.mark.parametrize("dialect", DIALECTS)
@given(place=st.integers(0), byte=st.integers(0, 255))
def test_a_spoiled_byte_is_no_accident(dialect: Dialect, place: int, byte: int) -> None:
    data = bytearray(b"".join(stream_chunks(dialect, RICH, "m")))
    data[place % len(data)] = byte
    with suppress(WireError, ProviderError):  # But nothing else.
        decode_stream(dialect, bytes(data))


@pytest.mark.parametrize("dialect", DIALECTS)
@given(lines=st.lists(st.binary(max_size=40), max_size=5))
def test_garbage_is_an_error(dialect: Dialect, lines: list[bytes]) -> None:
    prefix = b"" if dialect == "ollama" else b"data: "
    with pytest.raises((WireError, ProviderError)):
        decode_stream(dialect, b"\n\n".join(prefix + line for line in lines))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(value=json_values, data=st.data())
def test_a_value_of_the_wrong_type_anywhere_is_no_accident(
    dialect: Dialect, value: object, data: st.DataObject
) -> None:
    body = json.loads(json.dumps(whole_body(dialect, RICH, "m")))
    place = data.draw(st.sampled_from(_places(body)))
    _put(body, place, value)
    with suppress(WireError, ProviderError):  # But nothing else.
        assert isinstance(FORMATS[dialect].decode(body).content, str)


def test_an_overloaded_provider_says_so_in_the_stream() -> None:
    decoder = FORMATS["anthropic"].stream_decoder()
    error = {"type": "overloaded_error", "message": "Overloaded"}
    decoder.feed(f"data: {json.dumps({'type': 'error', 'error': error})}".encode())
    with pytest.raises(ProviderError, match="overloaded: Overloaded"):
        decoder.feed(b"")


def _places(value: object, place: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """Return the paths to everything inside a JSON value."""
    if isinstance(value, dict):
        inner = [path for key, item in value.items() for path in _places(item, (*place, key))]
    elif isinstance(value, list):
        inner = [path for i, item in enumerate(value) for path in _places(item, (*place, i))]
    else:
        inner = []
    return inner + ([place] if place else [])


def _put(body: object, place: tuple[object, ...], value: object) -> None:
    for step in place[:-1]:
        body = body[step]  # type: ignore[index] # any JSON value
    body[place[-1]] = value  # type: ignore[index] # any JSON value
