"""Connections to MCP servers end with their run, also in a host and also when that is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from axe_lsp.runtime.errors import RunError
from support.engines import agent
from support.hosts import stage
from support.mcp_server import TRANSPORTS, McpTestServer
from support.scripted_provider import Call, Says, ScriptedProvider


@pytest.fixture(scope="module", params=TRANSPORTS)
def server(request: pytest.FixtureRequest) -> Iterator[McpTestServer]:
    with McpTestServer(request.param) as server:
        yield server


async def test_a_stopped_run_leaves_its_servers_and_its_host_goes_on(
    provider: ScriptedProvider, tmp_path: Path, server: McpTestServer
) -> None:
    adds = Says(calls=[Call("add", {"a": 1, "b": 1})])
    provider.script("m-bot", Says(calls=[Call("slow", {})]), adds, Says("two"))
    async with stage(tmp_path, agent("bot", mcp_servers=[server.table("s")])) as on:
        run = on.start("bot", allow=("*#*",), trusted=True)
        await asyncio.to_thread(server.wait_for_calls, 1)
        on.runs.cancel(run.id)
        with pytest.raises(RunError, match="cancelled"):
            await run.result()
        await asyncio.to_thread(server.wait_for_calls, 0)
        await asyncio.to_thread(server.wait_until_left)
        assert (await on.start("bot", allow=("*#*",), trusted=True).result()).content == "two"
        assert len(on.hosts()) == 1
    await asyncio.to_thread(server.wait_until_left)


async def test_a_killed_host_leaves_nothing_connected(
    provider: ScriptedProvider, tmp_path: Path, server: McpTestServer
) -> None:
    provider.script("m-bot", Says(calls=[Call("slow", {})]))
    async with stage(tmp_path, agent("bot", mcp_servers=[server.table("s")])) as on:
        run = on.start("bot", allow=("*",), trusted=True)
        await asyncio.to_thread(server.wait_for_calls, 1)
        os.kill(on.hosts()[0], signal.SIGKILL)
        with pytest.raises(RunError):
            await run.result()
        await asyncio.to_thread(server.wait_until_left)


def test_who_names_no_server_never_waits_for_the_sdk() -> None:
    code = (
        "import sys, axe_lsp.hosting.host.host, axe_lsp.hosting.host.engine_factory, axe_lsp.cli.live_run\n"
        "assert not {'mcp', 'mcp_types', 'httpx2', 'pydantic'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
