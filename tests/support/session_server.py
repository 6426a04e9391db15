"""An MCP server over streamable HTTP (2025-06-18) that can forget its sessions, as a restart does."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = Any
TOOL = {"name": "tell", "description": "", "inputSchema": {"type": "object"}}


class SessionServer:
    """The server; a context manager. `on_call` returns the text of a result, and is given the params.

    `lost` is the status with which it refuses a session that it does not know, and `requests` has all methods.
    With a `refusal` (a status and headers) it refuses everything.
    """

    def __init__(
        self,
        on_call: Callable[[Json], str] = lambda _: "told",
        *,
        lost: int = 404,
        refusal: tuple[int, dict[str, str]] | None = None,
        instructions: str = "",
    ) -> None:
        self.on_call, self.lost, self.refusal = on_call, lost, refusal
        self.instructions = instructions
        self.sessions: set[str] = set()
        self.requests: list[str] = []
        self.executed: list[Json] = []
        self._started = 0
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    def __enter__(self) -> SessionServer:
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def table(self, **more: Json) -> dict[str, Json]:
        """Its `[[mcp_servers]]`."""
        url = f"http://127.0.0.1:{self._http.server_port}/mcp"
        return {"name": "s", "url": url, "transport": "streamable-http", **more}

    def forget(self) -> None:
        """Lose all sessions."""
        self.sessions.clear()

    def _begin(self) -> tuple[Json, dict[str, str]]:
        self._started += 1
        session = f"session-{self._started}"
        self.sessions.add(session)
        result = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "s", "version": "1"},
            **({"instructions": self.instructions} if self.instructions else {}),
        }
        return result, {"Mcp-Session-Id": session}

    def _answer(self, message: Json, session: str) -> tuple[int, Json, dict[str, str]]:
        method = message.get("method")
        self.requests.append(method)
        if self.refusal is not None:
            return self.refusal[0], None, self.refusal[1]
        headers: dict[str, str] = {}
        if method == "initialize":
            result, headers = self._begin()
        elif session not in self.sessions:
            error = {"code": -32001, "message": "Session not found"}
            return self.lost if session else 400, {"jsonrpc": "2.0", "id": None, "error": error}, {}
        elif "id" not in message:
            return 202, None, {}
        elif method == "tools/list":
            result = {"tools": [TOOL]}
        elif method == "tools/call":
            text = self.on_call(message["params"])
            self.executed.append(message["params"])
            result = {"content": [{"type": "text", "text": text}]}
        else:
            error = {"code": -32601, "message": "Method not found"}
            return 200, {"jsonrpc": "2.0", "id": message["id"], "error": error}, {}
        return 200, {"jsonrpc": "2.0", "id": message["id"], "result": result}, headers

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                self._reply(405, None, {})

            def do_DELETE(self) -> None:
                self._reply(200, None, {})

            def do_POST(self) -> None:
                message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self._reply(*server._answer(message, self.headers.get("Mcp-Session-Id", "")))

            def _reply(self, status: int, body: Json, headers: dict[str, str]) -> None:
                data = b"" if body is None else json.dumps(body).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if body is not None:
                    self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        return Handler
