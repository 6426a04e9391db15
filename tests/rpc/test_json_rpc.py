"""What counts as a message, and how what doesn't is answered."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.rpc.lsp_json import to_json
from axe_lsp.serving.json_rpc import (
    Invalid,
    Notification,
    Request,
    Response,
    UnsendableError,
    Wire,
    read_message,
    write_message,
)

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def message(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode()


def refuse(value: object) -> object:
    raise TypeError(type(value).__name__)


def test_the_four_kinds_of_message() -> None:
    assert read_message(message(id=1, method="m", params=[2])) == Request(1, "m", [2])
    assert read_message(message(method="m", params={})) == Notification("m", {})
    assert read_message(message(id="a", result=None)) == Response("a", None, None)
    assert read_message(message(id=1, error={"code": 1})) == Response(1, None, {"code": 1})


def test_missing_params_are_none() -> None:
    assert read_message(message(id=1, method="m")) == Request(1, "m", None)
    assert read_message(message(method="m")) == Notification("m", None)


@pytest.mark.parametrize(
    ("body", "code", "answered_id"),
    [
        (b"", -32700, None),
        (b"{", -32700, None),
        (b'"\xff"', -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"1" * 10_000, -32700, None),
        (b"[]", -32600, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"m"}]', -32600, None),
        (b'"text"', -32600, None),
        (b"{}", -32600, None),
        (message(), -32600, None),
        (message(id=7), -32600, 7),
        (message(id=7, method=None), -32600, 7),
        (message(id=7, method=["m"]), -32600, 7),
        (message(id=None, method="m"), -32600, None),
        (message(id=1.5, method="m"), -32600, None),
        (message(id=True, method="m"), -32600, None),
        (message(id={}, method="m"), -32600, None),
        (b'{"id":7,"method":"m"}', -32600, 7),
        (b'{"jsonrpc":"1.0","id":7,"method":"m"}', -32600, 7),
    ],
)
def test_what_is_no_message_says_how_it_is_answered(
    body: bytes, code: int, answered_id: int | None
) -> None:
    found = read_message(body)
    assert isinstance(found, Invalid)
    assert (found.code, found.id) == (code, answered_id)


def test_an_error_without_id_is_not_answered_with_another_one() -> None:
    assert isinstance(read_message(message(id=None, error={"code": -32700})), Response)


@given(st.binary())
def test_no_body_raises(body: bytes) -> None:
    read_message(body)


@given(json_values)
def test_any_json_reaches_the_other_side_unchanged(value: Any) -> None:
    body = write_message({"jsonrpc": "2.0", "method": "m", "params": value}, refuse)
    assert read_message(body) == Notification("m", value)


def test_half_a_surrogate_pair_is_sent_escaped() -> None:
    assert write_message({"text": "\ud83d é"}, refuse) == rb'{"text":"\ud83d \u00e9"}'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}])
def test_what_has_no_form_in_json_is_not_sent(value: object) -> None:
    with pytest.raises(UnsendableError):
        write_message({"value": value}, refuse)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (b'"\\ud83d"', "\ud83d"),
        (b"1e400", float("inf")),
        (b"[Infinity]", [float("inf")]),
        (b"-0", 0),
        (b"1" * 30, int("1" * 30)),
    ],
)
def test_json_is_read_as_liberally_as_python_reads_it(written: bytes, read: Any) -> None:
    body = b'{"jsonrpc": "2.0", "method": "m", "params": %b}' % written
    assert read_message(body) == Notification("m", read)


def test_a_byte_order_mark_before_a_message_is_passed_over() -> None:
    assert read_message(b"\xef\xbb\xbf" + message(method="m")) == Notification("m", None)


class Part(Wire, frozen=True):
    new_text: str
    part: Part | None = None


@pytest.mark.parametrize("text", ["plain", "Gr\u00f6\u00dfe \U0001f600", "half \ud83d", '"\\\n'])
def test_structs_are_sent_with_the_names_of_lsp_and_without_what_is_not_there(text: str) -> None:
    sent = write_message({"id": 1, "result": Part("a", Part(text))}, to_json)
    assert json.loads(sent) == {"id": 1, "result": {"newText": "a", "part": {"newText": text}}}
