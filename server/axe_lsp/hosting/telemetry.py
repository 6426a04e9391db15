"""Whether and where spans of runs are sent: OpenTelemetry's own variables say where (docs/telemetry.md).

It is an optional extra, imported when the first run wants it and off until then.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from axe_lsp import __version__
from axe_lsp.runtime.events import EventSink
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.user_config import known_secrets
from axe_lsp.runtime.safety.redaction import redact

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_LAST_SECONDS = 1.5
"""Seconds that a process waits at its end until the last spans are sent."""

_MISSING = (
    "spans of runs are not sent, because OpenTelemetry is not installed: run pip install 'CLONE[otel]', "
    "where CLONE is a clone of the repository"
)

_CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_CAPTURED = ("true", "span_only", "span_and_event")


def is_on(environment: Environment) -> bool:
    """Return whether the environment asks for spans."""
    is_disabled = environment.get("OTEL_SDK_DISABLED", "").lower() == "true"
    return environment.get("OTEL_TRACES_EXPORTER") == "otlp" and not is_disabled


class Telemetry:
    """Sends the spans of a process."""

    def __init__(self) -> None:
        self._provider: TracerProvider | None = None
        self._spans: EventSink | None = None

    def sink(self, is_wanted: bool, warn: Callable[[str], None]) -> EventSink | None:
        """Take the events of a run, if spans are wanted by a setting or by the environment."""
        if not (is_wanted or is_on(os.environ)):
            return None
        if self._spans is None:
            try:
                self._spans = self._open()
            except ImportError:
                warn(_MISSING)
        return self._spans

    async def aclose(self) -> None:
        """Send what is left, but don't wait for a collector that is not there."""
        if self._provider is not None:
            # The time limit of `force_flush` leaves out what a request takes that gets no answer.
            flushing = threading.Thread(target=self._provider.force_flush, daemon=True)
            flushing.start()
            await asyncio.to_thread(flushing.join, _LAST_SECONDS)

    def _open(self) -> EventSink:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        from axe_lsp.hosting.spans import Spans

        name = os.environ.get("OTEL_SERVICE_NAME") or "axe-lsp"
        resource = Resource.create({"service.name": name, "service.version": __version__})
        # At exit it would wait for as long as its own patience lasts.
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        tracer = self._provider.get_tracer("axe_lsp", __version__)
        captures = os.environ.get(_CAPTURE, "").lower() in _CAPTURED
        return Spans(tracer, _without_secrets if captures else None)


def _without_secrets(text: str) -> str:
    return redact(text, known_secrets(os.environ))
