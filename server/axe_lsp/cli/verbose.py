"""The output of `--verbose` on standard error, in axe's words (001-7.5, 8.7, 8.8)."""

from __future__ import annotations

import sys
import time

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.cli.streams import shown
from axe_lsp.cli.text_width import dollars
from axe_lsp.runtime.events import (
    AgentBegin,
    AgentEnd,
    AgentPlace,
    AgentResume,
    CompactionBegin,
    CompactionEnd,
    ContextShortened,
    Event,
    ThoughtDelta,
    ToolBegin,
    ToolEnd,
    TurnBegin,
    TurnEnd,
    TurnRetry,
    TurnWait,
    place_in_words,
    wait_reason,
)
from axe_lsp.runtime.incomplete import in_words
from axe_lsp.runtime.messages import argument_text
from axe_lsp.runtime.prepare import Prepared
from axe_lsp.runtime.preview import params_line, timeout_line
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.tools.tool_table import BUILTIN_TOOLS, unknown_tool

PREVIEW_CHARACTERS = 80
"""How much of a sub-agent's task is shown."""


LONGEST_SUMMARY = 120
"""How much of a tool's argument is shown, and of an error."""


class VerboseLog:
    """Writes the log of one root run."""

    def __init__(self) -> None:
        self._has_tools = False
        self._started: float | None = None
        self._calls: dict[tuple[str, str], list[ToolBegin]] = {}
        self._thought = ""

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
        _say(timeout_line(prepared))
        _say(params_line(prepared))
        if prompt.memory and prompt.memory.count:
            _say(f"Memory:   {prompt.memory.count} entries loaded from {prompt.memory.path}")
        elif prompt.memory:
            _say("Memory:   0 entries (no memory file)")

    def event(self, event: Event) -> None:
        """Something happened: turns and thoughts of the root, tools, where children begin and end."""
        if isinstance(event, ThoughtDelta):
            self._think(event)
            return
        if event.run.depth == 0:
            self._end_thought()
        if isinstance(event, ToolBegin):
            self._calls.setdefault(_call(event), []).append(event)
        elif isinstance(event, ToolEnd):
            _tell_tool(self._calls[_call(event)].pop(0), event)
        elif isinstance(event, TurnRetry):
            _tell_retry(event)
        elif isinstance(event, (ContextShortened, CompactionBegin, CompactionEnd)):
            _tell_context(event)
        elif isinstance(event, (TurnWait, AgentPlace)):
            _tell_wait(event)
        elif event.run.depth > 0:
            _tell_child(event)
        elif self._has_tools:
            _tell_turn(event)

    def _think(self, event: ThoughtDelta) -> None:
        """Lines of a thought, each when it is whole. Those of children would get into one another's."""
        if event.run.depth == 0:
            *lines, self._thought = (self._thought + event.delta).split("\n")
            for line in lines:
                _say(f"[thinking] {line}")

    def _end_thought(self) -> None:
        if self._thought:
            _say(f"[thinking] {self._thought}")
            self._thought = ""

    def finished(self, result: RunResult) -> None:
        """The run has succeeded, or its budget is used up."""
        cumulative = " (cumulative)" if self._has_tools else ""
        if result.budget:
            used = f"{result.budget.used_tokens}/{result.budget.max_tokens}"
            cumulative = f" (cumulative, budget: {used})"
        _say(f"Duration: {result.duration_ms}ms")
        _say(f"Tokens:   {result.input_tokens} input, {result.output_tokens} output{cumulative}")
        if result.cache_read_tokens or result.cache_write_tokens:
            read, written = result.cache_read_tokens or 0, result.cache_write_tokens or 0
            _say(f"Cache:    {read} read, {written} written")
        if result.cost is not None:
            _say(f"Cost:     {_costs(result)}")
        mark = in_words(result.incomplete)
        _say(f"Stop:     {result.stop_reason}{mark and f' ({mark})'}")

    def failed(self) -> None:
        """The run has failed; if nothing was sent, it took no time."""
        if self._started is not None:
            _say(f"Duration: {round((time.monotonic() - self._started) * 1000)}ms")


