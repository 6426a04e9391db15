"""The output of `--verbose` on standard error, in axe's words (001-7.5, 8.7, 8.8)."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.cli.streams import Display, has_person, shown
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


class VerboseLog(Display):
    """The log of one root run, on standard error."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self._has_tools = False
        self._started: float | None = None
        self._calls: dict[tuple[str, str], list[ToolBegin]] = {}
        self._thought = ""

    def say(self, text: str) -> None:
        """Print a line."""
        super().say(shown(text, self._stream))

    def ready(self, prepared: Prepared) -> None:
        """Take note that the first request is about to be sent."""
        self._started = time.monotonic()
        self._has_tools = bool(prepared.request.tools)
        prompt = prepared.prompt
        self.say(f"Model:    {prepared.model}")
        self.say(f"Workdir:  {prompt.workdir}")
        self.say(f"Skill:    {prompt.skill or '(none)'}")
        self.say(f"Files:    {len(prompt.files)} file(s)")
        self.say(f"Stdin:    {'yes' if prepared.order.message.strip() else 'no'}")
        self.say(timeout_line(prepared))
        self.say(params_line(prepared))
        if prompt.memory and prompt.memory.count:
            self.say(f"Memory:   {prompt.memory.count} entries loaded from {prompt.memory.path}")
        elif prompt.memory:
            self.say("Memory:   0 entries (no memory file)")

    def event(self, event: Event) -> None:
        """Print the lines of an event: turns and thoughts of the root, tools, begins and ends of children."""
        if event.run.depth == 0:  # The thoughts of children would get into one another's.
            for line in self._thoughts(event):
                self.say(f"[thinking] {line}")
        for line in self._lines(event):
            self.say(line)

    def _thoughts(self, event: Event) -> Sequence[str]:
        """Return the lines of a thought that are complete."""
        if isinstance(event, ThoughtDelta):
            *lines, self._thought = (self._thought + event.delta).split("\n")
            return lines
        rest, self._thought = self._thought, ""
        return [rest] if rest else []

    def _lines(self, event: Event) -> Iterator[str]:
        match event:
            case ToolBegin():
                self._calls.setdefault(_call(event), []).append(event)
            case ToolEnd():
                yield from _of_tool(self._calls[_call(event)].pop(0), event)
            case TurnRetry():
                yield (
                    f"[retry] Attempt {event.attempt}/{event.max_attempts} after {event.category}, "
                    f"waiting {event.wait_ms}ms"
                )
            case ContextShortened() | CompactionBegin() | CompactionEnd():
                yield f"[context] {_of_context(event)}"
            case TurnWait():
                yield f"[wait] {event.provider} {wait_reason(event.wait_ms)}"
            case AgentPlace():
                told = place_in_words(event.place, event.waiting, event.reason)
                what = f"{event.run.agent} {told or 'works in a copy here'}"
                yield f"[place] {what}: {event.folder or ''}".rstrip(": ")
            case _ if event.run.depth > 0:
                yield from _of_child(event)
            case _ if self._has_tools:
                yield from _of_turn(event)

    def finished(self, result: RunResult) -> None:
        """Take note that the run has succeeded, or its budget is used up."""
        cumulative = " (cumulative)" if self._has_tools else ""
        if result.budget:
            used = f"{result.budget.used_tokens}/{result.budget.max_tokens}"
            cumulative = f" (cumulative, budget: {used})"
        self.say(f"Duration: {result.duration_ms}ms")
        self.say(
            f"Tokens:   {result.input_tokens} input, {result.output_tokens} output{cumulative}"
        )
        self._show_tree(result)
        if result.cache_read_tokens or result.cache_write_tokens:
            read, written = result.cache_read_tokens or 0, result.cache_write_tokens or 0
            self.say(f"Cache:    {read} read, {written} written")
        if result.cost is not None:
            self.say(f"Cost:     {_costs(result)}")
        mark = in_words(result.incomplete)
        self.say(f"Stop:     {result.stop_reason}{mark and f' ({mark})'}")

    def _show_tree(self, result: RunResult) -> None:
        """Show a person what all agents have used, which axe does not."""
        tree = result.tree
        if tree is not None and has_person():
            self.say(
                f"          {tree.input_tokens} input, {tree.output_tokens} output with all sub-agents"
            )

    def failed(self) -> None:
        """Take note that the run has failed; if nothing was sent, it took no time."""
        if self._started is not None:
            self.say(f"Duration: {round((time.monotonic() - self._started) * 1000)}ms")


