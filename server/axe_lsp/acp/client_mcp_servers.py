"""MCP servers that a client names for a session: the root agent has them beside its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from axe_lsp.agentfile.mcp_servers import McpServer, command_fault
from axe_lsp.agentfile.text.addresses import address_fault
from axe_lsp.agentfile.text.ranges import quoted


class Pair(Struct):
    """A header or an environment variable."""

    name: str
    value: str


class ClientServer(Struct):
    """A server as the protocol describes it. One without a `type` is a command."""

    name: str
    type: str = "stdio"
    command: str = ""
    args: list[str] = []
    env: list[Pair] = []
    url: str = ""
    headers: list[Pair] = []


_TRANSPORTS = {"http": "streamable-http", "sse": "sse", "stdio": "stdio"}


def servers_meant(
    written: Sequence[ClientServer], warn: Callable[[str], None]
) -> tuple[McpServer, ...]:
    """The servers that a run can use; `warn` hears of the others."""
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
            )
        )
    return tuple(servers)


def _fault(server: ClientServer) -> str | None:
    if server.type not in _TRANSPORTS:
        return f"its type {quoted(server.type)} is not known"
    if server.type == "stdio":
        return command_fault(server.command) if server.command else "it has no command"
    return address_fault(server.url)
