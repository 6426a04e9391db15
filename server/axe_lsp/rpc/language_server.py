"""The class that servers are made of: pygls's `LanguageServer` on the protocol of this package.

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
- `shutdown`, `exit` and `workspace/executeCommand` are answered by the protocol: what a server has to
  do when its client leaves belongs into `release`.
- A result or params that are sent may be objects of lsprotocol, plain JSON, or one in the other.

A server belongs to one connection (`axe_lsp.rpc.transports` makes one for each). What connections
share is closed over.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pygls.lsp.server
from cattrs import Converter
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from axe_lsp.agentfile.text.ranges import PositionEncoding
from axe_lsp.rpc.capabilities import Options, capabilities, check_announced
from axe_lsp.rpc.client import Client
from axe_lsp.rpc.lifecycle import LifeCycle
from axe_lsp.serving.json_rpc import JsonObject

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
        """The capabilities that follow from the registered features and commands.

        The position encoding is added to them.
        """
        return capabilities(self._options, self.protocol.fm.commands, client)

    async def release(self) -> None:
        """Let go of what the connection holds. Called once: at `shutdown`, or when it breaks."""

    @property
    def client(self) -> Client:
        """The client's name, folders, options and capabilities; complete after `initialize`."""
        return self.protocol.client

    @property
    def position_encoding(self) -> PositionEncoding:
        """The unit in which positions of this session count columns."""
        return self.protocol.client.position_encoding

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        self.protocol.notify(method, params)

    async def request(self, method: str, params: Any = None) -> Any:
        """Ask the client. Cancelling the caller withdraws the request."""
        return await self.protocol.send_request_async(method, params)

    def start(self, coroutine: Coroutine[Any, Any, object], name: str) -> None:
        """Run `coroutine` in the background, until it is over or the connection ends."""
        self.protocol.tasks.start_unattended(coroutine, name)
