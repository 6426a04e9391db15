"""The one place where events of a tree get their number and their time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from functools import lru_cache
from itertools import count

from msgspec.structs import force_setattr

from axe_lsp.runtime.events import Event, EventSink


class Journal:
    """Numbers the events of one root run and passes them on, in the order in which they happen.

    `on_event` is called for each.
    """

    def __init__(
        self,
        sink: EventSink,
        numbers: Iterator[int] | None = None,
        on_event: Callable[[], object] = bool,
    ) -> None:
        self._sink = sink
        self._numbers = numbers or count(1)
        self._on_event = on_event

    def watched(self, on_event: Callable[[], object]) -> Journal:
        """The same journal for somebody whose events `on_event` wants to hear of."""
        return Journal(self._sink, self._numbers, on_event)

    def emit(self, event: Event) -> None:
        """Pass on `event`, which from now on has its `seq` (gapless, from 1) and `time`.

        It is no copy, which would take as long as making its JSON: nobody else has the event yet.
        """
        force_setattr(event, "seq", next(self._numbers))
        force_setattr(event, "time", timestamp())
        self._sink(event)
        self._on_event()


def timestamp() -> str:
    """The present moment, in UTC and to the millisecond."""
    seconds, milliseconds = divmod(time.time_ns() // 1_000_000, 1_000)
    return f"{_written(seconds)}.{milliseconds:03}Z"


@lru_cache(maxsize=2)
def _written(seconds: int) -> str:
    """Of the many events of a second, written once."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
