"""Runs an agent of pydantic-ai for promptfoo, and sends it the spans of what happened."""

from __future__ import annotations

from typing import Any

from opentelemetry import context as spans
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from pydantic_agents import AGENTS
from pydantic_ai import Agent
from pydantic_ai.models.instrumented import InstrumentationSettings

_TRACES = TracerProvider()
_TRACES.add_span_processor(BatchSpanProcessor(OTLPSpanExporter("http://127.0.0.1:4318/v1/traces")))
Agent.instrument_all(InstrumentationSettings(tracer_provider=_TRACES))


async def call_api(prompt: str, options: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    """Return what promptfoo calls for each case."""
    above = TraceContextTextMapPropagator().extract({"traceparent": context["traceparent"]})
    token = spans.attach(above)
    try:
        result = await AGENTS["lead"].run(prompt)
    finally:
        spans.detach(token)
        _TRACES.force_flush()
    used = result.usage
    tokens = {"total": used.total_tokens, "prompt": used.input_tokens}
    return {"output": result.output, "tokenUsage": {**tokens, "completion": used.output_tokens}}
