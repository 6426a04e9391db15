"""The reports of a run about the place where its tools work; its clock is paused while it waits for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.events import AgentPlace, Event, RunIds
from axe_lsp.runtime.limits.clock import Clock


class PlaceReports:
    """Of one run. It is a `Watch`. `ref` is the commit that keeps the work of an agent with a copy of its own."""

    def __init__(
        self,
        run: RunIds,
        emit: Callable[[Event], None],
        clock: Clock,
        warn: Callable[[str], None],
    ) -> None:
        self._run = run
        self._emit = emit
        self._clock = clock
        self._warn = warn
        self.ref: str | None = None

    @contextmanager
    def waiting(self, what: str, place: str = "") -> Iterator[None]:
        """It waits for something."""
        self._emit(AgentPlace(run=self._run, place=place, waiting=what))
        with self._clock.stopped():
            yield

    def placed(self, place: str, folder: str = "", reason: str = "") -> None:
        """From now on its tools work there."""
        self._emit(
            AgentPlace(
                run=self._run,
                place=place,
                folder=folder or None,
                ref=self.ref,
                reason=reason or None,
            )
        )

    def warn(self, text: str) -> None:
        """Something that a person should know."""
        self._warn(f"agent {quoted(self._run.agent)}: {text}")
