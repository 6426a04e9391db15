"""The tools of an agent's MCP servers, as its model sees and calls them (axe 1.1).

Servers are connected when a run begins and for as long as it lasts. What their tools do nobody can
know here, so they need approval as commands do, unless the server says that a tool only reads.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import asynccontextmanager, contextmanager
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

import anyio
from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.mcp_servers import VARIABLE, McpServer, is_secret_name
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.errors import ConfigError, McpServerError, RunError
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.search_path import with_search_path
from axe_lsp.runtime.mcp import SDK_MISSING
from axe_lsp.runtime.mcp.connection import Access, Connection, McpError, ServerTool, load_sdk
from axe_lsp.runtime.mcp.elicitation import AskForServer, Elicitor
from axe_lsp.runtime.mcp.remote_tools import (
    RemoteTool,
    RemoteTools,
    instructions_section,
    request_to_call,
    request_to_start,
)
from axe_lsp.runtime.mcp.seen_tools import Changes, ToolNow, agree, first_line, remember
from axe_lsp.runtime.messages import TOOL_NAME, Json, Tool, ToolCall, ToolResult
from axe_lsp.runtime.plain_text import digest_of, valid_text
from axe_lsp.runtime.processes import below_agents
from axe_lsp.runtime.safety.allowances import START
from axe_lsp.runtime.safety.approval import Approve, Rehearsal
from axe_lsp.runtime.safety.questions import NOBODY, Answer
from axe_lsp.runtime.safety.redaction import redact, without
from axe_lsp.runtime.structured.arguments import fit_arguments
from axe_lsp.runtime.tools.long_output import shown_output
from axe_lsp.runtime.tools.tool import Workplace

_INHERITED = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
"""As the official SDK has it."""

_NEEDED_ON_WINDOWS = (
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USERNAME",
    "USERPROFILE",
)


class RunAround(Struct, frozen=True):
    """The run whose servers are connected: those of its file, and those `of_client`.

    What servers offer is remembered for the editor in this `workspace`. `ask` puts questions of servers to the person who started the run. `note` takes lines for a log,
    `warn` what the user should see.
    """

    ids: RunIds
    workspace: Path
    workplace: Workplace
    approve: Approve
    ask: AskForServer
    note: Callable[[str], None]
    warn: Callable[[str], None]
    of_client: tuple[McpServer, ...] = ()


@asynccontextmanager
async def remote_tools(
    definition: AgentDefinition, taken: Collection[str], around: RunAround
) -> AsyncIterator[RemoteTools]:
    """Connect the agent's servers; they stay connected inside. Raises RunError.

    A server that is a command is started after the user has agreed. Tools whose names are `taken` are
    left out. Without a server of the client a run goes on, with a warning.
    """
    servers = await _usable(definition, around)
    environment = around.workplace.environment
    ways: list[Access] = []
    reached: list[McpServer] = []
    for each in servers:
        with _optional(each, around):
            ways.append(access_to(each, around.workplace))
            reached.append(each)
    secrets = frozenset(secret for each in reached for secret in _secrets(each, environment))

    async def ask(server: str, text: str, choices: tuple[str, ...]) -> Answer:
        shown = tuple(redact(each, secrets) for each in choices)
        return await around.ask(server, redact(text, secrets), shown)

    connections = [
        Connection(each, way, Elicitor(each.name, ask, around.warn))
        for each, way in zip(reached, ways, strict=True)
    ]

    found = _Collector(around, secrets, taken, definition.tool_policy.deny)
    begun = []
    is_cancelled = False
    try:
        for connection in connections:
            with _optional(connection.server, around):
                await _begin(connection, around, secrets)
                begun.append(connection)
        for connection in begun:
            tools = None
            with _optional(connection.server, around):
                tools = await _listed(connection, secrets)
            if tools is not None:
                await found.add(connection, tools)
        yield RemoteTools(
            found.tools, secrets, found.newest, instructions_section(found.instructions)
        )
    except anyio.get_cancelled_exc_class():
        is_cancelled = True
        raise
    finally:
        if begun:
            with anyio.CancelScope(shield=True):
                await asyncio.gather(*(each.close(hurries=is_cancelled) for each in begun))


async def _usable(definition: AgentDefinition, around: RunAround) -> tuple[McpServer, ...]:
    """Return the servers, if there is the SDK. Raises ConfigError if those of the file lack it."""
    servers = (*definition.mcp_servers, *around.of_client)
    if servers:
        try:
            await load_sdk()
        except ModuleNotFoundError as error:
            if any(each.required for each in definition.mcp_servers):
                raise ConfigError(f"agents with [[mcp_servers]] need {SDK_MISSING}") from error
            whose = "of the client " if around.of_client else ""
            around.warn(f"the MCP servers {whose}are not used: they need {SDK_MISSING}")
            return ()
    return servers


@contextmanager
def _optional(server: McpServer, around: RunAround) -> Iterator[None]:
    """Make a fault of a server that is not required a warning."""
    try:
        yield
    except RunError as error:
        if server.required:
            raise
        whose = " of the client" if server.of_client else ""
        around.warn(f"without MCP server {quoted(server.name)}{whose}: {error}")


async def _begin(connection: Connection, around: RunAround, secrets: Collection[str]) -> None:
    """Begin to connect, after the user has agreed to start the server. Raises McpServerError."""
    server = connection.server
    if server.is_command:
        await _admit(server, around, secrets)
    place = f"{redact(server.shown_place, secrets)} ({server.transport})"
    around.note(f"[mcp] Connecting to {quoted(server.name)} at {place}")
    connection.start()


async def _admit(server: McpServer, around: RunAround, secrets: Collection[str]) -> None:
    """Ask whether a server may start. Raises McpServerError if the user does not want it to."""
    refusal = await around.approve(request_to_start(server, around.ids, secrets))
    if refusal == NOBODY.why:
        line = redact(server.shown_place, secrets)
        refusal = (
            f"nobody can be asked here; the rule `{START}({line})` in axe.tools.allow allows it"
        )
    if refusal:
        raise McpServerError(f"MCP server {quoted(server.name)} was not started: {refusal}")


async def call_remote(
    call: ToolCall,
    remote: RemoteTool,
    run: RunIds,
    approve: Approve,
    secrets: Collection[str],
    *,
    heard: Callable[[], None],
) -> ToolResult:
    """Execute a call, if that is allowed. Always returns a result. `heard`: the server has said something."""
    if remote.changed or not remote.only_reads:
        request = request_to_call(call, remote, run, secrets)
        is_shown = False

        async def rehearse() -> Rehearsal:
            nonlocal is_shown
            is_shown = True
            return await request.rehearse()

        refusal = await approve(replace(request, rehearse=rehearse))
        if refusal:
            return ToolResult(call.id, f"{call.name} was not allowed: {refusal}", is_error=True)
        # Who has allowed everything beforehand has not seen what the server says now.
        if is_shown and remote.changed and remote.agree is not None:
            await remote.agree()
    return await _executed(call, remote, secrets, heard)


def access_to(server: McpServer, workplace: Workplace) -> Access:
    """Return the way to a server, with `${VAR}` filled in. Raises ConfigError."""
    outside = with_search_path(workplace.environment)
    headers = _expanded(server, server.headers, outside)
    if not server.is_command:
        return Access(headers, {}, workplace.folder)
    names = (*_INHERITED, *(_NEEDED_ON_WINDOWS if sys.platform == "win32" else ()))
    inherited = {name: outside[name] for name in (*names, *server.pass_env) if outside.get(name)}
    above = below_agents(outside, workplace.agents)
    own = _expanded(server, server.env, outside)
    return Access(headers, {**inherited, **own, **above}, _folder_of(server, workplace.folder))


def _folder_of(server: McpServer, working: Path) -> Path:
    folder = Path(os.path.realpath(working / server.cwd))
    if not folder.is_relative_to(os.path.realpath(working)) or not folder.is_dir():
        raise ConfigError(
            f"failed to start MCP server {quoted(server.name)}: cwd {quoted(server.cwd)} is not a "
            "folder below the working directory"
        )
    return folder


def _expanded(
    server: McpServer, texts: Mapping[str, str], environment: Environment
) -> dict[str, str]:
    def value_of(reference: re.Match[str]) -> str:
        value = environment.get(reference[1])
        if not value:
            raise ConfigError(
                f"failed to connect MCP server {quoted(server.name)}: "
                f"environment variable {quoted(reference[1])} is not set or empty"
            )
        return value

    if server.of_client:
        return {**texts}
    return {name: re.sub(VARIABLE, value_of, value) for name, value in texts.items()}


async def _executed(
    call: ToolCall, remote: RemoteTool, secrets: Collection[str], heard: Callable[[], None]
) -> ToolResult:
    assert remote.tool.schema is not None
    server = quoted(remote.connection.server.name)
    remote.note(f"[mcp] Routing tool {quoted(call.name)} to server {server}")
    arguments = fit_arguments(call.arguments, remote.tool.schema)
    try:
        answer = await remote.connection.call(call.name, arguments, heard)
    except McpError as error:
        text = redact(f"MCP server {server}: {error}", secrets)
        return ToolResult(call.id, valid_text(text), is_error=True)
    if not (answer.texts or answer.images):
        return ToolResult(call.id, "MCP tool returned no text content", is_error=True)
    said = "\n".join(answer.texts) if answer.texts else f"pictures: {len(answer.images)}"
    text = shown_output(said, secrets)
    return ToolResult(call.id, valid_text(text), answer.is_error, images=answer.images)


def _secrets(server: McpServer, environment: Environment) -> Iterator[str]:
    """Yield the secret values of headers and environments: variables in headers, and values with the name of a key."""
    for name, value in server.headers.items():
        variables = server.variables_of(value)
        yield from (environment[each] for each in variables)
        if not variables and is_secret_name(name):
            yield value
    for name, value in server.env.items():
        variables = server.variables_of(value)
        if any(map(is_secret_name, (name, *variables))):
            yield from (environment[each] for each in variables)
            yield value
    for name in server.pass_env:
        if is_secret_name(name) and environment.get(name):
            yield environment[name]


async def _listed(connection: Connection, secrets: Collection[str]) -> tuple[ServerTool, ...]:
    server = connection.server
    name = quoted(server.name)
    try:
        return await connection.tools()
    except McpError as error:
        reason = redact(str(error), secrets)
    if connection.is_connected:
        raise McpServerError(f"failed to list tools from MCP server {name}: {reason}")
    place = f"{redact(server.shown_place, secrets)} by {server.transport}"
    raise McpServerError(
        f"failed to connect MCP server {name}: connect MCP server {name}: {reason} ({place})"
    )


_EARLIER = "since an earlier run"
_DURING = "during the run"


class _Collector:
    """Puts the tools of several servers together, and stores for later runs what the user knows of them."""

    def __init__(
        self,
        around: RunAround,
        secrets: Collection[str],
        taken: Collection[str],
        denied: Iterable[str],
    ) -> None:
        self._around = around
        self._secrets = secrets
        self._changes: dict[Connection, Changes] = {}
        self.tools: dict[str, RemoteTool] = {}
        self.instructions: dict[str, str] = {}
        self._taken = taken
        self._denied = tuple(denied)
        self._note = around.note
        self._lists: dict[Connection, Collection[ServerTool]] = {}
        self._first: dict[tuple[Connection, str], str] = {}
        self._warned: set[str] = set()

    async def add(self, connection: Connection, found: Collection[ServerTool]) -> None:
        """Add a server's tools. Raises ConfigError when another server has one of them."""
        server = quoted(connection.server.name)
        instructions = redact(connection.instructions, self._secrets)
        self.instructions[connection.server.name] = instructions
        self._changes[connection] = await self._keep(connection.server, found, instructions)
        if self._changes[connection].instructions:
            self._warn_once(
                f"MCP server {server} gives the model other instructions than in the last run: "
                f"{quoted(first_line(instructions))}"
            )
        before = len(self.tools)
        self._lists[connection] = found
        for each in self._usable(connection, found):
            self._add(connection, each)
        count = len(self.tools) - before
        self._note(f"[mcp] {server} discovered {len(found)} tool(s), registered {count}")
        new = sorted(self._changes[connection].new & self.tools.keys())
        if new:
            self._warn_once(
                f"MCP server {server} says something else of {', '.join(map(quoted, new))} than in earlier runs; "
                "rules that name the server do not allow that until you have allowed a call"
            )

    async def newest(self) -> Mapping[str, RemoteTool]:
        """Return the tools as the servers have them now. A fault leaves them as they were."""
        changes = [await self._has_changed(each) for each in self._lists]
        if any(changes):
            before, self.tools = self.tools, {}
            for connection, found in self._lists.items():
                for each in self._usable(connection, found):
                    self._add_later(connection, each)
            self._tell(before)
        return self.tools

    async def _has_changed(self, connection: Connection) -> bool:
        """Look whether a server has other tools now."""
        server = quoted(connection.server.name)
        before = self._lists[connection]
        try:
            found = await connection.newest_tools()
        except McpError as error:
            self._note(f"[mcp] {server} did not list its tools again: {error}")
            return False
        self._lists[connection] = found
        has_changed = found is not before and found != before
        if has_changed:
            instructions = self.instructions[connection.server.name]
            self._changes[connection] = await self._keep(connection.server, found, instructions)
        return has_changed

    def _tell(self, before: Mapping[str, RemoteTool]) -> None:
        """Tell of tools that are new, gone or changed."""
        now = self.tools
        added, gone = [*now.keys() - before.keys()], [*before.keys() - now.keys()]
        changed = [
            name
            for name in now.keys() & before.keys()
            if now[name].definition != before[name].definition
        ]
        for word, names in (("added", added), ("removed", gone), ("changed", changed)):
            if names:
                self._note(f"[mcp] Tools {word} by their servers: {', '.join(sorted(names))}")
        for name in sorted(now):
            if now[name].changed == _DURING:
                server = quoted(now[name].connection.server.name)
                self._warn_once(
                    f"MCP server {server} has changed what it says of its tool {quoted(name)} "
                    "during the run; rules that name the server no longer allow it"
                )

    def _usable(
        self, connection: Connection, found: Collection[ServerTool]
    ) -> Iterator[ServerTool]:
        """Yield the tools that a model may have."""
        server = quoted(connection.server.name)
        for name, fault in connection.unusable_tools.items():
            shown = quoted(redact(name, self._secrets))
            self._warn_once(f"tool {shown} of MCP server {server} is left out: {fault}")
        for each in found:
            if self._holds_secret(each):
                self._warn_once(
                    f"a tool of MCP server {server} is left out: its name has a secret in it"
                )
            elif each.name in self._taken:
                conflict = "conflicts with built-in tool"
                self._note(f"[mcp] Skipping {quoted(each.name)} from {server} ({conflict})")
            elif not TOOL_NAME.fullmatch(each.name):
                self._warn_once(
                    f"tool {quoted(redact(each.name, self._secrets))} of MCP server {server} is left out: providers take "
                    "only letters, digits, _ and - in names, and at most 64 of them"
                )
            elif not _can_be_sent(each.schema):
                self._warn_once(
                    f"tool {quoted(each.name)} of MCP server {server} is left out: its schema is not valid JSON"
                )
            elif not any(fnmatchcase(each.name, pattern) for pattern in self._denied):
                yield each

    def _holds_secret(self, tool: ServerTool) -> bool:
        """Return whether the name of a tool has a secret in it; one that only looks like a key is none."""
        return any(without(tool.name, each) != tool.name for each in self._secrets)

    def _add_later(self, connection: Connection, each: ServerTool) -> None:
        """Add a tool while the run goes on, which no conflict ends."""
        try:
            self._add(connection, each)
        except ConfigError as error:
            self._warn_once(f"{error}; the tool of the second one is left out")

    def _add(self, connection: Connection, each: ServerTool) -> None:
        other = self.tools.get(each.name)
        if other is not None and connection.server.of_client:
            self._note(f"[mcp] Skipping {quoted(each.name)} of the client (another server has it)")
            return
        if other is not None and other.connection is not connection:
            first, second = quoted(other.connection.server.name), quoted(connection.server.name)
            raise ConfigError(
                f"failed to register MCP tools from {second}: MCP tool {quoted(each.name)} "
                f"collision between servers {first} and {second}"
            )
        definition = _digest(each)
        changed = _EARLIER if each.name in self._changes[connection].other else ""
        if self._first.setdefault((connection, each.name), definition) != definition:
            changed = _DURING
        self.tools[each.name] = RemoteTool(
            connection,
            Tool(
                each.name,
                each.description,
                schema={"type": "object", **each.schema},
                server=connection.server.name,
            ),
            each.only_reads,
            self._note,
            definition,
            changed,
            partial(self._agree, connection, each.name, definition),
        )

    async def _agree(self, connection: Connection, name: str, definition: str) -> None:
        """Take note that the user has allowed a call: what the server says is known in later runs, or from now on."""
        try:
            await asyncio.to_thread(agree, *self._where(connection.server), name, definition)
        except (OSError, ConfigError) as error:
            self._is_not_kept(connection.server, error)
        now = self.tools.get(name)
        if now is not None and now.definition == definition and now.changed == _EARLIER:
            changes = self._changes[connection]
            self._changes[connection] = Changes(changes.other - {name})
            self.tools[name] = replace(now, changed="")

    async def _keep(
        self, server: McpServer, tools: Collection[ServerTool], instructions: str
    ) -> Changes:
        """Store what a server offers and says now; returns what differs from that which the user knows."""
        rows = [
            ToolNow(each.name, redact(each.description, self._secrets), _digest(each))
            for each in tools
            if not self._holds_secret(each)
        ]
        try:
            return await asyncio.to_thread(remember, *self._where(server), rows, instructions)
        except (OSError, ConfigError) as error:
            self._is_not_kept(server, error)
            return Changes()

    def _where(self, server: McpServer) -> tuple[Environment, Path, str]:
        place = redact(server.shown_place, self._secrets)
        # The editor must not take it for a server of a file, which may offer other tools there.
        place = f"{place} (of a client)" if server.of_client else place
        return self._around.workplace.environment, self._around.workspace, place

    def _is_not_kept(self, server: McpServer, error: Exception) -> None:
        self._note(f"[mcp] what {quoted(server.name)} offers is not remembered: {error}")

    def _warn_once(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            self._around.warn(text)


def _can_be_sent(schema: Mapping[str, Json]) -> bool:
    """Return whether a schema is without NaN, which the SDK reads, and can be written."""
    try:
        json.dumps(schema, allow_nan=False)
    except (ValueError, RecursionError):
        return False
    return True


def _digest(tool: ServerTool) -> str:
    """Return a short name for all that a server says of a tool."""
    return digest_of(json.dumps([tool.description, tool.schema, tool.only_reads], sort_keys=True))
