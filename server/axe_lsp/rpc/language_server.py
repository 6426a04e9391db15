"""The class that servers are made of: pygls's `LanguageServer`, and the life cycle of a session from `initialize` to `exit`.

    server = LanguageServer("axe-lsp", "1.0")

    @server.feature("textDocument/hover")
    def hover(params: types.HoverParams) -> types.Hover | None: ...

    @server.feature("axe/run")
    async def run(params: Any) -> JsonObject: ...

    @server.command("axe.stop")
    def stop(run_id: str) -> None: ...

What a handler can count on:

- It gets the params as lsprotocol's class where LSP defines the method, else as plain JSON (`None`
  where they were left out). A command gets its arguments as plain JSON, one by one. Neither gets the
  server, which they close over.
- A plain `def` runs at once and in order: what it sees is what the client had seen when it sent the
  message. Features of the language are plain functions. An `async def` is for what takes time; it
  begins after the messages that were read together with its own. So a handler that needs the state at
  its own message reads it in a plain `def`, which returns the coroutine that goes on with it.
- To fail, it raises `pygls.exceptions.JsonRpcException` (message, code, data) or `RequestFailed`.
  Anything else that it raises counts as a mistake of ours: -32603, and a traceback in the log.
- `didOpen`, `didChange` and `didClose` are ordinary features. No text is kept: `server.workspace` of
  pygls doesn't exist, `axe_lsp.rpc.documents.Documents` does that work.
- `shutdown`, `exit` and `workspace/executeCommand` are answered here: what a server has to
  do when its client leaves belongs into `release`.
- A result or params that are sent may be objects of lsprotocol, plain JSON, or one in the other.

pygls's own handlers of these methods are replaced. They mirror every document (splitting lines where LSP
doesn't), take `exit` for success, and let commands run on that were cancelled.

A server belongs to one connection (`axe_lsp.rpc.transports` makes one for each). What connections
share is closed over.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, Literal, TypeVar

import pygls.lsp.server
import pygls.progress
from cattrs import Converter
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcServerNotInitialized,
)

from axe_lsp.rpc.capabilities import Options, capabilities, check_announced
from axe_lsp.rpc.client import Client, read_client
from axe_lsp.rpc.dispatch import Dispatcher
from axe_lsp.serving.json_rpc import JsonObject, Notification, Request

GRACE = 1.0
"""Seconds that tasks get to end after they were cancelled."""

_Phase = Literal["waiting", "running", "shut down"]


class Progress(pygls.progress.Progress):
    """Work-done progress as in pygls: `begin`, `report`, `end`, `create`; `tokens[token]` is cancelled by the client."""

    def end(self, token: types.ProgressToken, value: types.WorkDoneProgressEnd) -> None:
        """Report the end, and forget the token (pygls #607)."""
        super().end(token, value)
        self.tokens.pop(token, None)


class LifeCycle(Dispatcher):
    """One client's messages, in the order that LSP prescribes."""

    def __init__(self, server: LanguageServer, *arguments: Any) -> None:
        super().__init__(server, *arguments)
        self._served = server
        self.progress = Progress(self)
        self.client = Client()
        self.initialized = asyncio.Event()
        """Set once `initialize` has been answered with a success."""
        self.exited = False
        """Whether the client has sent `exit`."""
        self._phase: _Phase = "waiting"
        self._closing: asyncio.Task[None] | None = None

    @property
    def exit_code(self) -> int:
        """0 after `shutdown`, 1 without it (LSP 3.17, "Exit Notification")."""
        return 0 if self._phase == "shut down" else 1

    @property
    def is_closing(self) -> bool:
        """Whether the session ends or has ended."""
        return self._closing is not None

    def close(self) -> asyncio.Task[None]:
        """End what the session has started; done within two times `GRACE`. Later calls join in."""
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close())
        return self._closing

    def check_welcome(self, message: Request | Notification) -> None:
        """Hold the client to the order of the life cycle."""
        if message.method == types.EXIT:
            return
        if message.method == types.INITIALIZE:
            if self._phase != "waiting":
                raise JsonRpcInvalidRequest("initialize may be sent only once")
        elif self._phase == "waiting":
            raise JsonRpcServerNotInitialized(f"{message.method} came before initialize")
        elif self._phase == "shut down":
            raise JsonRpcInvalidRequest(f"{message.method} came after shutdown")

    def read_params(self, method: str, params: Any) -> Any:
        """Return the params of a method; those of `initialize` are read by `Client`."""
        return params if method == types.INITIALIZE else super().read_params(method, params)

    def _register_builtin_features(self) -> None:
        handlers: dict[str, Callable[[Any], Any]] = {
            types.INITIALIZE: self._initialize,
            types.INITIALIZED: self._initialized,
            types.SHUTDOWN: self._shut_down,
            types.EXIT: self._exit,
            types.SET_TRACE: self._set_trace,
            types.WORKSPACE_EXECUTE_COMMAND: self._execute_command,
            types.WINDOW_WORK_DONE_PROGRESS_CANCEL: self._cancel_progress,
        }
        for method, handler in handlers.items():
            self.fm.add_builtin_feature(method, handler)

    def _initialize(self, params: Any) -> JsonObject:
        if not isinstance(params, dict):
            raise JsonRpcInvalidParams("initialize: params must be an object")
        self.client = read_client(params)
        capabilities = self._served.initialize(self.client)
        self._phase = "running"
        self.initialized.set()
        return {
            "capabilities": {**capabilities, "positionEncoding": self.client.position_encoding},
            "serverInfo": {"name": self._served.name, "version": self._served.version},
        }

    def _initialized(self, params: Any) -> Any:
        handler = self.fm.features.get(types.INITIALIZED)
        return handler(params) if handler is not None else None

    def _shut_down(self, _params: Any) -> asyncio.Task[None]:
        self._phase = "shut down"
        return self.close()

    def _exit(self, _params: Any) -> None:
        self.exited = True

    def _set_trace(self, params: types.SetTraceParams) -> None:
        self.trace = params.value

    def _execute_command(self, params: types.ExecuteCommandParams) -> Any:
        command = self.fm.commands.get(params.command)
        if command is None:
            known = ", ".join(sorted(self.fm.commands)) or "none"
            raise JsonRpcInvalidParams(
                f"there is no command {params.command!r}; known commands: {known}"
            )
        arguments = params.arguments or ()
        try:
            inspect.signature(command).bind(*arguments)
        except TypeError as error:
            raise JsonRpcInvalidParams(f"arguments of {params.command}: {error}") from error
        return command(*arguments)

    def _cancel_progress(self, params: types.WorkDoneProgressCancelParams) -> None:
        if (future := self.progress.tokens.get(params.token)) is not None:
            future.cancel()

    async def _close(self) -> None:
        await self.tasks.stop(within=GRACE)
        for _, future in list(self._awaited.values()):
            future.cancel()
        released = self.tasks.start_unattended(self._served.release(), name="releasing a session")
        await asyncio.wait({released}, timeout=GRACE)


