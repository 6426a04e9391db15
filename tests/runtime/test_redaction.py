"""Secrets out of texts."""

from __future__ import annotations

import pytest

from axe_lsp.runtime.redaction import redact


def test_known_secrets_go_the_longest_first() -> None:
    secrets = {"secret-one", "secret-one-and-more"}
    assert redact("a secret-one-and-more b secret-one c", secrets) == "a [redacted] b [redacted] c"


def test_placeholders_are_no_secrets() -> None:
    assert redact("the test is a test", {"test", ""}) == "the test is a test"


@pytest.mark.parametrize(
    "key",
    [
        "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA_-x",
        "sk-proj-0123456789abcdefghij",
        "AIzaSyA0123456789abcdefghijklmnopqrstuv",
        "ghp_0123456789abcdefghij0123456789abcdef",
        "AKIAIOSFODNN7EXAMPLE",
        "Bearer abcdefghijklmnop0123456789",
        "xoxb-1234567890-abcdef",
    ],
)
def test_what_looks_like_a_key_goes(key: str) -> None:
    assert redact(f"before {key} after") == "before [redacted] after"


@pytest.mark.parametrize(
    "text",
    ["task-force of sk-8 people", "the bearer of bad news", "sk-short", "AKIA is not a word"],
)
def test_what_only_resembles_one_stays(text: str) -> None:
    assert redact(text) == text