def _tell_wait(event: TurnWait | AgentPlace) -> None:
    if isinstance(event, TurnWait):
        _say(f"[wait] {event.provider} {wait_reason(event.wait_ms)}")
        return
    told = place_in_words(event.place, event.waiting, event.reason)
    _say(
        f"[place] {event.run.agent} {told or 'works in a copy here'}: {event.folder or ''}".rstrip(
            ": "
        )
    )


def _costs(result: RunResult) -> str:
    own = dollars(result.cost or 0)
    if result.tree is None or result.tree.cost is None:
        return own
    return f"{own} ({dollars(result.tree.cost)} with all sub-agents)"


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
        if event.incomplete:
            _say(f"[turn {event.turn}] Note that {in_words(event.incomplete)}")


def _tell_retry(event: TurnRetry) -> None:
    _say(
        f"[retry] Attempt {event.attempt}/{event.max_attempts} after {event.category}, "
        f"waiting {event.wait_ms}ms"
    )


def _tell_context(event: ContextShortened | CompactionBegin | CompactionEnd) -> None:
    if isinstance(event, CompactionBegin):
        _say(f"[context] Asking for a summary (about {event.tokens_before} tokens are too many)")
        return
    if isinstance(event, CompactionEnd) and event.error:
        _say(f"[context] No summary: {event.error}")
        return
    what = (
        f"{event.results} old tool result(s) shortened to make room"
        if isinstance(event, ContextShortened)
        else f"{event.messages} messages replaced by a summary"
    )
    _say(f"[context] {what} (about {event.tokens_before} to {event.tokens_after} tokens)")


def _tell_child(event: Event) -> None:
    agent = quoted(event.run.agent)
    if isinstance(event, (AgentBegin, AgentResume)):
        task = event.task[:PREVIEW_CHARACTERS]
        more = "..." if len(event.task) > PREVIEW_CHARACTERS else ""
        verb = "Calling" if isinstance(event, AgentBegin) else "Resuming"
        _say(f"[sub-agent] {verb} {agent} (depth {event.run.depth}) with task: {task}{more}")
    elif isinstance(event, AgentEnd) and event.status == "completed":
        _say(
            f"[sub-agent] {agent} completed in {event.duration_ms}ms "
            f"({event.content_length} chars returned)"
        )
    elif isinstance(event, AgentEnd):
        _say(f"[sub-agent] {agent} failed: {event.error or event.status}")
    if (
        isinstance(event, AgentEnd) and event.changes and not event.unapplied
    ):  # Else it is warned of.
        _say(f"[copy] {event.run.agent}: {event.changes}")


def _call(event: ToolBegin | ToolEnd) -> tuple[str, str]:
    """Which call it is. Providers do not always give each one an id of its own."""
    return event.run.run_id, event.call_id


def _tell_tool(begin: ToolBegin, end: ToolEnd) -> None:
    """The summary of a tool call: its first argument, and its error, if any."""
    if end.name not in BUILTIN_TOOLS or end.content == unknown_tool(end.name):
        return
    first = next(iter(BUILTIN_TOOLS[end.name].definition.parameters))
    value = argument_text(begin.arguments.get(first))
    summary = f"{first} {quoted(_shortened(value))}"
    if end.is_error:
        summary += f": {_shortened(end.content)}"
    _say(f"[tool] {end.name}: {summary} ({'error' if end.is_error else 'success'})")


def _shortened(text: str) -> str:
    text = text.replace("\n", " ")
    return text if len(text) <= LONGEST_SUMMARY else f"{text[:LONGEST_SUMMARY]}..."


def _say(line: str) -> None:
    print(shown(line, sys.stderr), file=sys.stderr)
