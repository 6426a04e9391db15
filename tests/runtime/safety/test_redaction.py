"""Secrets out of texts."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from axe_lsp.runtime.safety import redaction
from axe_lsp.runtime.safety.redaction import StreamRedactor, redact, redacted_table


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


@given(st.from_regex(redaction._KEY_LIKE), st.text(alphabet="a-_ :/@", max_size=8))
def test_whatever_looks_like_a_key_goes_from_any_text(key: str, around: str) -> None:
    text = f"{around} {key} {around}"
    assert redact(text) == re.sub(redaction._KEY_LIKE, redaction.REDACTED, text)
    assert redact(text) != text


def test_names_of_members_go_and_no_member_is_lost() -> None:
    table = {"my-secret-1": 1, "my-secret-2": {"my-secret-1": [{"my-secret-2": "my-secret-1"}]}}
    shown = redacted_table(table, {"my-secret-1", "my-secret-2"})
    assert shown == {
        "[redacted]": 1,
        "[redacted]-2": {"[redacted]": [{"[redacted]": "[redacted]"}]},
    }


@given(
    text=st.lists(st.sampled_from(["ab", "abab-key", "abab-ke", "a", "key", "x"])).map("".join),
    cuts=st.lists(st.integers(0, 200)),
)
def test_a_secret_is_found_across_pieces(text: str, cuts: list[int]) -> None:
    secret = "abab-key"
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    redactor = StreamRedactor(secret)
    shown = [redactor.feed(text[a:b]) for a, b in itertools.pairwise(places)]
    assert "".join(shown) + redactor.rest() == text.replace(secret, "[redacted]")
    assert secret not in "".join(shown)


PARTS = st.sampled_from(
    [
        *("sk-", "sk_", "s", "k", "-", "gsk_", "hf_", "AIza", "ghp_", "github_pat_", "xoxb-"),
        *(
            "AKIA",
            "ASIA",
            "Bearer",
            "Bearer ",
            " ",
            "\n",
            "://",
            "a:b@",
            ":",
            "@",
            "/",
            ".",
            "=",
            "==",
        ),
        *(
            "a",
            "A1" * 8,
            "b-3_" * 6,
            "0123456789" * 3,
            "abab-key",
            "abab-key-longer",
            "abab-ke",
            "é",
        ),
        *("x" * 250, "-longer"),
    ]
)


@settings(max_examples=600, suppress_health_check=[HealthCheck.too_slow])
@given(text=st.lists(PARTS, max_size=12).map("".join), cuts=st.lists(st.integers(0, 4000)))
@example("see sk-" + "a1B2" * 10 + " and Bearer " + "a1B2" * 500 + "== end", list(range(2200)))
@example("abab-key-longer", list(range(20)))
def test_text_in_pieces_is_redacted_as_the_whole_text(text: str, cuts: list[int]) -> None:
    secrets = ("abab-key", "abab-key-longer")
    whole = redact(text, secrets)
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    redactor, shown = StreamRedactor(*secrets, key_like=True), ""
    for a, b in itertools.pairwise(places):
        shown += redactor.feed(text[a:b])
        assert whole.startswith(shown)
    assert shown + redactor.rest() == whole


def test_text_without_end_is_kept_back_only_while_it_may_be_a_key() -> None:
    redactor = StreamRedactor(key_like=True)
    address = "https://" + "a" * 1000
    shown = "".join(redactor.feed(each) for each in address)
    assert len(address) - len(shown) < 10
    assert sum(len(redactor.feed("a1B2")) for _ in range(1000)) > 3900


def test_word_that_begins_no_key_is_shown_at_once() -> None:
    redactor = StreamRedactor(key_like=True)
    assert redactor.feed("The tasks are ") == "The tasks are "
    assert redactor.feed("sk") == ""
    assert redactor.feed("ipped") == "skipped"


def test_what_can_be_no_secret_is_shown_at_once() -> None:
    redactor = StreamRedactor("sk-12345678")
    assert redactor.feed("Hello, ") == "Hello, "
    assert redactor.feed("it's") == "it'"
    assert not redactor.feed("k-123")
    assert redactor.feed("!") == "sk-123!"


def test_a_placeholder_is_shown_in_pieces_too() -> None:
    assert StreamRedactor("test").feed("a test") == "a test"
