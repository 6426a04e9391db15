"""A connection to one MCP server. The only module that knows the SDK, which is slow to import.

The SDK ties a connection to the task that opens it, cancels that task when the connection breaks,
and takes its time to say goodbye. So each connection has a task of its own: when it breaks, calls
fail and the run goes on, and closing it takes no longer than its caller allows.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
from base64 import b64decode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeVar

import anyio
from msgspec import Struct

from axe_lsp import __version__
from axe_lsp.agentfile.mcp_servers import McpServer, is_secret_name
from axe_lsp.agentfile.text.addresses import without_passwords
from axe_lsp.runtime.files.images import LARGEST_IMAGE, image_of
from axe_lsp.runtime.mcp.elicitation import Elicit, Elicitation
from axe_lsp.runtime.mcp.stdio_server import ServerProcess, start_server
from axe_lsp.runtime.messages import Image, Json
from axe_lsp.runtime.providers.wire import is_deeper, parse_json
from axe_lsp.tasks import Tasks

_Result = TypeVar("_Result")

_BEGINS_AS_TABLE = re.compile(rb'\s*\{\s*"')
"""JSON, and not a table as Python writes it."""

_DEEPEST_TOOL = 250
"""Levels of what a server says of a tool."""

_UNFIT: Json = {"type": "object", "default": math.nan}
"""In place of a schema that is nested too deeply: one that can't be sent either."""

_MAX_PAGES = 100
"""A server whose list of tools never ends is asked no further."""

_CONNECT_SECONDS = 10.0
"""How long an address may take to accept a connection."""

_SUBSCRIBE_SECONDS = 2.0
"""How long the first list waits for a server to confirm that it will tell of changes."""

_LONGEST_PAUSE = 60.0
"""Seconds between two attempts to hear of changes."""

_GOODBYE_SECONDS = 0.25
"""How long closing a connection may hold up the end of a run, and once more if it has to be broken."""

ENDING_SECONDS = 2.0
"""For which a process may end by itself after its standard input has ended, and once more after SIGTERM.

At the end of a cancelled run, for which the user waits, it is `_GOODBYE_SECONDS`.
"""

_NOT_FOUND = 127
"""The exit code of a command that does not exist."""

_VISIT_NEEDED = -32042
"""The code of an error for a call before which the user has to visit an address (2025-11-25)."""

_MOST_OF_A_MESSAGE = 32 * 1024 * 1024
"""Bytes of an answer, or of an event in a stream."""


_SESSION = "mcp-session-id"

_NO_SESSION = 404
_BAD_REQUEST = 400

_UNAUTHORIZED = "401"

_EXAMPLE = 'headers = { Authorization = "Bearer ${TOKEN}" }'

_MOST_IMAGES = 20
"""Pictures of a result that are handed on."""


class McpError(Exception):
    """The fault between us and a server, for people and models."""


class ServerTool(Struct, frozen=True):
    """A tool as its server describes it."""

    name: str
    description: str
    schema: Mapping[str, Json]
    only_reads: bool


class Answer(Struct, frozen=True):
    """The result of a call: its texts and pictures. What a model does not get is named in a text.

    A result without texts has its structured content as one.
    """

    texts: tuple[str, ...]
    is_error: bool
    images: tuple[Image, ...] = ()


async def load_sdk() -> None:
    """Import the SDK, before the first connection. In a thread: other runs must not wait for it."""
    await asyncio.to_thread(_import_sdk)


class _Link(Struct):
    """One of the connections that are made to a server, one after the other. `over` ends it.

    `is_lost`: the server no longer knows the session of it.
    """

    over: asyncio.Event
    is_lost: bool = False
    task: asyncio.Task[None] | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.task is not None and self.task.done()


class Access(Struct, frozen=True):
    """The way to a server, with secrets: the `headers` for an address; for a command, where it starts."""

    headers: Mapping[str, str]
    environment: Mapping[str, str]
    folder: Path


