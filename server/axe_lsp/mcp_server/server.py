"""The server: its tools, kept up to date, over standard streams or HTTP on this machine."""

from __future__ import annotations

import asyncio
import hmac
import logging
import socket
from collections.abc import Awaitable, Callable, Collection, Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from anyio import BrokenResourceError, ClosedResourceError
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from axe_lsp import __version__
from axe_lsp.daemon.watch import watch
from axe_lsp.mcp_server.agent_tools import Toolbox, toolbox
from axe_lsp.mcp_server.tool_calls import Calls, Context
from axe_lsp.runtime.errors import RunError
from axe_lsp.tasks import Tasks

_INVALID_PARAMS = -32602

_LOOK_EVERY = 0.4
"""Seconds between two looks at the agent files."""

_MOST_CLIENTS = 100
"""Clients of older versions that are told of changes; those that came last."""

_INSTRUCTIONS = (
    "Each tool is an agent that works in the folder of this server, and may call other agents."
)

_log = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
App = Callable[
    [Scope, Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]
]


class AgentServer:
    """The agents of a folder as tools. `names` and `offers_all` say which (`toolbox`)."""

    def __init__(
        self, folder: Path, names: Collection[str], calls: Calls, *, offers_all: bool
    ) -> None:
        self._folder = folder
        self._names = names
        self._offers_all = offers_all
        self._calls = calls
        self._box = toolbox(folder, names, offers_all=offers_all)
        self._bus = InMemorySubscriptionBus()
        self._older: dict[str, ServerSession] = {}
        self._tasks = Tasks()
        self._server: Server[Any] = Server(
            "axe",
            version=__version__,
            title="Agents of axe",
            instructions=_INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=ListenHandler(self._bus),
        )
        self._warn_of_left_out(self._box)

    async def serve_stdio(self) -> None:
        """Serve the client that has started this process, until it leaves."""
        self._start_watching()
        try:
            async with stdio_server() as (incoming, outgoing):
                options = self._server.create_initialization_options(
                    NotificationOptions(tools_changed=True)
                )
                await self._server.run(incoming, outgoing, options)
        finally:
            await self._close()

    async def serve_http(self, host: str, listening: socket.socket, token: str) -> None:
        """Serve clients of this machine at /mcp, until cancelled. With a `token` each request has to bring it.

        They connect to `host`, which Host of each request has to name.
        """
        self._start_watching()
        app: App = self._server.streamable_http_app(host=host)
        config = uvicorn.Config(
            _guarded(app, token) if token else app,
            log_level="error",
            timeout_graceful_shutdown=1,
        )
        try:
            await _HttpServer(config).serve([listening])
        finally:
            await self._close()

    async def _close(self) -> None:
        await self._tasks.stop(within=1.0)
        await self._calls.close()

    # Requests.

    async def _list(self, context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
        if not is_modern:
            self._remember(context)
        tools = [tool.described(is_modern=is_modern) for tool in self._box.tools.values()]
        return ListToolsResult(tools=tools)

    def _remember(self, context: Context) -> None:
        """Tell a client of changes from now on. Over HTTP there may be several."""
        headers = context.request.headers if context.request is not None else {}
        self._older[headers.get("mcp-session-id", "")] = context.session
        if len(self._older) > _MOST_CLIENTS:
            del self._older[next(iter(self._older))]

    async def _call(
        self, context: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        tool = self._box.tools.get(params.name)
        if tool is None:
            offered = ", ".join(self._box.tools) or "none"
            raise MCPError(
                _INVALID_PARAMS, f"there is no tool {params.name!r}; the tools are: {offered}"
            )
        return await self._calls.answer(tool, params, self._box.here.places, context)

    # Changes of the agent files.

    def _start_watching(self) -> None:
        looking = watch(self._folders, lambda _: self._look_again(), _LOOK_EVERY)
        self._tasks.start_unattended(looking, name="agent files")

    def _folders(self) -> list[Path]:
        return [*self._box.here.agents.all_folders]

    def _look_again(self) -> None:
        self._tasks.start_unattended(self._update(), name="tools")

    async def _update(self) -> None:
        try:
            box = await asyncio.to_thread(
                toolbox, self._folder, self._names, offers_all=self._offers_all
            )
        except (
            RunError
        ) as error:  # An agent that was named has gone or is broken; it may come back.
            _log.warning("the tools stay as they are: %s", error)
            return
        before, self._box = self._box, box
        if _shown(before) == _shown(box):
            return
        self._warn_of_left_out(box)
        await self._bus.publish(ToolsListChanged())
        for key, session in list(self._older.items()):
            try:
                await session.send_tool_list_changed()
            except (MCPError, ClosedResourceError, BrokenResourceError):  # The client has gone.
                self._older.pop(key, None)

    def _warn_of_left_out(self, box: Toolbox) -> None:
        for name in box.left_out:
            _log.warning("agent %r is left out: a tool can't have this name", name)


def _shown(box: Toolbox) -> list[Any]:
    return [tool.described(is_modern=True) for tool in box.tools.values()]


class _HttpServer(uvicorn.Server):
    """Leaves signals to its caller."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _guarded(app: App, token: str) -> App:
    """Return the app behind a check of the token, which comes before a request is read."""
    expected = f"Bearer {token}".encode()

    async def guarded(scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, expected):
                headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b""})
                return
        await app(scope, receive, send)

    return guarded
