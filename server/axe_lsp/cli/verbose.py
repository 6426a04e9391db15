"""What `--verbose` tells on standard error, in axe's words (001-7.5, 8.7, 8.8)."""

from __future__ import annotations

import sys
import time

from axe_lsp.agentfile.text import quoted
from axe_lsp.runtime.events import AgentBegin, AgentEnd, Event, TurnBegin, TurnEnd
from axe_lsp.runtime.prepare import Prepared
from axe_lsp.runtime.preview import params_line, shown_number
from axe_lsp.runtime.runs import RunResult

PREVIEW_CHARACTERS = 80
"""How much of a sub-agent's task is shown."""


class VerboseLog:
    """Writes the log of one root run."""

    def __init__(self) -> None:
        self._has_tools = False
        self._started: float | None = None

    def ready(self, prepared: Prepared) -> None:
        """The first request is about to be sent."""
        self._started = time.monotonic()
        self._has_tools = bool(prepared.request.tools)
        prompt = prepared.prompt
        _say(f"Model:    {prepared.model}")
        _say(f"Workdir:  {prompt.workdir}")
        _say(f"Skill:    {prompt.skill or '(none)'}")
        _say(f"Files:    {len(prompt.files)} file(s)")
        _say(f"Stdin:    {'yes' if prepared.order.message.strip() else 'no'}")
        _say(f"Timeout:  {shown_number(prepared.timeout or 0)}s")
        _say(params_line(prepared))
        if prompt.memory and prompt.memory.count:
            _say(f"Memory:   {prompt.memory.count} entries loaded from {prompt.memory.path}")
        elif prompt.memory:
            _say("Memory:   0 entries (no memory file)")

    def event(self, event: Event) -> None:
        """Something happened: the turns of the root, and where children begin and end."""
        if event.run.depth > 0:
            _tell_child(event)
        elif self._has_tools:
            _tell_turn(event)

    def finished(self, result: RunResult) -> None:
        """The run has succeeded."""
        cumulative = " (cumulative)" if self._has_tools else ""
        _say(f"Duration: {result.duration_ms}ms")
        _say(f"Tokens:   {result.input_tokens} input, {result.output_tokens} output{cumulative}")
        _say(f"Stop:     {result.stop_reason}")

    def failed(self) -> None:
        """The run has failed; if nothing was sent, it took no time."""
        if self._started is not None:
            _say(f"Duration: {round((time.monotonic() - self._started) * 1000)}ms")


def _tell_turn(event: Event) -> None:
    if isinstance(event, TurnBegin):
        _say(
            f"[turn {event.turn}] Sending request ({event.messages} messages, "
            f"{event.pending_tool_calls} tool calls pending)"
        )
    elif isinstance(event, TurnEnd):
        _say(
            f"[turn {event.turn}] Received response: {event.stop_reason} "
            f"({len(event.tool_calls)} tool calls)"
        )


def _tell_child(event: Event) -> None:
    agent = quoted(event.run.agent)
    if isinstance(event, AgentBegin):
        task = event.task[:PREVIEW_CHARACTERS]
        more = "..." if len(event.task) > PREVIEW_CHARACTERS else ""
        _say(f"[sub-agent] Calling {agent} (depth {event.run.depth}) with task: {task}{more}")
    elif isinstance(event, AgentEnd) and event.status == "completed":
        _say(
            f"[sub-agent] {agent} completed in {event.duration_ms}ms "
            f"({event.content_length} chars returned)"
        )
    elif isinstance(event, AgentEnd):
        _say(f"[sub-agent] {agent} failed: {event.error or event.status}")


def _say(line: str) -> None:
    print(line, file=sys.stderr)
