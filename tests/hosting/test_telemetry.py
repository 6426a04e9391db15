"""Spans on their way to a collector: only when they are wanted, over HTTP, and never in the way."""

from __future__ import annotations

import gzip
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("opentelemetry.exporter", reason="the extra otel is not installed")

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from axe_lsp.hosting.telemetry import is_on
from support.hosts import agent, stage, workspace_with
from support.scripted_provider import Says, ScriptedProvider, calls_agent

TEAM = {"lead": agent("lead", "helper"), "helper": agent("helper")}


class Collector:
    """Takes spans."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, ExportTraceServiceRequest]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                outer.requests.append((self.path, ExportTraceServiceRequest.FromString(body)))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def spans(self) -> list[str]:
        """Return the names of all spans that have arrived, with their services."""
        return sorted(
            f"{_service(resource)}: {span.name}"
            for _, request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        )


def _service(resource: object) -> str:
    found = {each.key: each.value.string_value for each in resource.resource.attributes}  # type: ignore[attr-defined]
    return found["service.name"]


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector = Collector()
    yield collector
    collector.server.shutdown()
    collector.server.server_close()


def script(provider: ScriptedProvider) -> None:
    provider.script("m-lead", Says(calls=[calls_agent("helper", "h")]), Says("done"))
    provider.script("m-helper", Says("helped"))


SPANS = [
    "axe-lsp: chat m-helper",
    "axe-lsp: chat m-lead",
    "axe-lsp: chat m-lead",
    "axe-lsp: execute_tool call_agent",
    "axe-lsp: invoke_agent helper",
    "axe-lsp: invoke_agent lead",
]


def run(
    workspace: Path, collector_url: str, environment: Mapping[str, str], start: str = ""
) -> subprocess.CompletedProcess[str]:
    """`axe-lsp run lead`, with a collector in its environment."""
    program = f"{start}\nfrom axe_lsp.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, "run", "lead"],
        cwd=workspace,
        env={**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": collector_url, **environment},
        stdin=subprocess.DEVNULL,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )


ON = {"OTEL_TRACES_EXPORTER": "otlp"}


def test_a_run_at_a_terminal_sends_its_spans(
    tmp_path: Path, provider: ScriptedProvider, collector: Collector
) -> None:
    script(provider)

    ended = run(workspace_with(tmp_path, TEAM), collector.url, ON)

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done", "")
    assert {path for path, _ in collector.requests} == {"/v1/traces"}
    assert collector.spans() == SPANS


async def test_a_run_of_an_editor_sends_its_spans_if_the_setting_says_so(
    tmp_path: Path,
    provider: ScriptedProvider,
    collector: Collector,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    monkeypatch.setenv("OTEL_SERVICE_NAME", "my-agents")
    script(provider)
    script(provider)
    async with stage(tmp_path, TEAM) as at:
        await at.start("lead").result()
        await at.start("lead", traces=True).result()

    assert collector.spans() == [each.replace("axe-lsp", "my-agents") for each in SPANS]


def test_nothing_is_sent_unless_it_is_wanted(
    tmp_path: Path, provider: ScriptedProvider, collector: Collector
) -> None:
    script(provider)

    assert run(workspace_with(tmp_path, TEAM), collector.url, {}).returncode == 0

    assert collector.requests == []
    assert not is_on({"OTEL_TRACES_EXPORTER": "none"})
    assert not is_on({**ON, "OTEL_SDK_DISABLED": "true"})
    assert is_on(ON)


def test_a_collector_that_is_not_there_holds_up_nobody(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    script(provider)

    ended = run(workspace_with(tmp_path, TEAM), "http://127.0.0.1:9", ON)

    assert (ended.returncode, ended.stdout) == (0, "done")


def test_a_collector_that_never_answers_holds_up_nobody(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    """Without a limit of its own the run would wait for as long as the exporter, and `run` gives up before."""
    script(provider)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"

        ended = run(
            workspace_with(tmp_path, TEAM), url, {**ON, "OTEL_EXPORTER_OTLP_TIMEOUT": "600"}
        )

    assert (ended.returncode, ended.stdout) == (0, "done")


def test_who_has_not_installed_it_is_told_how(
    tmp_path: Path, provider: ScriptedProvider, collector: Collector
) -> None:
    script(provider)
    without = "import sys; sys.modules['opentelemetry'] = None"

    ended = run(workspace_with(tmp_path, TEAM), collector.url, ON, without)

    assert (ended.returncode, ended.stdout) == (0, "done")
    assert "pip install 'CLONE[otel]'" in ended.stderr
