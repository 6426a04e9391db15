"""Sub-agents of Claude Code.

Sources: "Create custom subagents" (code.claude.com/docs/en/sub-agents, as of version 2.1.205): the
fields, that absent `tools` are all tools, that `disallowedTools` is applied first, that a sub-agent
may start every agent if it has the tool `Agent`, that `memory` switches on Read, Write and Edit, and
that a worktree (`isolation: worktree`) in which something has changed is left for the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from axe_lsp.agentfile.convert.formats import (
    Format,
    Reading,
    Writing,
    all_tools,
    described_server,
    granted,
    listed_tools,
    split_list,
    tools_of,
)
from axe_lsp.agentfile.convert.intermediate import CHANGING, slug
from axe_lsp.agentfile.convert.model_names import read_model, write_effort, write_model
from axe_lsp.agentfile.text.front_matter import CLAUDE_SYNTAX

_CALL = re.compile(r"(?:Agent|Task)(?:\((.*)\))?", re.DOTALL)
_PATTERN = re.compile(r"(\w+)\(.*\)", re.DOTALL)


def _read_description(reading: Reading) -> None:
    r"""Read the description with a line break for each `\n`, as the wizard of `/agents` writes them in an unquoted value.

    Claude Code 1.0.128 and 2.1.197 replace this escape in the description, and no other one.
    """
    reading.take_field("description")
    reading.agent.description = reading.agent.description.replace("\\n", "\n")


def names_in(value: object) -> list[str]:
    """Return the tools in a text or list. Claude Code 2.1.332 splits at blanks as well as at commas."""
    texts = value if isinstance(value, list) else [value]
    return [
        name for each in texts if isinstance(each, str) for name in split_list(each, at=", \t\r\n")
    ]


def _read_tools(reading: Reading) -> None:
    """Read tools; one that is allowed or denied for some arguments only is left out: axe has no such limits."""
    written = names_in(reading.values.get("tools"))
    listed = listed_tools(reading, written if "tools" in reading.values else None)
    if listed is None:
        tools = all_tools(reading, "Claude Code")
    else:
        named = _without_patterns(reading, "tools", _without_calls(reading, listed))
        tools = granted(reading, named, "tools")
    _read_denials(reading, tools)
    if reading.take("permissionMode") == "plan":
        reading.notes.mapped("permissionMode", "`plan`: without the tools that change something")
        tools = [tool for tool in tools if tool not in CHANGING]
    reading.agent.tools = tuple(tools)


def _without_calls(reading: Reading, listed: Iterable[str]) -> Iterable[str]:
    for name in listed:
        call = _CALL.fullmatch(name)
        if call is None:
            yield name
        elif call[1]:
            reading.source_keys["agents"] = "tools: Agent"
            reading.agent.agents += tuple(
                each.strip() for each in call[1].split(",") if each.strip()
            )
        else:
            reading.notes.lost(f"tools: {name}", "without a list it would have to name all agents")


def _without_patterns(reading: Reading, key: str, listed: Iterable[str]) -> Iterable[str]:
    for each in listed:
        name = each.removesuffix("(*)")
        if _PATTERN.fullmatch(name):
            reading.notes.lost(
                f"{key}: {name}", "limits on the arguments of a tool have no counterpart"
            )
        else:
            yield name


def _read_denials(reading: Reading, tools: list[str]) -> None:
    reading.take("disallowedTools")
    denied = names_in(reading.values.get("disallowedTools"))
    gone: set[str] = set()
    for each in denied:
        name = each.removesuffix("(*)")
        pattern = _PATTERN.fullmatch(name)
        meant = {**reading.format.tool_aliases, **reading.format.tools}.get(
            pattern[1] if pattern else name
        )
        if meant is None and name == "*":
            meant = frozenset(tools)
        if meant is None:
            reading.denied += (name,)
            reading.notes.lost(f"disallowedTools: {name}", "the agent has no such tool")
            continue
        gone |= meant
        why = " altogether, as limits on arguments have no counterpart" if pattern else ""
        reading.notes.mapped(f"disallowedTools: {name}", f"without {', '.join(sorted(meant))}{why}")
    tools[:] = [tool for tool in tools if tool not in gone]


def _read_servers(reading: Reading) -> None:
    servers = reading.take("mcpServers")
    items = [servers] if isinstance(servers, dict) else servers if isinstance(servers, list) else []
    for item in items:
        if not isinstance(item, dict):
            reading.notes.lost(
                f"mcpServers: {item}", "the address of the server is in another file"
            )
            continue
        for name, table in item.items():
            reading.take_server("mcpServers", name, table)


def _read_copy(reading: Reading) -> None:
    _read_background(reading)
    value = reading.take("isolation")
    if value == "worktree":
        reading.source_keys["copy"] = "isolation"
        reading.agent.copy = "keep"
        text = "`worktree`: a copy of the folder as it is, whose changes are kept as a commit"
        reading.notes.mapped("isolation", text)
    elif value is not None:
        reading.notes.lost("isolation", "only `worktree` has a counterpart")


def _read_background(reading: Reading) -> None:
    if reading.take("background") is True:
        text = (
            "a caller waits for the agent, unless its own file has `sub_agents_config.background`"
        )
        reading.notes.lost("background", text)


def _write_copy(writing: Writing) -> None:
    if writing.agent.copy:
        writing.set("isolation", "worktree")
        text = "`worktree`: Claude Code leaves the changes there, and may begin with another branch"
        writing.notes.mapped(writing.keys["copy"], text)


def _write_name(writing: Writing) -> None:
    writing.set_name(slug(writing.agent.name, ascii_only=True).replace("_", "-") or "agent")


def _write_tools(writing: Writing) -> None:
    names = writing.tool_names()
    if writing.agent.agents:
        if set(writing.agent.tools) >= CHANGING:
            names.append(f"Agent({', '.join(writing.agent.agents)})")
            text = "as a sub-agent, Claude Code ignores the list and may start every agent"
            writing.notes.mapped(writing.keys["agents"], text)
        else:
            text = "Claude Code would let it start every agent, also those with more tools"
            writing.lost("agents", text)
    names += [f"mcp__{server.name}" for server in writing.agent.servers]
    writing.set("tools", ", ".join(names) if names else [])


def _write_servers(writing: Writing) -> None:
    servers = [
        {server.name: described_server(writing, server, "stdio")}
        for server in writing.agent.servers
    ]
    if servers:
        writing.set("mcpServers", servers)


CLAUDE = Format(
    "claude",
    "Claude Code",
    ".claude/agents",
    ".md",
    syntax=CLAUDE_SYNTAX,
    keys={
        "name": "name",
        "description": "description",
        "model": "model",
        "effort": "effort",
        "max_turns": "maxTurns",
        "tools": "tools",
        "agents": "tools: Agent",
        "servers": "mcpServers",
        "copy": "isolation",
        "prompt": "",
    },
    tools=tools_of(
        ("Read", "read_file"),
        ("Write", "write_file"),
        ("Edit", "edit_file"),
        ("Bash", "run_command"),
        ("Grep", "grep"),
        ("Glob", "find_files"),
        ("WebFetch", "url_fetch"),
        ("WebSearch", "web_search"),
    ),
    tool_aliases=tools_of(
        ("LS", "list_directory"), ("MultiEdit", "edit_file"), ("PowerShell", "run_command")
    ),
    readers={
        "description": _read_description,
        "model": read_model,
        "tools": _read_tools,
        "servers": _read_servers,
        "copy": _read_copy,
    },
    writers={
        "name": _write_name,
        "model": lambda writing: write_model(writing, "anthropic"),
        "effort": write_effort,
        "tools": _write_tools,
        "servers": _write_servers,
        "copy": _write_copy,
    },
    server_tools=("mcp__{}", "mcp__{}__*"),
    required=frozenset({"name", "description"}),
    why_lost={"hooks": "if they limit a tool, remove it from the new file"},
)
