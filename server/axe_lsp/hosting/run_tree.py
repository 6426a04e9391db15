"""The state of a root run and its descendants, from the events that arrived. Pure.

When the runs can't tell any more, this says which have not ended, and how far they had got.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Container, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from axe_lsp.hosting.notifications import Notification
from axe_lsp.runtime.events import AgentEnd, RunIds, Status
from axe_lsp.runtime.json_data import Json, from_json
from axe_lsp.runtime.outcome import end_event
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.usage import NOTHING, Usage


class Left(NamedTuple):
    """The part of a tree that its dead host has left in the history.

    `events` were stored and not sent; `unfinished` are the ids of the runs that can go on.
    """

    events: Sequence[Notification]
    unfinished: Collection[str]


class RunTree:
    """The runs of one tree that have begun and not ended."""

    def __init__(self) -> None:
        self._open: dict[str, _OpenRun] = {}
        self._root = ""
        self._last_seq = 0

    def __contains__(self, run_id: str) -> bool:
        return run_id in self._open

    def follow(self, event: Notification) -> None:
        """Take note of an event."""
        params = event.params
        self._last_seq = params["seq"]
        run_id = params["runId"]
        match event.method, params.get("kind"):
            case "axe/agent", "begin":
                self._root = self._root or run_id
                self._open[run_id] = _OpenRun(from_json(RunIds, params), params["model"])
            case "axe/agent", "resume":
                self._root = self._root or run_id
                self._open[run_id] = _resumed(params, self._open.get(run_id))
            case "axe/agent", "end":
                del self._open[run_id]
            case "axe/text", _:
                self._open[run_id].deltas.append(params["delta"])
            case "axe/turn", "end":
                self._open[run_id].take_turn(params)
            case "axe/context", "end":
                self._open[run_id].used += from_json(Usage, params)
            case "axe/tool", "end":
                self._open[run_id].tool_calls += 1

    @property
    def is_going_on(self) -> bool:
        """Whether a run has begun and not ended."""
        return bool(self._open)

    @property
    def last_seq(self) -> int:
        """The number of the last event; 0 before the first."""
        return self._last_seq

    def end(
        self, status: Status, error: str, now: str, kept: Container[str] = ()
    ) -> tuple[list[AgentEnd], RunResult | None]:
        """End every run but those that are `kept`, children before their parents.

        Returns the events that say so, and what the root, which began first, had come to, if it
        had not ended before.
        """
        events = []
        root = None
        for run in [each for each in reversed(self._open.values()) if each.ids.run_id not in kept]:
            self._last_seq += 1
            result = run.result(status)
            event = end_event(run.ids, result, error)
            events.append(replace(event, seq=self._last_seq, time=now))
            root = result if run.ids.run_id == self._root else None
            del self._open[run.ids.run_id]
        return events, root


def _resumed(params: Mapping[str, Json], former: _OpenRun | None) -> _OpenRun:
    """Return a run that goes on, with what it had come to in a former process, and the text from there if it is known."""
    saved = params["saved"]
    return _OpenRun(
        from_json(RunIds, params),
        params["model"],
        begun=time.monotonic() - saved["durationMs"] / 1000,
        turns=saved["turns"],
        tool_calls=saved["toolCalls"],
        used=from_json(Usage, saved),
        text=former.text if former is not None else "",
    )


class _OpenRun(Struct):
    """A run under way, and what it has come to."""

    ids: RunIds
    model: str
    begun: float = field(default_factory=time.monotonic)
    turns: int = 0
    tool_calls: int = 0
    used: Usage = NOTHING
    stop_reason: str = ""
    text: str = ""
    deltas: list[str] = field(default_factory=list)

    def take_turn(self, params: Mapping[str, Json]) -> None:
        self.turns += 1
        self.used += from_json(Usage, params)
        self.stop_reason = params["stopReason"]
        self.text = params["text"]
        self.deltas.clear()

    def result(self, status: Status) -> RunResult:
        return RunResult(
            run_id=self.ids.run_id,
            agent=self.ids.agent,
            status=status,
            model=self.model,
            content="".join(self.deltas) or self.text,
            stop_reason=self.stop_reason,
            input_tokens=self.used.input_tokens,
            output_tokens=self.used.output_tokens,
            cache_read_tokens=self.used.cache_read_tokens or None,
            cache_write_tokens=self.used.cache_write_tokens or None,
            turns=self.turns,
            tool_calls=self.tool_calls,
            cost=self.used.cost if self.turns else None,
            duration_ms=round((time.monotonic() - self.begun) * 1000),
        )
