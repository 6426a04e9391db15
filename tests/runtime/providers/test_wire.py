"""JSON from outside and addresses."""

from __future__ import annotations

import pytest

from axe_lsp.runtime.providers.wire import Node, WireError, address, parse_json, to_json


def test_bytes_that_are_not_utf8_become_replacement_characters() -> None:
    assert parse_json(b'"a\xffb\xe2\x82z"') == "a\ufffdb\ufffdz"


def test_lone_surrogates_become_replacement_characters_wherever_they_are() -> None:
    text = '{"k\\ud83d": ["a\\ud83dz", "\\ud83d\\ude00"]}'
    assert parse_json(text) == {"k\ufffd": ["a\ufffdz", "😀"]}


@pytest.mark.parametrize(
    "text",
    ["", "<html>", "{} trailing", '{"x": NaN}', '{"x": -Infinity}', '{"x": 1e999}', "[" * 100_000],
)
def test_what_is_not_json_is_a_wire_error(text: str) -> None:
    with pytest.raises(WireError) as caught:
        parse_json(text)
    assert str(caught.value)


def test_of_a_key_that_is_given_twice_the_last_one_counts() -> None:
    assert parse_json('{"a": 1, "a": 2}') == {"a": 2}


def test_surrogates_of_our_own_can_be_sent() -> None:
    assert to_json({"name": "a\udcffb"}) == '{"name":"a\ufffdb"}'


def test_infinity_is_not_sent() -> None:
    with pytest.raises(ValueError, match="JSON"):
        to_json({"temperature": float("inf")})


def test_what_is_absent_or_null_is_empty() -> None:
    node = Node({"a": None})
    assert node["a"]["b"].text() == ""
    assert node["x"].items() == []
    assert node["x"].integer() == 0
    assert node["a"].table() == {}


@pytest.mark.parametrize(
    ("value", "read", "message"),
    [
        (5, "text", "response.x is not a string"),
        ("5", "integer", "response.x is not an integer"),
        (True, "integer", "response.x is not an integer"),
        (1.5, "integer", "response.x is not an integer"),
        ([], "table", "response.x is not an object"),
        ({}, "items", "response.x is not an array"),
    ],
)
def test_a_wrong_type_is_named_with_its_place(value: object, read: str, message: str) -> None:
    with pytest.raises(WireError) as caught:
        getattr(Node({"x": value})["x"], read)()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("base", "path", "url"),
    [
        ("http://h:1", "v1/chat/completions", "http://h:1/v1/chat/completions"),
        ("http://h:1/", "v1/chat/completions", "http://h:1/v1/chat/completions"),
        ("https://api.x.com/v1", "v1/chat/completions", "https://api.x.com/v1/chat/completions"),
        ("https://api.x.com/v1/", "v1/messages", "https://api.x.com/v1/messages"),
        ("https://x/anthropic", "v1/messages", "https://x/anthropic/v1/messages"),
        ("http://localhost:11434", "api/chat", "http://localhost:11434/api/chat"),
        ("http://localhost:11434/api", "api/chat", "http://localhost:11434/api/chat"),
        ("http://localhost:11434/api/chat", "api/chat", "http://localhost:11434/api/chat"),
        ("https://api.x.com/v1/messages", "v1/messages", "https://api.x.com/v1/messages"),
        ("https://x.com/api/messages", "v1/messages", "https://x.com/api/messages/v1/messages"),
    ],
)
def test_a_base_may_end_with_a_slash_or_with_the_version(base: str, path: str, url: str) -> None:
    assert address(base, path) == url


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://api.x.com/v3", "https://api.x.com/v3/chat/completions"),
        ("https://x.com/v1beta/openai/", "https://x.com/v1beta/openai/chat/completions"),
        ("https://x.com/v1/acct/openai", "https://x.com/v1/acct/openai/chat/completions"),
        ("https://x.com/openai", "https://x.com/openai/v1/chat/completions"),
        ("https://v2.x.com", "https://v2.x.com/v1/chat/completions"),
        ("https://x.com/very", "https://x.com/very/v1/chat/completions"),
        ("https://x.com/v1/chat/completions", "https://x.com/v1/chat/completions"),
        ("https://x.com/v1/chat/completions/?a=b", "https://x.com/v1/chat/completions?a=b"),
        ("https://x.com/v1beta/openai/chat/completions",) * 2,
        ("https://x.com/openai/deployments/d/chat/completions",) * 2,
        ("https://x.com/v1/responses", "https://x.com/v1/chat/completions"),
        ("https://x.com/chat", "https://x.com/chat/v1/chat/completions"),
        ("https://x.com/api/chat", "https://x.com/api/chat/v1/chat/completions"),
        ("https://x.com/v1/chat", "https://x.com/v1/chat/chat/completions"),
        ("https://api.x.com/chat/completions",) * 2,
        ("https://api.x.com/chat/completions/?a=b", "https://api.x.com/chat/completions?a=b"),
    ],
)
def test_a_base_may_have_a_version_of_its_own(base: str, url: str) -> None:
    assert address(base, "v1/chat/completions", any_version=True) == url
