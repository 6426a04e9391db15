"""Spans of runs: what a collector is told, and what it is not told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("opentelemetry.sdk", reason="the extra otel is not installed")

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from axe_lsp.hosting.spans import Spans
from axe_lsp.runtime.errors import RunError
from axe_lsp.runtime.events import TurnBegin
from support.engines import agent, bench, running
from support.scripted_provider import (
    Answer,
    Call,
    Hold,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)

TEAM = agent("lead", sub_agents=["left", "right"], tools=["list_directory"]) | {
    **agent("left", dialect="anthropic"),
    **agent("right"),
}


@pytest.fixture
def exporter() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    yield exporter
    exporter.shutdown()


def spans_to(exporter: InMemorySpanExporter, show: bool = False) -> Spans:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return Spans(provider.get_tracer("test"), (lambda text: text) if show else None)


def tree(spans: tuple[ReadableSpan, ...]) -> list[str]:
    """Return the spans, each below its parent, in the order in which they began."""
    by_parent: dict[int | None, list[ReadableSpan]] = {}
    for span in sorted(spans, key=lambda span: span.start_time or 0):
        by_parent.setdefault(span.parent.span_id if span.parent else None, []).append(span)

    def lines(parent: int | None, indent: str) -> Iterator[str]:
        for span in by_parent.get(parent, ()):
            yield indent + span.name
            assert span.context is not None
            yield from lines(span.context.span_id, indent + "  ")

    return list(lines(None, ""))


def attributes(exporter: InMemorySpanExporter, name: str) -> dict[str, object]:
    span = next(span for span in exporter.get_finished_spans() if span.name == name)
    return dict(span.attributes or {})


async def test_a_run_is_a_tree_of_spans(
    provider: ScriptedProvider, tmp_path: Path, exporter: InMemorySpanExporter
) -> None:
    look = Call("list_directory", {"path": "."})
    calls = [calls_agent("right", "r"), look, calls_agent("left", "l")]
    provider.script("m-lead", Says(calls=calls, usage=(7, 3)), Says("done", usage=(20, 5)))
    for name in ("left", "right"):
        provider.script(f"m-{name}", Says(f"{name} is done"))
    async with bench(provider, tmp_path, TEAM) as work:
        work.on_event = spans_to(exporter)
        run_id = (await work.run("lead")).run_id

    assert tree(exporter.get_finished_spans()) == [
        "invoke_agent lead",
        "  chat m-lead",
        "  execute_tool call_agent",
        "    invoke_agent right",
        "      chat m-right",
        "  execute_tool list_directory",
        "  execute_tool call_agent",
        "    invoke_agent left",
        "      chat m-left",
        "  chat m-lead",
    ]
    assert {span.context.trace_id for span in exporter.get_finished_spans() if span.context}
    assert attributes(exporter, "invoke_agent lead") == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "lead",
        "gen_ai.conversation.id": run_id,
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m-lead",
        "gen_ai.usage.input_tokens": 27,
        "gen_ai.usage.output_tokens": 8,
        "axe.run.id": run_id,
        "axe.run.depth": 0,
    }
    assert attributes(exporter, "chat m-lead") == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m-lead",
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 3,
        "gen_ai.usage.cache_read.input_tokens": 0,
        "gen_ai.usage.cache_creation.input_tokens": 0,
        "gen_ai.response.finish_reasons": ("tool_calls",),
    }
    tool = attributes(exporter, "execute_tool list_directory")
    assert tool.pop("gen_ai.tool.call.id")
    assert tool == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "list_directory",
        "gen_ai.tool.type": "function",
    }
    assert attributes(exporter, "chat m-left")["gen_ai.provider.name"] == "anthropic"
    kinds = {span.name: span.kind for span in exporter.get_finished_spans()}
    assert kinds["chat m-lead"] is SpanKind.CLIENT
    assert kinds["invoke_agent lead"] is SpanKind.INTERNAL


async def test_what_was_said_is_told_only_on_request(
    provider: ScriptedProvider, tmp_path: Path, exporter: InMemorySpanExporter
) -> None:
    call = calls_agent("left", "the secret task")
    for show in (False, True):
        provider.script("m-lead", Says("words of mine", calls=[call]), Says("done"))
        provider.script("m-left", Says("the answer"))
        exporter.clear()
        async with bench(provider, tmp_path, TEAM) as work:
            work.on_event = spans_to(exporter, show)
            await work.run("lead", "the question")
        told = json.dumps([dict(span.attributes or {}) for span in exporter.get_finished_spans()])
        for words in ("the question", "the secret task", "words of mine", "the answer"):
            assert (words in told) is show
    said = attributes(exporter, "invoke_agent lead")["gen_ai.input.messages"]
    assert json.loads(str(said)) == [
        {"role": "user", "parts": [{"type": "text", "content": "the question"}]}
    ]
    assert (
        attributes(exporter, "execute_tool call_agent")["gen_ai.tool.call.result"] == "the answer"
    )
    (answer,) = json.loads(str(attributes(exporter, "chat m-lead")["gen_ai.output.messages"]))
    assert [part["type"] for part in answer["parts"]] == ["text", "tool_call"]


async def test_failures_are_told(
    provider: ScriptedProvider, tmp_path: Path, exporter: InMemorySpanExporter
) -> None:
    provider.script("m-lead", Refuses(500, "boom"))
    async with bench(provider, tmp_path, TEAM) as work:
        work.on_event = spans_to(exporter)
        with pytest.raises(RunError):
            await work.run("lead")

    chat, run = exporter.get_finished_spans()
    assert (chat.name, run.name) == ("chat m-lead", "invoke_agent lead")
    for span in (chat, run):
        assert span.status.status_code is StatusCode.ERROR
        assert dict(span.attributes or {})["error.type"] == "failed"
    assert run.status.description == "server: boom"


async def test_nothing_stays_open_when_a_run_is_cancelled(
    provider: ScriptedProvider, tmp_path: Path, exporter: InMemorySpanExporter
) -> None:
    hold = Hold()
    provider.script("m-lead", Says(calls=[calls_agent("left", "l")]))
    provider.script("m-left", Answer(Says("never"), hold=hold))
    async with bench(provider, tmp_path, TEAM) as work:
        work.on_event = spans_to(exporter)
        async with running(work.run("lead")) as run:
            turn = await work.heard(TurnBegin, lambda turn: turn.run.agent == "left")
            work.engine.cancel(turn.run.root_run_id)
            with pytest.raises(RunError):
                await run

    assert tree(exporter.get_finished_spans()) == [
        "invoke_agent lead",
        "  chat m-lead",
        "  execute_tool call_agent",
        "    invoke_agent left",
        "      chat m-left",
    ]
    assert attributes(exporter, "invoke_agent left")["error.type"] == "cancelled"
