"""The `Retry-After` header, as RFC 9110 writes it and as others do."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from axe_lsp.runtime.providers.retry_after import retry_after

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
        ("1.5", None),
        ("١٢", None),
        ("Sat, 99 Nov 2026 12:00:00 GMT", None),
    ],
)
def test_seconds_and_dates_are_understood(header: str, seconds: float | None) -> None:
    assert retry_after(header, NOW) == seconds