def _costs(result: RunResult) -> str:
    own = dollars(result.cost or 0)
    if result.tree is None or result.tree.cost is None:
        return own
    return f"{own} ({dollars(result.tree.cost)} with all sub-agents)"


def _of_turn(event: Event) -> Iterator[str]:
    if isinstance(event, TurnBegin):
        yield (
            f"[turn {event.turn}] Sending request ({event.messages} messages, "
            f"{event.pending_tool_calls} tool calls pending)"
        )
    elif isinstance(event, TurnEnd):
        yield (
            f"[turn {event.turn}] Received response: {event.stop_reason} "
            f"({len(event.tool_calls)} tool calls)"
        )
        if event.incomplete:
            yield f"[turn {event.turn}] Note that {in_words(event.incomplete)}"


def _of_context(event: ContextShortened | CompactionBegin | CompactionEnd) -> str:
    if isinstance(event, CompactionBegin):
        return f"Asking for a summary (about {event.tokens_before} tokens are too many)"
    if isinstance(event, CompactionEnd) and event.error:
        return f"No summary: {event.error}"
    what = (
        f"{event.results} old tool result(s) shortened to make room"
        if isinstance(event, ContextShortened)
        else f"{event.messages} messages replaced by a summary"
    )
    return f"{what} (about {event.tokens_before} to {event.tokens_after} tokens)"


def _of_child(event: Event) -> Iterator[str]:
    agent = quoted(event.run.agent)
    if isinstance(event, (AgentBegin, AgentResume)):
        task = event.task[:PREVIEW_CHARACTERS]
        more = "..." if len(event.task) > PREVIEW_CHARACTERS else ""
        verb = "Calling" if isinstance(event, AgentBegin) else "Resuming"
        yield f"[sub-agent] {verb} {agent} (depth {event.run.depth}) with task: {task}{more}"
    elif isinstance(event, AgentEnd):
        if event.status == "completed":
            length = f"{event.content_length} chars returned"
            yield f"[sub-agent] {agent} completed in {event.duration_ms}ms ({length})"
        else:
            yield f"[sub-agent] {agent} failed: {event.error or event.status}"
        if event.changes and not event.unapplied:  # Else it is warned of.
            yield f"[copy] {event.run.agent}: {event.changes}"


def _call(event: ToolBegin | ToolEnd) -> tuple[str, str]:
    """Return which call it is. Providers do not always give each one an id of its own."""
    return event.run.run_id, event.call_id


def _of_tool(begin: ToolBegin, end: ToolEnd) -> Iterator[str]:
    """Yield the summary of a tool call: its first argument, and its error, if any."""
    if end.name not in BUILTIN_TOOLS or end.content == unknown_tool(end.name):
        return
    first = next(iter(BUILTIN_TOOLS[end.name].definition.parameters))
    summary = f"{first} {quoted(_shortened(argument_text(begin.arguments.get(first))))}"
    if end.is_error:
        summary += f": {_shortened(end.content)}"
    yield f"[tool] {end.name}: {summary} ({'error' if end.is_error else 'success'})"


def _shortened(text: str) -> str:
    text = text.replace("\n", " ")
    return text if len(text) <= LONGEST_SUMMARY else f"{text[:LONGEST_SUMMARY]}..."
