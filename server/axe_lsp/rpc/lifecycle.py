"""The life cycle of a session: from `initialize` to `exit`, and the methods that LSP itself needs.

pygls's own handlers are replaced. They mirror every document (splitting lines where LSP doesn't),
take `exit` for success, and let commands run on that were cancelled.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, Literal, Protocol

import pygls.progress
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcServerNotInitialized,
)

from axe_lsp.rpc.client import Client, read_client
from axe_lsp.rpc.dispatch import Dispatcher
from axe_lsp.serving.json_rpc import JsonObject, Notification, Request

GRACE = 1.0
"""Seconds that tasks get to end after they were cancelled."""

_Phase = Literal["waiting", "running", "shut down"]


class Server(Protocol):
    """The interface of a server for its life cycle."""

    name: str
    version: str

    def initialize(self, client: Client) -> JsonObject:
        """The capabilities that are sent to the client."""

    async def release(self) -> None:
        """Let go of what the connection holds."""


class Progress(pygls.progress.Progress):
    """Work-done progress as in pygls: `begin`, `report`, `end`, `create`; `tokens[token]` is cancelled by the client."""

    def end(self, token: types.ProgressToken, value: types.WorkDoneProgressEnd) -> None:
        """Report the end, and forget the token (pygls #607)."""
        super().end(token, value)
        self.tokens.pop(token, None)


class LifeCycle(Dispatcher):
    """One client's messages, in the order that LSP prescribes."""

    def __init__(self, server: Server, *arguments: Any) -> None:
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
        """The params of a method; those of `initialize` are read by `Client`."""
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