class Connection:
    """A connection, from `start` to `close`, which always comes last.

    `instructions` are the server's for its tools, "" if it has none. `unusable_tools` are those of its list that
    are not as the protocol wants them, with the fault of each.
    """

    def __init__(self, server: McpServer, access: Access, elicit: Elicit) -> None:
        self.server = server
        self._access = access
        self._elicit = elicit
        self._calls = 0
        self._asking = asyncio.Lock()
        self._asked: set[anyio.CancelScope] = set()
        self._has_changed = False
        self._tasks = Tasks()
        self._link = _Link(asyncio.Event())
        self._listed = asyncio.Event()
        self._tools: tuple[ServerTool, ...] = ()
        self._listeners: set[Callable[[], None]] = set()
        self._client: Any = None
        self._refusal = ""
        self._wants_oauth = False
        self.instructions = ""
        self.unusable_tools: dict[str, str] = {}
        self._process: ServerProcess | None = None
        self._hurries = False
        self._is_second_start = False

    def start(self) -> None:
        """Begin to connect."""
        self._link = link = _Link(asyncio.Event())
        link.task = self._tasks.start(self._serve(link), f"MCP server {self.server.name}")
        link.task.add_done_callback(_look_at)

    async def tools(self) -> tuple[ServerTool, ...]:
        """Return the tools of the server, as soon as it has listed them. Raises McpError."""
        return await self._within_limit(self._listed_tools())

    async def _listed_tools(self) -> tuple[ServerTool, ...]:
        await self._while_connected(self._listed.wait())
        return self._tools

    async def _within_limit(self, work: Awaitable[_Result]) -> _Result:
        limit = self.server.startup_timeout
        try:
            with anyio.fail_after(limit):
                return await work
        except TimeoutError:
            reason = f"no answer within {limit}s (the key startup_timeout allows for more)"
            raise McpError(self.explained(reason)) from None

    async def newest_tools(self) -> tuple[ServerTool, ...]:
        """Return the tools, listed once more if the server has said that they have changed. Raises McpError.

        Without a connection they are those that were listed last.
        """
        if self._has_changed and self._listed.is_set() and not self._link.is_over:
            self._has_changed = False
            work = self._while_connected(self._all_tools(self._client))
            self._tools = await self._within_limit(work)
        return self._tools

    @property
    def is_connected(self) -> bool:
        """Whether the server has welcomed us; what fails before is the connecting."""
        return self._client is not None

    async def call(
        self, tool: str, arguments: Mapping[str, Json], heard: Callable[[], None]
    ) -> Answer:
        """Have the server execute one of its tools. Raises McpError.

        `heard` is called whenever the server says something meanwhile. A process that has died is started once
        more, for the first call after that. A connection to an address is made anew for a call when it has ended,
        or when the server has lost its session.
        """
        self._calls += 1
        self._listeners.add(heard)
        try:
            if self._link.is_over or self._link.is_lost:
                self._start_again(self._link)
            result = await self._result_of(tool, dict(arguments))
        finally:
            self._listeners.discard(heard)
            self._calls -= 1
            if not self._calls:  # Nobody waits for the answers.
                for scope in (*self._asked,):
                    scope.cancel()
        return _answer(result)

    async def _result_of(self, tool: str, arguments: dict[str, Json]) -> Any:
        """Return the result of a call, which is sent again in a new session if the server has lost the old one.

        It has not executed that call. "When a client receives HTTP 404 in response to a request containing an
        `Mcp-Session-Id`, it MUST start a new session" (specification 2025-11-25, Session Management).
        """
        from mcp import MCPError

        await self.tools()
        link = self._link
        try:
            return await self._while_connected(self._answer_of(tool, arguments))
        except McpError as error:
            if not (link.is_lost and isinstance(error.__cause__, MCPError)):
                raise
        self._start_again(link)
        await self.tools()
        return await self._while_connected(self._answer_of(tool, arguments))

    def _start_again(self, ended: _Link) -> None:
        """Connect once more in place of a link, unless another call has done so. A command is started again once."""
        if self._link is not ended or (self.server.is_command and self._is_second_start):
            return
        self._is_second_start = True
        if self._calls <= 1:  # Others may still get their results.
            ended.over.set()
        self._client, self._process = None, None
        self._listed.clear()
        self.start()

    async def _answer_of(self, tool: str, arguments: dict[str, Json]) -> Any:
        """Return the result of a call, which is repeated once if the user has to visit an address before."""
        from mcp import MCPError
        from mcp.types import ElicitRequestURLParams

        try:
            return await self._sent_call(tool, arguments)
        except MCPError as error:
            if error.code != _VISIT_NEEDED or not isinstance(error.data, dict):
                raise
            wanted = error.data.get("elicitations")
            for each in wanted if isinstance(wanted, list) else ():
                params = ElicitRequestURLParams.model_validate(each)
                if (await self._ask(params)).action != "accept":
                    raise
        return await self._sent_call(tool, arguments)

    async def _sent_call(self, tool: str, arguments: dict[str, Json]) -> Any:
        """Send a call, with a token by which the server may report progress."""

        async def progress(*_: object) -> None:
            self._tell_listeners()

        return await self._client.call_tool(tool, arguments, progress_callback=progress)

    def _tell_listeners(self) -> None:
        for heard in (*self._listeners,):
            heard()

    async def _ask(self, params: Any) -> Any:
        """Return the user's answer to a question of the server. One is asked at a time, and only during a call."""
        from mcp.types import ElicitResult

        if not self._calls:
            return ElicitResult(action="decline")
        is_form = params.mode == "form"
        asked = Elicitation(
            params.message,
            schema=params.requested_schema if is_form else {},
            url="" if is_form else params.url,
        )
        with anyio.CancelScope() as scope:
            self._asked.add(scope)
            try:
                async with self._asking:
                    reply = await self._elicit(asked)
            finally:
                self._asked.discard(scope)
            content = dict(reply.content) if is_form and reply.action == "accept" else None
            return ElicitResult(action=reply.action, content=content)
        return ElicitResult(action="cancel")

    async def _elicited(self, _context: Any, params: Any) -> Any:
        return await self._ask(params)

    async def _heard(self, message: Any) -> None:
        self._tell_listeners()
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            self._has_changed = True

    async def close(self, *, hurries: bool) -> None:
        """Say goodbye, and end the connection in any case."""
        self._hurries = hurries
        within = 3 * self._patience if self.server.is_command else _GOODBYE_SECONDS
        self._link.over.set()
        if self._link.task is not None and self.is_connected:
            await asyncio.wait({self._link.task}, timeout=within)
        await self._tasks.stop(within)

    @property
    def _patience(self) -> float:
        return _GOODBYE_SECONDS if self._hurries else ENDING_SECONDS

    async def _serve(self, link: _Link) -> None:
        if not self.server.is_command:
            answered = partial(self._answered, link)
            async with _connected(
                self.server, self._access.headers, answered, self._options
            ) as client:
                await self._stay(client, link)
            return
        try:
            await self._serve_process("auto", link)
        except Exception:
            process = self._process
            if self.is_connected or process is None or process.exit_code == _NOT_FOUND:
                raise
            # Some end at the first request of the newer protocol.
            await self._serve_process("legacy", link)

    async def _serve_process(self, mode: str, link: _Link) -> None:
        words = (self.server.command, *self.server.args)
        access = self._access
        self._process = process = await start_server(words, access.folder, access.environment)
        try:
            async with _client_of(process, mode, self._options) as client:
                await self._stay(client, link)
        finally:
            with anyio.CancelScope(shield=True):
                await process.end(self._patience)

    @property
    def _options(self) -> dict[str, Any]:
        """The options of a client: who we are, and who hears what the server wants."""
        from mcp import Implementation

        return {
            "client_info": Implementation(name="axe-lsp", version=__version__),
            "cache": None,
            "elicitation_callback": self._elicited,
            "message_handler": self._heard,
        }

    async def _stay(self, client: Any, link: _Link) -> None:
        self._client = client
        self.instructions = client.instructions or ""
        _refuse_requests(client)
        _take_results_as_they_are(client)
        self._leave_out_unusable_tools(client)
        async with anyio.create_task_group() as tasks:
            if _tells_of_changes(client):
                is_heard = anyio.Event()
                tasks.start_soon(self._listen, client, is_heard)
                with anyio.move_on_after(_SUBSCRIBE_SECONDS):
                    await is_heard.wait()
            self._has_changed = False
            self._tools = await self._all_tools(client)
            self._listed.set()
            await link.over.wait()
            tasks.cancel_scope.cancel()

    async def _listen(self, client: Any, is_heard: anyio.Event) -> None:
        """Ask a server of the 2026 protocol to tell of changes, again whenever it has stopped to do so."""
        from mcp import MCPError
        from mcp.client.subscriptions import SubscriptionLost

        pause = 1.0
        while True:
            try:
                async with client.listen(tools_list_changed=True) as changes:
                    # What has changed before is told by nobody.
                    self._has_changed = self._listed.is_set()
                    is_heard.set()
                    async for _ in changes:
                        pause = 1.0
            except SubscriptionLost:
                pass
            except MCPError:
                is_heard.set()
                return  # It does not know the request.
            is_heard.set()
            await anyio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _while_connected(self, work: Awaitable[_Result]) -> _Result:
        """Return the result of `work`, which is given up when the connection ends."""
        serving = self._link.task
        assert serving is not None
        task = self._tasks.start(_awaited(work), f"asking MCP server {self.server.name}")
        task.add_done_callback(_look_at)
        try:
            await asyncio.wait({task, serving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            task.cancel()
        if task.done() and not task.cancelled() and task.exception() is None:
            return task.result()
        ended: asyncio.Task[Any] = task if task.done() else serving
        if self._process is not None and self._process.is_over:  # Which says more than the call.
            await asyncio.wait({serving}, timeout=3 * ENDING_SECONDS)
            ended = serving
        fault = None if ended.cancelled() or not ended.done() else ended.exception()
        if fault is None:
            raise McpError("the connection was closed")
        raise McpError(self.explained(_reason(fault))) from fault

    async def _answered(self, link: _Link, response: Any) -> None:
        """Limit the answer. Remember with which status the server has refused the last request, if it has."""
        response.headers.pop("content-encoding", None)  # None was asked for, so none is decoded.
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _limited()(response.stream)
        is_refusal = response.status_code >= 400
        self._refusal = f"{response.status_code} {response.reason_phrase}" if is_refusal else ""
        challenge = response.headers.get("www-authenticate", "")
        self._wants_oauth = "resource_metadata" in challenge
        # A GET for events may be unknown to a server that has the session.
        if response.request.method == "POST" and _SESSION in response.request.headers:
            link.is_lost |= await _says_session_is_lost(response)

    def explained(self, reason: str) -> str:
        """Return the reason for a fault: the SDK does not always tell the status, and never what a process has said about its end."""
        if self._process is not None:
            code, errors = self._process.exit_code, self._process.errors
            ended = f", it has exited with code {code}" if code is not None else ""
            said = f"; it wrote: {errors}" if errors else ""
            return f"{reason}{ended}{said}"
        is_told = not self._refusal or self._refusal in reason
        reason = reason if is_told else f"{reason} (HTTP {self._refusal})"
        is_unauthorized = self._refusal.startswith(_UNAUTHORIZED)
        return f"{reason}: {self._missing_proof()}" if is_unauthorized else reason

    def _missing_proof(self) -> str:
        """Say what a server lacks that wants to know who asks."""
        headers = [name for name in self.server.headers if is_secret_name(name)]
        if not headers:
            way = "it wants a login with OAuth, which axe-lsp does not have; if it also takes a token, put it"
            way = way if self._wants_oauth else "it wants a key or a token: put it"
            return f"{way} into headers, such as {_EXAMPLE}"
        name = headers[0]
        variables = self.server.variables_of(self.server.headers[name])
        source = f"the variable {variables[0]}, which" if variables else "its value, which"
        login = (
            " or fetch a new one, since its tokens come from a login with OAuth"
            if self._wants_oauth
            else ""
        )
        return f"it does not accept the header {name}: check {source} may be wrong or out of date{login}"

    async def _all_tools(self, client: Any) -> tuple[ServerTool, ...]:
        """Return the tools of all pages of the server's list."""
        self.unusable_tools = {}
        tools: list[ServerTool] = []
        cursor = None
        for _ in range(_MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            for tool in page.tools:
                only_reads = bool(tool.annotations and tool.annotations.read_only_hint)
                said = tool.description or ""
                tools.append(ServerTool(tool.name, said, tool.input_schema, only_reads))
            cursor = page.next_cursor
            if cursor is None:
                break
        return tuple(tools)

    def _leave_out_unusable_tools(self, client: Any) -> None:
        """Have lists of tools read without those that are not as the protocol wants them.

        The SDK would refuse the whole list.
        """
        dispatcher = client.session._dispatcher
        send = dispatcher.send_raw_request

        async def send_raw_request(method: str, *arguments: Any) -> Any:
            result = await send(method, *arguments)
            if method != "tools/list" or not isinstance(result.get("tools"), list):
                return result
            fault_of = partial(_fault_of_tool, client.protocol_version, result)
            tools = [_with_type(each) for each in result["tools"]]
            faults = [fault_of(each) for each in tools]
            for tool, fault in zip(tools, faults, strict=True):
                if fault:
                    self.unusable_tools[_name_of(tool)] = fault
            usable = [tool for tool, fault in zip(tools, faults, strict=True) if not fault]
            return {**result, "tools": usable}

        dispatcher.send_raw_request = send_raw_request


def _import_sdk() -> None:
    for module in ("mcp.client.sse", "mcp.client.streamable_http"):
        import_module(module)
    # It writes tracebacks of what it also raises, and at lower levels all that is said.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)


@cache
def _limited() -> Any:
    """Return the class of bodies that are not read beyond the limit. The SDK limits only events."""
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
    server: McpServer,
    headers: Mapping[str, str],
    answered: Callable[[Any], Awaitable[None]],
    options: Mapping[str, Any],
) -> AsyncIterator[Any]:
    from httpx2 import AsyncClient, Timeout
    from mcp import Client
    from mcp.client.sse import sse_client
    from mcp.client.streamable_http import streamable_http_client

    def http_client(*_: object, **__: object) -> AsyncClient:
        # How long an answer may take is for the run to say.
        timeout = Timeout(None, connect=_CONNECT_SECONDS)
        hooks = {"response": [answered]}
        asked = {"Accept-Encoding": "identity", **headers}
        return AsyncClient(headers=asked, timeout=timeout, event_hooks=hooks)

    if server.transport == "sse":
        transport = sse_client(server.url, httpx_client_factory=http_client)
        async with Client(transport, **options, mode="legacy") as client:
            yield client
    else:
        async with http_client() as http:
            transport = streamable_http_client(
                server.url, http_client=http, max_sse_event_size=_MOST_OF_A_MESSAGE
            )
            async with Client(transport, **options) as client:
                yield client


@asynccontextmanager
async def _client_of(
    process: ServerProcess, mode: str, options: Mapping[str, Any]
) -> AsyncIterator[Any]:
    """Provide a client of a process, which others end."""
    from mcp import Client
    from mcp.shared.message import SessionMessage

    heard, hears = anyio.create_memory_object_stream[Any](0)
    says, said = anyio.create_memory_object_stream[Any](0)

    async def listen() -> None:
        async with heard:
            async for line in process.lines():
                message = _message_in(line)
                if message is not None:
                    await heard.send(SessionMessage(message))
        raise McpError("the connection was closed")

    async def speak() -> None:
        async with heard:  # Nobody waits for answers to what a server no longer reads.
            async for each in said:
                text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.send(text.encode())

    @asynccontextmanager
    async def streams() -> AsyncIterator[Any]:
        yield hears, says

    async def until_it_ends(work: Callable[[], Awaitable[None]]) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await work()

    async with heard, hears, says, said, anyio.create_task_group() as tasks:
        for work in (listen, speak, process.read_errors):
            tasks.start_soon(until_it_ends, work)
        async with Client(streams(), **options, mode=mode) as client:
            yield client
        tasks.cancel_scope.cancel()


def _refuse_requests(client: Any) -> None:
    """Have requests for what we did not announce answered as the protocol wants it.

    The SDK calls them invalid, unless it is given an answer, which it then announces.
    """
    from mcp.types import METHOD_NOT_FOUND, ErrorData

    async def refuse(*_: object) -> ErrorData:
        return ErrorData(code=METHOD_NOT_FOUND, message="Method not found")

    client.session._list_roots_callback = refuse
    client.session._sampling_callback = refuse


def _take_results_as_they_are(client: Any) -> None:
    """Hand structured results to the model as any other. The SDK would hold them to the schema of the server.

    It does so on the event loop, where a regular expression of a schema can stop all runs for ever.
    """

    async def is_right(*_: object) -> None:
        pass

    client.session.validate_tool_result = is_right


def _message_in(line: bytes) -> Any:
    """Return the message in a line; None for one that belongs on standard error. Raises McpError.

    An answer that can't be read is an error, for which nobody waits in vain. Half a character, which some servers
    leave where they cut a text, is replaced. Lines of a log may be JSON with an `id`, or contain messages.
    """
    from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

    value: Any = None
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        with suppress(ValueError):
            value = parse_json(line)
            return jsonrpc_message_adapter.validate_python(_with_flat_tools(value), by_name=False)
    is_answer = isinstance(value, dict) and "jsonrpc" in value and "method" not in value
    if is_answer and type(value.get("id")) is int:
        error = ErrorData(code=PARSE_ERROR, message="the answer of the server is not valid")
        return JSONRPCError(jsonrpc="2.0", id=value["id"], error=error)
    if value is None and _BEGINS_AS_TABLE.match(line) and b'"jsonrpc"' in line:
        raise McpError("the server has sent a message that can't be read")
    return None


def _with_flat_tools(message: Json) -> Json:
    """Return a message whose tools the SDK takes. For one that is nested too deeply it would refuse all."""
    result = message.get("result") if isinstance(message, dict) else None
    if isinstance(result, dict) and isinstance(result.get("tools"), list):
        result["tools"] = [
            {"name": each.get("name"), "inputSchema": _UNFIT}
            if isinstance(each, dict) and is_deeper(each, _DEEPEST_TOOL)
            else each
            for each in result["tools"]
        ]
    return message


def _tells_of_changes(client: Any) -> bool:
    """Return whether it has to be asked to tell of changes. Older servers tell without being asked."""
    from mcp.types.version import MODERN_PROTOCOL_VERSIONS

    tools = client.server_capabilities.tools
    is_modern = client.protocol_version in MODERN_PROTOCOL_VERSIONS
    return is_modern and tools is not None and bool(tools.list_changed)


def _with_type(tool: Json) -> Json:
    """Return a tool whose schema has the type that all schemas of tools have. Some servers leave it out."""
    if not isinstance(tool, dict):
        return tool
    schema = tool.get("inputSchema") or {}
    return (
        {**tool, "inputSchema": {"type": "object", **schema}} if isinstance(schema, dict) else tool
    )


def _fault_of_tool(version: str, result: Mapping[str, Json], tool: Json) -> str:
    """Return why a tool of a list is not as a version of the protocol wants it; "" if it is."""
    from mcp.types import ListToolsResult, methods

    page = {**result, "tools": [tool]}
    try:
        with suppress(KeyError):  # A version without a schema for lists.
            methods.validate_server_result("tools/list", version, page)
        ListToolsResult.model_validate(page, by_name=False)
    except ValueError as error:
        fault = error.errors()[0] if hasattr(error, "errors") else {"loc": (), "msg": str(error)}
        # A fault of the list itself is for the SDK to report.
        return (
            _place_of(fault).removeprefix("tools.0").lstrip(".: ")
            if fault["loc"][:1] == ("tools",)
            else ""
        )
    return ""


def _name_of(tool: Json) -> str:
    name = tool.get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) else "without a name"


async def _says_session_is_lost(response: Any) -> bool:
    """Return whether a server refuses a request because it does not know its session. Many say so with the status 400."""
    if response.status_code == _NO_SESSION:
        return True
    if response.status_code != _BAD_REQUEST:
        return False
    body: bytes = await response.aread()
    return b"session" in body.lower()


def _answer(result: Any) -> Answer:
    images: list[Image] = []
    texts = []
    for block in result.content:
        image = _image(block) if len(images) < _MOST_IMAGES else None
        if image is not None:
            images.append(image)
        else:
            texts.append(_text_of(block))
    if not texts and result.structured_content is not None:
        texts.append(json.dumps(result.structured_content, ensure_ascii=False))
    return Answer((*texts,), bool(result.is_error), (*images,))


def _image(block: Any) -> Image | None:
    """Return the picture in a content block, if models take such a one, whatever media type its server gives it."""
    if block.type != "image" or _size(block.data) > LARGEST_IMAGE:
        return None
    try:
        return image_of(b64decode(block.data))
    except ValueError:
        return None


def _text_of(block: Any) -> str:
    """Return the text of a content block, or its name if models do not get it."""
    if block.type == "text":
        return str(block.text)
    if block.type in ("image", "audio"):
        return _named(block.mime_type, block.data)
    if block.type == "resource_link":
        return f"[{block.name}: {block.uri}]"
    resource = block.resource
    text = getattr(resource, "text", None)
    return _named(str(resource.uri), resource.blob) if text is None else str(text)


def _named(what: str, data: str) -> str:
    return f"[{what}, {_size(data) // 1024 + 1} KB]"


def _size(data: str) -> int:
    """Return the bytes of a text in Base64, about."""
    return len(data) * 3 // 4


async def _awaited(work: Awaitable[_Result]) -> _Result:
    return await work


def _look_at(task: asyncio.Task[Any]) -> None:
    """Take the exception of a task, which asyncio would otherwise report."""
    if not task.cancelled():
        task.exception()


def _reason(error: BaseException) -> str:
    """Return why something failed, in a line: the first of all that failed together."""
    while nested := getattr(error, "exceptions", None):
        error = nested[0]
    if faults := getattr(error, "errors", None):  # A message that is not as the protocol wants it.
        return f"the answer is not valid: {_place_of(faults()[0])}"
    lines = str(error).strip().splitlines()
    return without_passwords(lines[0]) if lines else type(error).__name__


def _place_of(fault: Mapping[str, Any]) -> str:
    """Return where pydantic finds a fault, and which: `tools.1.inputSchema: Field required`."""
    place = [*takewhile(lambda part: not str(part)[:1].isupper(), fault["loc"])]
    where = ".".join(map(str, place))
    # Behind the name of a class is the first one that was tried.
    return f"{where}: {fault['msg']}" if len(place) == len(fault["loc"]) else where
