"""A connection to one MCP server. The only module that knows the SDK, which is slow to import.

The SDK ties a connection to the task that opens it, cancels that task when the connection breaks,
and takes its time to say goodbye. So each connection has a task of its own: when it breaks, calls
fail and the run goes on, and whoever closes it waits no longer than it wants to.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, TypeVar

from msgspec import Struct

from axe_lsp import __version__
from axe_lsp.agentfile.agent_definition import McpServer
from axe_lsp.agentfile.text.addresses import without_passwords
from axe_lsp.runtime.messages import Image, Json
from axe_lsp.tasks import Tasks

_Result = TypeVar("_Result")

_MAX_PAGES = 100
"""A server whose list of tools never ends is asked no further."""

_CONNECT_SECONDS = 10.0

_MOST_OF_A_MESSAGE = 32 * 1024 * 1024
"""Bytes of an answer, or of an event in a stream."""


class McpError(Exception):
    """The fault between us and a server, for people and models."""


class ServerTool(Struct, frozen=True):
    """A tool as its server describes it."""

    name: str
    description: str
    schema: Mapping[str, Json]
    only_reads: bool


class Answer(Struct, frozen=True):
    """The result of a call: its texts and pictures. Sound and other kinds are left out."""

    texts: tuple[str, ...]
    is_error: bool
    images: tuple[Image, ...] = ()


async def load_sdk() -> None:
    """Import the SDK, before the first connection. In a thread: other runs must not wait for it."""
    await asyncio.to_thread(_import_sdk)


class Connection:
    """A connection, from `start` to `close`, which always comes last."""

    def __init__(self, server: McpServer, headers: Mapping[str, str]) -> None:
        self.server = server
        self._headers = headers
        self._tasks = Tasks()
        self._over = asyncio.Event()
        self._listed = asyncio.Event()
        self._tools: tuple[ServerTool, ...] = ()
        self._client: Any = None
        self._refusal = ""
        self._serving: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to connect."""
        name = f"MCP server {self.server.name}"
        self._serving = self._tasks.start(self._serve(), name)
        self._serving.add_done_callback(_look_at)

    async def tools(self) -> tuple[ServerTool, ...]:
        """The tools of the server, as soon as it has listed them. Raises McpError."""
        await self._while_connected(self._listed.wait())
        return self._tools

    @property
    def is_connected(self) -> bool:
        """Whether the server has welcomed us; what fails before is the connecting."""
        return self._client is not None

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> Answer:
        """Have the server execute one of its tools. Raises McpError."""
        result = await self._while_connected(self._client.call_tool(tool, dict(arguments)))
        texts = tuple(each.text for each in result.content if each.type == "text")
        pictures = (each for each in result.content if each.type == "image")
        images = tuple(Image(each.mime_type, each.data) for each in pictures)
        return Answer(texts, bool(result.is_error), images)

    async def close(self, within: float) -> None:
        """Say goodbye, and end the connection in any case."""
        self._over.set()
        if self._serving is not None:
            await asyncio.wait({self._serving}, timeout=within)
        await self._tasks.stop(within)

    async def _serve(self) -> None:
        async with _connected(self.server, self._headers, self._answered) as client:
            self._client = client
            self._tools = await _all_tools(client)
            self._listed.set()
            await self._over.wait()

    async def _while_connected(self, work: Awaitable[_Result]) -> _Result:
        """The result of `work`, which is given up when the connection ends."""
        assert self._serving is not None
        task = self._tasks.start(_awaited(work), f"asking MCP server {self.server.name}")
        task.add_done_callback(_look_at)
        try:
            await asyncio.wait({task, self._serving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            task.cancel()
        ended: asyncio.Task[Any] = task if task.done() else self._serving
        fault = None if ended.cancelled() else ended.exception()
        if fault is not None:
            raise McpError(self._explained(_reason(fault))) from fault
        if ended is self._serving or ended.cancelled():
            raise McpError("the connection was closed")
        return task.result()

    async def _answered(self, response: Any) -> None:
        """Limit the answer. Remember with which status the server has refused the last request, if it has."""
        response.headers.pop("content-encoding", None)  # None was asked for, so none is decoded.
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _limited()(response.stream)
        is_refusal = response.status_code >= 400
        self._refusal = f"{response.status_code} {response.reason_phrase}" if is_refusal else ""

    def _explained(self, reason: str) -> str:
        """The SDK does not always tell the status."""
        is_told = not self._refusal or self._refusal in reason
        return reason if is_told else f"{reason} (HTTP {self._refusal})"


def _import_sdk() -> None:
    import mcp.client.sse
    import mcp.client.streamable_http  # noqa: F401

    # It writes tracebacks of what it also raises, and at lower levels all that is said.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)


@cache
def _limited() -> Any:
    """The class of bodies that are not read beyond the limit. The SDK limits only events."""
    from httpx2 import AsyncByteStream, StreamError

    class Limited(AsyncByteStream):
        def __init__(self, body: AsyncByteStream) -> None:
            self._body = body

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in self._body:
                size += len(chunk)
                if size > _MOST_OF_A_MESSAGE:
                    raise StreamError("the server has sent more than 32 MB as one answer")
                yield chunk

        async def aclose(self) -> None:
            await self._body.aclose()

    return Limited


@asynccontextmanager
async def _connected(
    server: McpServer, headers: Mapping[str, str], answered: Callable[[Any], Awaitable[None]]
) -> AsyncIterator[Any]:
    from httpx2 import AsyncClient, Timeout
    from mcp import Client, Implementation
    from mcp.client.sse import sse_client
    from mcp.client.streamable_http import streamable_http_client

    def http_client(*_: object, **__: object) -> AsyncClient:
        # How long an answer may take is for the run to say.
        timeout = Timeout(None, connect=_CONNECT_SECONDS)
        hooks = {"response": [answered]}
        asked = {"Accept-Encoding": "identity", **headers}
        return AsyncClient(headers=asked, timeout=timeout, event_hooks=hooks)

    us = Implementation(name="axe-lsp", version=__version__)
    if server.transport == "sse":
        transport = sse_client(server.url, httpx_client_factory=http_client)
        async with Client(transport, client_info=us, cache=None, mode="legacy") as client:
            yield client
    else:
        async with http_client() as http:
            transport = streamable_http_client(
                server.url, http_client=http, max_sse_event_size=_MOST_OF_A_MESSAGE
            )
            async with Client(transport, client_info=us, cache=None) as client:
                yield client


async def _all_tools(client: Any) -> tuple[ServerTool, ...]:
    tools: list[ServerTool] = []
    cursor = None
    for _ in range(_MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += [_server_tool(tool) for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            break
    return tuple(tools)


def _server_tool(tool: Any) -> ServerTool:
    only_reads = bool(tool.annotations and tool.annotations.read_only_hint)
    return ServerTool(tool.name, tool.description or "", tool.input_schema, only_reads)


async def _awaited(work: Awaitable[_Result]) -> _Result:
    return await work


def _look_at(task: asyncio.Task[Any]) -> None:
    """Take note of what a task raises, which asyncio would report if nobody else does."""
    if not task.cancelled():
        task.exception()


def _reason(error: BaseException) -> str:
    """Why something failed, in a line: the first of all that failed together."""
    while nested := getattr(error, "exceptions", None):
        error = nested[0]
    lines = str(error).strip().splitlines()
    return without_passwords(lines[0]) if lines else type(error).__name__
