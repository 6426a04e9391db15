"""The methods of the Agent Client Protocol, version 1 (agentclientprotocol.com).

What takes long to import comes with the first session: `initialize` is answered before it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from axe_lsp.acp.client_connection import (
    INVALID_PARAMS,
    Cancelling,
    Connection,
    Handler,
    Reply,
    RequestError,
    read_params,
)
from axe_lsp.agentfile.mcp_servers import McpServer, command_fault
from axe_lsp.agentfile.text.addresses import address_fault
from axe_lsp.agentfile.text.ranges import quoted

if TYPE_CHECKING:
    from axe_lsp.acp.session import Session
    from axe_lsp.acp.sessions import Sessions

VERSION = 1
"""The version of the protocol, whatever the client asks for."""

_PROMPT = "session/prompt"

_KEY_IN_TERMINAL = {
    "type": "terminal",
    "id": "key",
    "name": "API key",
    "description": "Asks for the API key of a provider, and stores it in config.toml",
    "args": ["config", "key"],
}
"""The only method of authentication, which the client runs by itself. Those who have keys need none."""

_LAST_SECONDS = 1.5


class _Params(Struct, rename="camel", frozen=True):
    """Params of a request. Members that it does not know are passed over."""


class _Initialize(_Params, frozen=True):
    protocol_version: int | str  # A text in drafts of the protocol.
    client_capabilities: dict[str, Any] | None = None


class _Pair(Struct):
    """A header or an environment variable."""

    name: str
    value: str


class _Server(Struct):
    """A server as the protocol describes it. One without a `type` is a command."""

    name: str
    type: str = "stdio"
    command: str = ""
    args: list[str] = []
    env: list[_Pair] = []
    url: str = ""
    headers: list[_Pair] = []


class _NewSession(_Params, frozen=True):
    cwd: str
    mcp_servers: list[_Server] = field(default_factory=list)
    additional_directories: list[str] | None = None


class _FormerSession(_NewSession, frozen=True, kw_only=True):
    session_id: str


class _OfSession(_Params, frozen=True):
    session_id: str


class _Prompt(_Params, frozen=True):
    session_id: str
    prompt: list[Any]


class _SetOption(_Params, frozen=True):
    session_id: str
    config_id: str
    value: str | bool


class _SetMode(_Params, frozen=True):
    session_id: str
    mode_id: str


class _ListSessions(_Params, frozen=True):
    cwd: str | None = None
    cursor: str | None = None


class Agent:
    """The agent as a client sees it. `first_agent` is the one that sessions begin with, if it is there.

    `allow` are the rules for tool calls that the command line has given.
    """

    def __init__(
        self,
        write: Callable[[bytes], None],
        version: str,
        first_agent: str = "",
        allow: tuple[str, ...] = (),
    ) -> None:
        self._version = version
        self._first_agent = first_agent
        self._allow = allow
        self._capabilities: dict[str, Any] = {}
        self._made: Sessions | None = None
        handlers: dict[str, Handler] = {
            "initialize": self._initialize,
            "authenticate": self._authenticate,
            "session/new": self._new,
            "session/load": partial(self._former, tells=True),
            "session/resume": partial(self._former, tells=False),
            "session/list": self._list,
            "session/close": self._close,
            "session/delete": self._delete,
            "session/set_config_option": self._set_option,
            "session/set_mode": self._set_mode,
        }
        listeners = {"session/cancel": self._cancel}
        long = {_PROMPT: self._prompt}
        self.connection = Connection(write, handlers, listeners, long)

    async def close(self) -> None:
        """Stop everything. The client has gone."""
        await self.connection.close(within=_LAST_SECONDS)
        if self._made is not None:
            await self._made.close()

    @property
    def _sessions(self) -> Sessions:
        """The sessions. Made with the first one, as its imports take long."""
        if self._made is None:
            from axe_lsp.acp.sessions import Sessions

            self._made = Sessions(
                self.connection, self._capabilities, self._first_agent, self._allow
            )
        return self._made

    # The connection.

    async def _initialize(self, params: Any) -> dict[str, Any]:
        asked = read_params(_Initialize, params)
        self._capabilities = asked.client_capabilities or {}
        auth = self._capabilities.get("auth")
        has_terminal = isinstance(auth, dict) and auth.get("terminal") is True
        return {
            "protocolVersion": VERSION,
            "agentInfo": {"name": "axe-lsp", "title": "axe", "version": self._version},
            "agentCapabilities": {
                "loadSession": True,
                "mcpCapabilities": {"http": True, "sse": True},
                "promptCapabilities": {"embeddedContext": True, "image": True},
                "sessionCapabilities": {
                    "list": {},
                    "resume": {},
                    "close": {},
                    "delete": {},
                    "additionalDirectories": {},
                },
            },
            # A prompt during an answer is a message to the agent that works.
            "_meta": {"axe": {"steer": True}},
            "authMethods": [_KEY_IN_TERMINAL] if has_terminal else [],
        }

    async def _authenticate(self, _: Any) -> dict[str, Any]:
        raise RequestError(
            INVALID_PARAMS,
            "API keys are environment variables or in config.toml; `axe-lsp config key` asks for one in a terminal",
        )

    # Sessions.

    async def _new(self, params: Any) -> Reply:
        asked = read_params(_NewSession, params)
        more = _more_folders(asked.additional_directories)
        session = await self._sessions.begin(_folder(asked.cwd))
        return self._opened(session, asked, more, {"sessionId": session.id, **session.choices})

    async def _former(self, params: Any, *, tells: bool) -> Reply:
        asked = read_params(_FormerSession, params)
        more = _more_folders(asked.additional_directories)
        session = await self._sessions.open(asked.session_id, _folder(asked.cwd), tells=tells)
        return self._opened(session, asked, more, session.choices)

    def _opened(
        self, session: Session, asked: _NewSession, more: tuple[str, ...], result: dict[str, Any]
    ) -> Reply:
        """Return the result for a session, which has its folders and the MCP servers of the client while it is open here."""
        session.more_folders = more
        warn = partial(self._sessions.warn, session.id)
        session.servers = _servers_meant(asked.mcp_servers, warn)
        return Reply(result, lambda: self._sessions.tell_commands(session))

    async def _list(self, params: Any) -> dict[str, Any]:
        asked = read_params(_ListSessions, params)
        return await self._sessions.listed(asked.cwd, asked.cursor)

    async def _close(self, params: Any) -> dict[str, Any]:
        await self._sessions.close_session(read_params(_OfSession, params).session_id)
        return {}

    async def _delete(self, params: Any) -> dict[str, Any]:
        await self._sessions.delete(read_params(_OfSession, params).session_id)
        return {}

    async def _set_option(self, params: Any) -> dict[str, Any]:
        asked = read_params(_SetOption, params)
        session = self._sessions.session(asked.session_id)
        session.choose(asked.config_id, asked.value)
        await session.keep()
        if asked.config_id == "agent":
            session.tell_mode()
        return {"configOptions": session.options}

    async def _set_mode(self, params: Any) -> dict[str, Any]:
        asked = read_params(_SetMode, params)
        session = self._sessions.session(asked.session_id)
        session.choose("agent", asked.mode_id)
        await session.keep()
        session.tell_choices()
        return {}

    async def _prompt(self, params: Any, cancelling: Cancelling) -> dict[str, Any]:
        asked = read_params(_Prompt, params)
        session = self._sessions.session(asked.session_id)
        return {"stopReason": await self._sessions.prompt(session, asked.prompt, cancelling)}

    def _cancel(self, params: Any) -> None:
        asked = read_params(_OfSession, params)

        def is_message(method: str, params: Any) -> bool:
            session = params.get("sessionId") if isinstance(params, dict) else None
            return method == _PROMPT and session == asked.session_id

        self.connection.answer_waiting(is_message, {"stopReason": "cancelled"})
        if self._made is not None:
            self._made.cancel(asked.session_id)


def _folder(path: str, member: str = "cwd") -> Path:
    folder = Path(path)
    if not folder.is_absolute() or "\0" in path:
        why = f"{member} {path!r} is not an absolute path"
        raise RequestError(INVALID_PARAMS, f"invalid params: {why}")
    try:
        is_folder = folder.is_dir()
    except OSError:  # As of a name that is too long.
        is_folder = False
    if not is_folder:
        raise RequestError(INVALID_PARAMS, f"invalid params: {member} {path!r} is not a folder")
    return folder


def _more_folders(paths: Sequence[str] | None) -> tuple[str, ...]:
    folders = (_folder(each, "additionalDirectories") for each in paths or ())
    return tuple(dict.fromkeys(os.path.normpath(each) for each in folders))


_TRANSPORTS = {"http": "streamable-http", "sse": "sse", "stdio": "stdio"}


def _servers_meant(
    written: Sequence[_Server], warn: Callable[[str], None]
) -> tuple[McpServer, ...]:
    """Return the servers that a run can use; `warn` hears of the others."""
    servers = []
    for each in written:
        fault = _fault(each)
        if fault:
            warn(f"the MCP server {quoted(each.name)} of the client is not used: {fault}")
            continue
        servers.append(
            McpServer(
                each.name,
                each.url,
                _TRANSPORTS[each.type],
                {pair.name: pair.value for pair in each.headers},
                each.command,
                tuple(each.args),
                {pair.name: pair.value for pair in each.env},
                of_client=True,
                required=False,
            )
        )
    return tuple(servers)


def _fault(server: _Server) -> str | None:
    if server.type not in _TRANSPORTS:
        return f"its type {quoted(server.type)} is not known"
    if server.type == "stdio":
        return command_fault(server.command) if server.command else "it has no command"
    return address_fault(server.url)
