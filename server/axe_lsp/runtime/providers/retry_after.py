"""The time that a provider asks to wait: every form in which providers say so, in order of precedence.

The official SDKs of OpenAI and Anthropic read `retry-after-ms` before `Retry-After`. The other forms are
Gemini's `google.rpc.RetryInfo`, the rate limit headers of OpenAI, Anthropic and OpenRouter, and the words
of messages.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timezone

from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.messages import Json
from axe_lsp.tasks import loop_time

LONGEST = 1e9
"""Seconds, some thirty years. What is longer, as far as infinity, is as good as that."""

LONGEST_WAIT = 600.0
"""Seconds that a run without a timeout waits for a provider."""

_JITTER = 0.25
"""The largest part of a wait that chance adds to it."""

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}

_PART = r"\d{1,12}(?:\.\d{1,12})?(?:ms|[smhd])"
_DURATION = rf"(?:{_PART})+"
_AGAIN_IN = rf"(?i)(?:try again|retry) (?:in|after) ((?:{_PART})+)(?![a-z])"
_AGAIN_IN_SECONDS = (
    r"(?i)(?:try again|retry) (?:in|after) (\d{1,12}(?:\.\d{1,12})?) ?sec(?:ond)?s?\b"
)
_NUMBER = r"\d{1,400}(?:\.\d{1,400})?"


def told_wait(
    headers: Mapping[str, str], details: Json, message: str, now: datetime, *, is_limited: bool
) -> float | None:
    """Return the seconds that a refusal asks for, None if it names none.

    `headers` have names in lower case or ignore the case. `details` is the list of that name in a
    Gemini error. Rate limit headers come with every answer of some services: they ask for a wait
    only where the refusal `is_limited`, that is, where it is about a rate limit.
    """
    waits = (
        _milliseconds(headers.get("retry-after-ms", "")),
        retry_after(headers.get("retry-after", ""), now),
        _retry_delay(details),
        _reset(headers) if is_limited else None,
        _moment_of_reset(headers, now) if is_limited else None,
        _second_of_reset(headers, now) if is_limited else None,
        _in_words(message),
    )
    return next((wait for wait in waits if wait is not None), None)


def jittered(seconds: float, chance: Callable[[], float] = random.random) -> float:
    """Return a wait with up to a quarter more: those that were refused together do not come back together."""
    return seconds * (1 + _JITTER * chance())


def last_moment(deadline: float) -> float:
    """Return the time of the event loop's clock until which a run may wait; a `deadline` may be infinite."""
    return deadline if deadline < math.inf else loop_time() + LONGEST_WAIT


def too_late(refusal: ProviderError, wait: float, left: float) -> ProviderError:
    """Return the refusal of a request for which there is no time to send it again, which says so."""
    return refusal.reworded(
        f"{refusal.message} (it could be sent again in {_shown(wait)}, "
        f"and this run may wait no longer than {_shown(left)})"
    )


def _shown(seconds: float) -> str:
    return f"{max(seconds, 0):.3g}s" if seconds < 1 else f"{math.ceil(seconds)}s"


def retry_after(header: str, now: datetime) -> float | None:
    """Return the seconds that a `Retry-After` header asks for (RFC 9110, 10.2.3), None if there are none.

    It holds seconds, of some services with a fraction, or a date in UTC. A past date asks for no wait.
    """
    seconds = _number(header)
    if seconds is not None:
        return seconds
    from email.utils import parsedate_to_datetime

    try:
        date = parsedate_to_datetime(header.strip())
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=timezone.utc)
    return max(0.0, (date - now).total_seconds())


def _milliseconds(header: str) -> float | None:
    number = _number(header)
    return None if number is None else number / 1000


def _number(text: str) -> float | None:
    text = text.strip()
    is_number = text.isascii() and re.fullmatch(_NUMBER, text)
    return min(float(text), LONGEST) if is_number else None


def _retry_delay(details: Json) -> float | None:
    """Return the seconds of `{"retryDelay": "7s"}` in the details of a Gemini error, None if there is none."""
    entries = details if isinstance(details, list) else []
    delays = (entry.get("retryDelay") for entry in entries if isinstance(entry, dict))
    return next((wait for delay in delays if (wait := _duration(delay)) is not None), None)


def _reset(headers: Mapping[str, str]) -> float | None:
    """Return when the limits are reset that are used up; the later of both if the headers don't say which."""
    names = {kind: headers.get(f"x-ratelimit-reset-{kind}") for kind in ("requests", "tokens")}
    resets = {k: wait for k, text in names.items() if (wait := _duration(text)) is not None}
    used_up = [kind for kind in resets if headers.get(f"x-ratelimit-remaining-{kind}") == "0"]
    return max((resets[kind] for kind in used_up or resets), default=None)


def _moment_of_reset(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the same of Anthropic's headers, which name a moment (RFC 3339)."""
    prefix = "anthropic-ratelimit-"
    waits = []
    for kind in ("requests", "tokens", "input-tokens", "output-tokens"):
        if headers.get(f"{prefix}{kind}-remaining") == "0":
            with suppress(ValueError, TypeError):
                text = headers.get(f"{prefix}{kind}-reset", "").strip()
                moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
                waits.append(max(0.0, (moment - now).total_seconds()))
    return max(waits, default=None)


_MILLISECONDS = re.compile(r"[0-9]{13}")
"""A moment of this century. What has fewer digits are seconds, or a duration whose unit nobody tells."""


def _second_of_reset(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the same of OpenRouter, which names a moment in milliseconds since 1970."""
    text = headers.get("x-ratelimit-reset", "").strip()
    if headers.get("x-ratelimit-remaining") != "0" or not _MILLISECONDS.fullmatch(text):
        return None
    return max(0.0, int(text) / 1000 - now.timestamp())


def _in_words(message: str) -> float | None:
    """Return the seconds of `Please try again in 1.2s.` in a message, None if there are none."""
    found = re.search(_AGAIN_IN, message)
    if found:
        return _duration(found[1].lower())
    found = re.search(_AGAIN_IN_SECONDS, message)
    return _number(found[1]) if found else None


def _duration(text: Json) -> float | None:
    """Return the seconds of a duration in the form of Go and protobuf: `7s`, `1.5s`, `6m0s`, `20ms`."""
    if not isinstance(text, str) or not re.fullmatch(_DURATION, text.strip()):
        return None
    parts = re.findall(r"([\d.]+)(ms|[smhd])", text)
    return min(sum(float(number) * _UNITS[unit] for number, unit in parts), LONGEST)
