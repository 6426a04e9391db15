"""The events of runs as spans of OpenTelemetry, by its semantic conventions for generative AI.

A run is `invoke_agent`, a request to a model `chat`, a tool call `execute_tool`. Where spans go is not
known here.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from msgspec import Struct, field
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, set_span_in_context

from axe_lsp.runtime.events import (
    AgentBegin,
    AgentEnd,
    AgentResume,
    Event,
    ToolBegin,
    ToolEnd,
    TurnBegin,
    TurnEnd,
    TurnRetry,
)

Show = Callable[[str], str]
"""Makes a text of a conversation fit to be sent away: without secrets."""


class _Call(Struct):
    """A tool call under way. `is_claimed` when a run has begun that it asked for."""

    span: Span
    begin: ToolBegin
    is_claimed: bool = False


class _Run(Struct):
    """A run under way, its request if it waits for an answer, and its tool calls."""

    span: Span
    provider: str
    model: str
    chat: Span | None = None
    calls: dict[tuple[int, str], _Call] = field(default_factory=dict)


class Spans:
    """The spans of the runs of a process. It is an `EventSink`.

    What is said in a conversation is left out, unless there is a `show` for it.
    """

    def __init__(self, tracer: Tracer, show: Show | None = None) -> None:
        self._tracer = tracer
        self._show = show
        self._runs: dict[str, _Run] = {}

    def __call__(self, event: Event) -> None:
        """Begin or end a span."""
        if isinstance(event, (AgentBegin, AgentResume)):
            self._begin_run(event)
            return
        run = self._runs.get(event.run.run_id)
        if run is None:
            return
        match event:
            case AgentEnd():
                del self._runs[event.run.run_id]
                _end_run(run, event)
            case TurnBegin():
                run.chat = self._begin_chat(run)
            case TurnRetry() if run.chat is not None:
                run.chat.add_event("retry", {"error.type": event.category})
            case TurnEnd() if run.chat is not None:
                self._end_chat(run.chat, event)
                run.chat = None
            case ToolBegin():
                self._begin_call(run, event)
            case ToolEnd():
                self._end_call(run.calls.pop((event.turn, event.call_id)).span, event)

    def _begin_run(self, begin: AgentBegin | AgentResume) -> None:
        provider, _, model = begin.model.partition("/")
        span = self._tracer.start_span(
            f"invoke_agent {begin.run.agent}",
            self._caller(begin),
            SpanKind.INTERNAL,
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": begin.run.agent,
                "gen_ai.conversation.id": begin.run.root_run_id,
                "gen_ai.provider.name": provider,
                "gen_ai.request.model": model,
                "axe.run.id": begin.run.run_id,
                "axe.run.depth": begin.run.depth,
            },
        )
        if self._show is not None:
            part = {"type": "text", "content": self._show(begin.task)}
            said = json.dumps([{"role": "user", "parts": [part]}], ensure_ascii=False)
            span.set_attribute("gen_ai.input.messages", said)
        self._runs[begin.run.run_id] = _Run(span, provider, model)

    def _caller(self, begin: AgentBegin | AgentResume) -> Context:
        """Return the context of the tool call that started the run, else that of its parent run."""
        parent = self._runs.get(begin.run.parent_run_id or "")
        if parent is None:
            return Context()
        call = _call_for(begin, parent)
        if call is None:
            return set_span_in_context(parent.span, Context())
        call.is_claimed = True
        return set_span_in_context(call.span, Context())

    def _begin_chat(self, run: _Run) -> Span:
        return self._tracer.start_span(
            f"chat {run.model}",
            set_span_in_context(run.span, Context()),
            SpanKind.CLIENT,
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": run.provider,
                "gen_ai.request.model": run.model,
            },
        )

    def _end_chat(self, span: Span, end: TurnEnd) -> None:
        span.set_attributes(
            {
                "gen_ai.usage.input_tokens": end.input_tokens,
                "gen_ai.usage.output_tokens": end.output_tokens,
                "gen_ai.usage.cache_read.input_tokens": end.cache_read_tokens or 0,
                "gen_ai.usage.cache_creation.input_tokens": end.cache_write_tokens or 0,
                "gen_ai.response.finish_reasons": (end.stop_reason,),
            }
        )
        if self._show is not None:
            span.set_attribute("gen_ai.output.messages", self._show(_answer(end)))
        span.end()

    def _begin_call(self, run: _Run, begin: ToolBegin) -> None:
        span = self._tracer.start_span(
            f"execute_tool {begin.name}",
            set_span_in_context(run.span, Context()),
            SpanKind.INTERNAL,
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": begin.name,
                "gen_ai.tool.call.id": begin.call_id,
                "gen_ai.tool.type": "function",
            },
        )
        if self._show is not None:
            arguments = json.dumps(dict(begin.arguments), ensure_ascii=False)
            span.set_attribute("gen_ai.tool.call.arguments", self._show(arguments))
        run.calls[begin.turn, begin.call_id] = _Call(span, begin)

    def _end_call(self, span: Span, end: ToolEnd) -> None:
        if self._show is not None:
            span.set_attribute("gen_ai.tool.call.result", self._show(end.content))
        if end.is_error:
            span.set_attribute("error.type", "tool_error")
            span.set_status(StatusCode.ERROR)
        span.end()


def _call_for(begin: AgentBegin | AgentResume, parent: _Run) -> _Call | None:
    """Return the call that asked for a run: one that names its agent or its task, and has no run yet."""

    def fits(call: _Call) -> bool:
        words = (call.begin.name.removeprefix("subagent--"), *call.begin.arguments.values())
        return begin.run.agent in words

    fitting = [each for each in parent.calls.values() if not each.is_claimed and fits(each)]
    exact = (each for each in fitting if begin.task in each.begin.arguments.values())
    return next(exact, fitting[0] if fitting else None)


def _end_run(run: _Run, end: AgentEnd) -> None:
    """End its span, and what of it a cancellation or a crash has left open."""
    for left in (run.chat, *(call.span for call in run.calls.values())):
        if left is not None:
            left.set_attribute("error.type", end.status)
            left.set_status(StatusCode.ERROR)
            left.end()
    run.span.set_attributes(
        {
            "gen_ai.usage.input_tokens": end.input_tokens,
            "gen_ai.usage.output_tokens": end.output_tokens,
        }
    )
    if end.status != "completed":
        run.span.set_attribute("error.type", end.status)
        run.span.set_status(StatusCode.ERROR, end.error)
    run.span.end()


def _answer(end: TurnEnd) -> str:
    parts: list[dict[str, object]] = [{"type": "text", "content": end.text}] if end.text else []
    parts += [{"type": "tool_call", **call} for call in end.tool_calls]
    message = {"role": "assistant", "parts": parts, "finish_reason": end.stop_reason}
    return json.dumps([message], ensure_ascii=False)
