"""The one place where events of a tree get their number and their time."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime, timezone
from functools import lru_cache, partial
from itertools import count

from msgspec.structs import force_setattr

from axe_lsp.runtime.events import (
    AgentBegin,
    AgentEnd,
    AgentResume,
    CompactionEnd,
    Event,
    EventSink,
    MessageChanged,
    MessageQueued,
    MessagesGiven,
    TurnEnd,
    TurnRetry,
)
from axe_lsp.runtime.safety.redaction import redact
from axe_lsp.runtime.sources import redacted_sources

_TEXTS: Mapping[type[Event], tuple[str, ...]] = {
    AgentBegin: ("task", "description"),
    AgentResume: ("task", "description"),
    AgentEnd: ("error", "changes"),
    TurnRetry: ("message",),
    TurnEnd: ("text",),
    CompactionEnd: ("summary", "error"),
    MessageQueued: ("text",),
    MessageChanged: ("text",),
    MessagesGiven: ("text",),
}
"""Fields that may hold what a person or a model wrote. What tools are given and return, and what arrives in pieces, is
redacted in the loop, which knows what MCP servers are sent."""


class Redactor:
    """Takes secrets out of the events of a tree. `find_secrets` is asked whenever a run begins."""

    def __init__(self, find_secrets: Callable[[], Collection[str]]) -> None:
        self._find_secrets = find_secrets
        self._secrets: Collection[str] = ()

    def redact(self, event: Event) -> None:
        """Take them out of an event that has not been sent yet."""
        if isinstance(event, (AgentBegin, AgentResume)):
            self._secrets = self._find_secrets()
        for name in _TEXTS.get(type(event), ()):
            text = getattr(event, name)
            if text:
                force_setattr(event, name, redact(text, self._secrets))
        if isinstance(event, TurnEnd) and event.sources:
            clean = partial(redact, secrets=self._secrets)
            force_setattr(event, "sources", redacted_sources(event.sources, clean))


class Journal:
    """Numbers the events of one root run and passes them on, in the order in which they happen.

    `on_event` is called for each. `redactor` takes out of it what no event may hold.
    """

    def __init__(
        self,
        sink: EventSink,
        numbers: Iterator[int] | None = None,
        on_event: Callable[[], object] = bool,
        redactor: Redactor | None = None,
    ) -> None:
        self._sink = sink
        self._numbers = numbers or count(1)
        self._on_event = on_event
        self._redactor = redactor or Redactor(frozenset)

    def watched(self, on_event: Callable[[], object]) -> Journal:
        """Return the same journal, which calls another `on_event`."""
        return Journal(self._sink, self._numbers, on_event, self._redactor)

    def emit(self, event: Event) -> None:
        """Pass on `event`, which from now on has its `seq` (gapless, from 1) and `time`.

        It is no copy, which would take as long as making its JSON: nobody else has the event yet.
        """
        self._redactor.redact(event)
        force_setattr(event, "seq", next(self._numbers))
        force_setattr(event, "time", timestamp())
        self._sink(event)
        self._on_event()


def timestamp() -> str:
    """Return the present moment, in UTC and to the millisecond."""
    seconds, milliseconds = divmod(time.time_ns() // 1_000_000, 1_000)
    return f"{_written(seconds)}.{milliseconds:03}Z"


@lru_cache(maxsize=2)
def _written(seconds: int) -> str:
    """Return the second as text, which is formatted once for the many events of a second."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
