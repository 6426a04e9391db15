"""The tools of an agent's MCP servers. Agents without servers import none of the modules that connect to them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field

from axe_lsp.runtime.messages import Tool

if TYPE_CHECKING:
    from axe_lsp.runtime.mcp.connection import Connection


class RemoteTool(Struct, frozen=True):
    """A tool, and the connection by which it is called. `note` takes a line for a log.

    `only_reads` is what its server says of it. `definition` is a digest of all that the server says of it;
    `changed` is since when that is something else than the user knows, or "". `agree` keeps that the user knows it.
    """

    connection: Connection
    tool: Tool
    only_reads: bool
    note: Callable[[str], None]
    definition: str = ""
    changed: str = ""
    agree: Callable[[], Awaitable[None]] | None = None


class RemoteTools(Struct):
    """The tools of all servers, by name. `secrets` is what headers and environments hold.

    `newest` has them as the servers have them now, who may tell of changes while the run goes on.
    """

    by_name: Mapping[str, RemoteTool] = field(default_factory=dict)
    secrets: frozenset[str] = frozenset()
    newest: Callable[[], Awaitable[Mapping[str, RemoteTool]]] | None = None

    async def refresh(self) -> None:
        """Take over what servers have changed."""
        if self.newest is not None:
            self.by_name = await self.newest()

    @property
    def tools(self) -> tuple[Tool, ...]:
        """As they are offered to the model."""
        return tuple(each.tool for each in self.by_name.values())
