"""How long a provider wants to be left alone, in all forms in which they say so."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from axe_lsp.runtime.providers.retry_after import jittered, retry_after, told_wait

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("9" * 400, 1e9),
        ("Sat, 21 Nov 2026 12:00:30 GMT", 30.0),
        ("Sat, 21 Nov 2026 12:01:00 -0000", 60.0),
        ("Saturday, 21-Nov-26 12:00:05 GMT", 5.0),
        ("Fri, 20 Nov 2026 12:00:00 GMT", 0.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", 1.5),
        ("1e5", None),
        ("١٢", None),
        ("Sat, 99 Nov 2026 12:00:00 GMT", None),
    ],
)
def test_seconds_and_dates_are_understood(header: str, seconds: float | None) -> None:
    assert retry_after(header, NOW) == seconds


DELAY = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}]
WORDS = "Rate limit reached. Please try again in 1.2s."


def wait(
    headers: dict[str, str], details: Any = None, message: str = "", *, is_limited: bool = True
) -> float | None:
    return told_wait(headers, details, message, NOW, is_limited=is_limited)


def test_the_forms_have_an_order() -> None:
    headers = {
        "retry-after-ms": "250",
        "retry-after": "20",
        "x-ratelimit-reset-requests": "6m0s",
    }
    found = []
    for gone in ("", "retry-after-ms", "retry-after"):
        headers.pop(gone, None)
        found.append(wait(headers, DELAY, WORDS))
    found += [wait(headers, None, WORDS), wait({}, None, WORDS), wait({}, None, "later")]
    assert found == [0.25, 20, 7, 360, 1.2, None]


def test_anthropic_names_the_moment_at_which_a_limit_is_reset() -> None:
    headers = {
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": (NOW + timedelta(seconds=9)).isoformat(),
        "anthropic-ratelimit-tokens-remaining": "0",
        "anthropic-ratelimit-tokens-reset": f"{NOW + timedelta(seconds=20):%Y-%m-%dT%H:%M:%S}Z",
        "anthropic-ratelimit-input-tokens-remaining": "5",
        "anthropic-ratelimit-input-tokens-reset": f"{NOW + timedelta(hours=1):%Y-%m-%dT%H:%M:%S}Z",
        "anthropic-ratelimit-output-tokens-remaining": "0",
        "anthropic-ratelimit-output-tokens-reset": "soon",
    }
    assert wait(headers) == 20
    assert wait(headers, is_limited=False) is None
    assert wait({**headers, "retry-after": "3"}) == 3


def test_what_nobody_can_read_is_passed_over() -> None:
    assert wait({"retry-after-ms": "soon", "retry-after": "2"}) == 2
    assert wait({"retry-after": "soon"}, [None, {"retryDelay": 7}, *DELAY]) == 7
    assert wait({"x-ratelimit-reset-tokens": "soon"}, {"retryDelay": "7s"}, WORDS) == 1.2


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"reset-requests": "1s"}, 1),
        ({"reset-requests": "1s", "reset-tokens": "20ms"}, 1),
        ({"reset-requests": "1s", "reset-tokens": "20ms", "remaining-tokens": "0"}, 0.02),
        ({"reset-tokens": "1h2m3s", "remaining-requests": "5"}, 3723),
    ],
)
def test_the_limit_that_is_used_up_says_when_it_is_reset(
    headers: dict[str, str], seconds: float
) -> None:
    named = {f"x-ratelimit-{name}": value for name, value in headers.items()}
    assert wait(named) == pytest.approx(seconds)
    assert wait(named, is_limited=False) is None


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Please try again in 20ms.", 0.02),
        ("try again in 6m0s. Visit us", 360),
        ("Please retry in 37.5s", 37.5),
        ("Try again in 12 seconds", 12),
        ("Retry after 3 sec", 3),
        ("try again in a while", None),
        ("try again in 5 minutes or never", None),
    ],
)
def test_a_message_may_name_the_wait(message: str, seconds: float | None) -> None:
    assert wait({}, None, message) == seconds


def test_those_that_are_refused_together_do_not_come_back_together() -> None:
    assert (jittered(8, lambda: 0), jittered(8, lambda: 1)) == (8, 10)
    assert all(8 <= jittered(8) <= 10 for _ in range(100))
    assert len({jittered(8) for _ in range(20)}) > 1
