"""Calls of the tools for side runs: list them, wait for them, send them messages, stop them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence

import anyio
from msgspec import Struct

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.children.side_run_definitions import (
    LONGEST_WAIT,
    MESSAGE_AGENT,
    STOP_AGENT,
    USUAL_WAIT,
    WAIT_AGENTS,
)
from axe_lsp.runtime.children.side_runs import SideRun, SideRuns, excerpt_of_answer, until_first
from axe_lsp.runtime.inbox import Inbox, MessageRefusedError, NewMessage
from axe_lsp.runtime.limits.clock import Clock
from axe_lsp.runtime.messages import Json, ToolCall, ToolOutcome, ToolResult
from axe_lsp.runtime.plain_text import short_digest

Send = Callable[[str, NewMessage], Awaitable[str]]
"""Sends a message to the run of an id. Raises MessageRefusedError."""


class SideRunCalls(Struct, frozen=True):
    """Executes the calls of one run of these tools. `agent` is its name; `send` reaches the runs that it has started."""

    agent: str
    side_runs: SideRuns
    inbox: Inbox
    clock: Clock
    send: Send

    async def execute(self, run_id: str, turn: int, call: ToolCall) -> ToolOutcome:
        """Execute one call. Always returns an outcome."""
        try:
            if call.name == WAIT_AGENTS:
                return await self._wait(call)
            if call.name == STOP_AGENT:
                return await self._stop(call)
            if call.name == MESSAGE_AGENT:
                return await self._message(call, short_digest(f"{run_id}/{turn}/{call.event_id}"))
            return ToolOutcome(ToolResult(call.id, self._check(call)))
        except _ArgumentError as error:
            text = f"{call.name} error: {error}"
            return ToolOutcome(ToolResult(call.id, text, is_error=True))

    def _check(self, call: ToolCall) -> str:
        name = call.argument("agent")
        if not name:
            lines = [f"{quoted(each.name)}: {each.status}" for each in self.side_runs]
            return "\n".join(lines) or "There is no side run."
        side = self._find(name)
        start = _integer(call, "from", 0)
        if side.outcome is None:
            return f"{quoted(side.name)}: {side.status}"
        return excerpt_of_answer(side.text, max(0, start)) or f"{quoted(name)}: {side.status}"

    async def _wait(self, call: ToolCall) -> ToolOutcome:
        seconds = min(max(_integer(call, "seconds", USUAL_WAIT), 1), LONGEST_WAIT)
        names = _strings(call, "agents")
        sides = [self._find(name) for name in names] if names else [*self.side_runs]
        waits_for_all = call.arguments.get("all") in (True, "true")
        with self.clock.waiting(), self.clock.waiting_for_side_runs():
            with anyio.move_on_after(seconds):
                while _goes_on(sides, waits_for_all) and not self.inbox.has_urgent:
                    await until_first(self.side_runs.change, self.inbox.arrival)
            ready = [each for each in sides if each.has_answer and not each.is_given]
            await self.side_runs.take_over_changes(ready)
        return self._given(call, sides, seconds)

    def _given(self, call: ToolCall, sides: Sequence[SideRun], seconds: int) -> ToolOutcome:
        ended = [each for each in sides if each.outcome is not None and not each.is_given]
        if ended:
            for side in ended:
                side.is_given = True
            text = "\n\n".join(each.block for each in ended)
            return ToolOutcome(ToolResult(call.id, text), gave=tuple(each.name for each in ended))
        running = [quoted(each.name) for each in sides if each.is_working]
        if not running:
            return ToolOutcome(ToolResult(call.id, "No side run is running."))
        reason = f"No side run has ended within {seconds} s."
        if self.inbox.has_urgent:
            reason = "A message has arrived."
        text = f"{reason} Still running: {', '.join(running)}."
        return ToolOutcome(ToolResult(call.id, text))

    async def _message(self, call: ToolCall, message_id: str) -> ToolOutcome:
        side, text = self._find(call.argument("agent")), call.argument("message")
        if not text.strip():
            raise _ArgumentError('"message" argument is required')
        if side.has_answer:
            raise _ArgumentError(f"{quoted(side.name)} has ended")
        mode = "now" if call.arguments.get("now") in (True, "true") else "next"
        message = NewMessage(text, "now" if mode == "now" else "next", message_id, self.agent)
        try:
            await self.send(side.run_id, message)
        except MessageRefusedError as error:
            is_over = error.reason in ("ended", "unknown")
            raise _ArgumentError(
                f"{quoted(side.name)} has ended" if is_over else str(error)
            ) from error
        return ToolOutcome(
            ToolResult(call.id, f"{quoted(side.name)} gets the message before its next request.")
        )

    async def _stop(self, call: ToolCall) -> ToolOutcome:
        side = self._find(call.argument("agent"))
        if side.is_working:
            await self.side_runs.stop(side)
        if side.is_given or side.outcome is None or not side.outcome.is_stopped:
            return ToolOutcome(ToolResult(call.id, f"{quoted(side.name)} had ended already."))
        side.is_given = True
        text = f"{quoted(side.name)} was stopped."
        if side.text:
            text += f"\n{excerpt_of_answer(side.text)}"
        return ToolOutcome(ToolResult(call.id, text), gave=(side.name,))

    def _find(self, name: str) -> SideRun:
        side = self.side_runs.find(name)
        if side is None:
            raise _ArgumentError(f"there is no side run {quoted(name)}")
        return side


class _ArgumentError(Exception):
    """A call can't be executed as it is."""


def _goes_on(sides: Sequence[SideRun], waits_for_all: bool) -> bool:
    """Return whether there is something left to wait for."""
    working = [each for each in sides if each.is_working]
    has_answer = any(each.has_answer and not each.is_given for each in sides)
    return bool(working) and (waits_for_all or not has_answer)


def _integer(call: ToolCall, name: str, default: int) -> int:
    value: Json = call.arguments.get(name)
    if value is None:
        return default
    text = call.argument(name)
    try:
        return int(float(text))
    except (ValueError, OverflowError):
        raise _ArgumentError(f'"{name}" must be an integer') from None


def _strings(call: ToolCall, name: str) -> list[str]:
    value: Json = call.arguments.get(name)
    if isinstance(value, str):
        value = [value]
    return [*dict.fromkeys(_texts(value))] if isinstance(value, list) else []


def _texts(values: Sequence[Json]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
