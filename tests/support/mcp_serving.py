"""The process of an McpTestServer: tools to be called, and a page that says what is going on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import anyio
import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp_types import ImageContent, ToolAnnotations

STATE: dict[str, Any] = {"requests": [], "open": 0, "slow": 0}


def add(a: int, b: float, negate: bool = False) -> str:
    """Adds two numbers."""
    return str(-(a + b) if negate else a + b)


def echo(texts: list[str]) -> list[str]:
    """Says all texts."""
    return texts


def picture() -> ImageContent:
    """Draws."""
    return ImageContent(type="image", data="AAAA", mime_type="image/png")


def failing() -> str:
    """Fails."""
    raise ValueError("the cellar is flooded")


def flood() -> str:
    """Says too much."""
    return "x" * 200_000


def look() -> str:
    """Only looks."""
    return "nothing to be seen"


async def slow() -> str:
    """Never ends."""
    STATE["slow"] += 1
    try:
        await anyio.sleep_forever()
    finally:
        STATE["slow"] -= 1
    return ""


FUNCTIONS = {each.__name__: each for each in (add, echo, picture, failing, flood, look, slow)}

ANNOTATIONS = {look: ToolAnnotations(read_only_hint=True), add: ToolAnnotations(title="Add")}
"""What the server says about its tools."""


def serve(transport: str, tools: Sequence[str]) -> None:
    """Serve until killed; prints the port first, but over stdio. A tool `name=function` has another name."""
    server = MCPServer("test", log_level="CRITICAL")
    for tool in tools:
        name, _, function = tool.partition("=")
        made = FUNCTIONS[function or name]
        server.add_tool(made, name=name, annotations=ANNOTATIONS.get(made), structured_output=False)
    if transport == "stdio":
        server.run("stdio")
        return
    app = server.sse_app() if transport == "sse" else server.streamable_http_app()

    async def watched(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
        elif scope["path"] == "/state":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": json.dumps(STATE).encode()})
        else:
            headers = {name.decode(): value.decode() for name, value in scope["headers"]}
            STATE["requests"].append({**headers, "method": scope["method"]})
            STATE["open"] += 1
            try:
                await app(scope, receive, send)
            finally:
                STATE["open"] -= 1

    config = uvicorn.Config(watched, port=0, log_level="critical", ws="none")
    listening = config.bind_socket()
    listening.listen(128)
    print(listening.getsockname()[1], flush=True)
    anyio.run(uvicorn.Server(config).serve, [listening])
