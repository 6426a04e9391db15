"""How long a provider wants to be left alone: the `Retry-After` header (RFC 9110, 10.2.3)."""

from __future__ import annotations

from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

_LONGEST = 1e9
"""Seconds, some thirty years. What is longer, as far as infinity, is as good as that."""


def retry_after(header: str, now: datetime) -> float | None:
    """The seconds that the header asks for, None if there is none or nobody can read it.

    It holds whole seconds, or a date in UTC. A date that is past asks for no wait.
    """
    text = header.strip()
    if text.isascii() and text.isdigit():
        return min(float(text), _LONGEST)
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=timezone.utc)
    return max(0.0, (date - now).total_seconds())