Handler = TypeVar("Handler", bound=Callable[..., Any])


class RequestFailed(JsonRpcException):
    """A request that was understood and could not be fulfilled; not a mistake in the server."""

    CODE = types.LSPErrorCodes.RequestFailed.value
    MESSAGE = "the request failed"


class LanguageServer(pygls.lsp.server.LanguageServer):
    """One connection's server. Subclasses override `initialize` and `release`."""

    protocol: LifeCycle

    def __init__(self, name: str, version: str) -> None:
        # The converter is for parts of pygls that are not used here; our own is made on first use.
        super().__init__(name, version, protocol_cls=LifeCycle, converter_factory=Converter)
        self._options: dict[str, Options] = {}

    def feature(self, method: str, options: Options | None = None) -> Callable[[Handler], Handler]:
        """Register the handler of a method; `options` are what its capability says to the client.

        Raises `UnannouncedError` for a method of LSP that no capability announces. pygls would look
        at annotations and convert options first, which takes longer than the rest of the answer to
        `initialize`.
        """
        check_announced(method)
        self._options[method] = True if options is None else options

        def register(handler: Handler) -> Handler:
            self.protocol.fm.features[method] = handler
            return handler

        return register

    def command(self, name: str) -> Callable[[Handler], Handler]:
        """Register the handler of a command of `workspace/executeCommand`, likewise."""

        def register(handler: Handler) -> Handler:
            self.protocol.fm.commands[name] = handler
            return handler

        return register

    def initialize(self, client: Client) -> JsonObject:
        """Return the capabilities that follow from the registered features and commands.

        The position encoding is added to them.
        """
        return capabilities(self._options, self.protocol.fm.commands, client)

    async def release(self) -> None:
        """Let go of what the connection holds. Called once: at `shutdown`, or when it breaks."""

    @property
    def client(self) -> Client:
        """The client's name, folders, options and capabilities; complete after `initialize`."""
        return self.protocol.client

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        self.protocol.notify(method, params)

    async def request(self, method: str, params: Any = None) -> Any:
        """Ask the client. Cancelling the caller withdraws the request."""
        return await self.protocol.send_request_async(method, params)

    def start(self, coroutine: Coroutine[Any, Any, object], name: str) -> None:
        """Run `coroutine` in the background, until it is over or the connection ends."""
        self.protocol.tasks.start_unattended(coroutine, name)
