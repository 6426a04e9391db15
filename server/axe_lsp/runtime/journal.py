"""The one place where events of a tree get their number and their time."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from itertools import count

from axe_lsp.runtime.events import Event, EventSink


class Journal:
    """Numbers the events of one root run and passes them on, in the order in which they happen."""

    def __init__(self, sink: EventSink) -> None:
        self._sink = sink
        self._numbers = count(1)

    def emit(self, event: Event) -> None:
        """Pass on `event`, from now on with `seq` (gapless, from 1) and `time`."""
        self._sink(replace(event, seq=next(self._numbers), time=timestamp()))


def timestamp() -> str:
    """The present moment, in UTC and to the millisecond."""
    now = datetime.now(timezone.utc).replace(tzinfo=None)
    return now.isoformat(timespec="milliseconds") + "Z"
