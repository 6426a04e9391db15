"""An MCP server on loopback, made with the same SDK as our client: both transports, as a process.

    with McpTestServer("streamable-http") as server:
        ... an agent with mcp_servers = [server.table("test")] ...
        server.wait_until_left()

It says what it was sent, and how many requests are open.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from typing import Any

from support.waiting import wait_until

PATIENCE = 60.0
"""Seconds after which waiting for something that should happen is a failure."""

TRANSPORTS = ("sse", "streamable-http")


class McpTestServer:
    """The server; a context manager. `tools` are those of `TOOLS` that it offers."""

    def __init__(self, transport: str, *tools: str) -> None:
        self.transport = transport
        self._tools = tools or ("add", "echo", "picture", "failing", "flood", "slow")

    def __enter__(self) -> McpTestServer:
        # Not as a script: its folder has a module `secrets`, which would stand in for Python's own.
        code = "import sys; from support.mcp_serving import serve; serve(sys.argv[1], sys.argv[2:])"
        command = [sys.executable, "-c", code, self.transport, *self._tools]
        paths = os.pathsep.join(sys.path)
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths}
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def url(self) -> str:
        """Its address."""
        path = "sse" if self.transport == "sse" else "mcp"
        return f"http://127.0.0.1:{self.port}/{path}"

    def table(self, name: str, **more: Any) -> dict[str, Any]:
        """Its `[[mcp_servers]]`."""
        return {"name": name, "url": self.url, "transport": self.transport, **more}

    def kill(self) -> None:
        """End the server where it stands."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def requests(self) -> list[dict[str, str]]:
        """Return the headers of all requests so far, and their `method`."""
        found: list[dict[str, str]] = self._state()["requests"]
        return found

    def wait_until_left(self) -> None:
        """Wait until no request is open any more."""
        self._wait_for("open", 0)

    def wait_for_calls(self, count: int) -> None:
        """Wait until so many calls of `slow` are being executed."""
        self._wait_for("slow", count)

    def _wait_for(self, name: str, count: int) -> None:
        wait_until(lambda: self._state()[name] == count, self._state)

    def _state(self) -> dict[str, Any]:
        with urllib.request.urlopen(
            f"http://127.0.0.1:{self.port}/state", timeout=PATIENCE
        ) as answer:
            state: dict[str, Any] = json.load(answer)
            return state
