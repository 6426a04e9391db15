"""Agent files of axe."""

from __future__ import annotations

from typing import Any

from axe_lsp.agentfile.convert.formats import Format, Reading, Writing, command_table
from axe_lsp.agentfile.convert.intermediate import CHANGING, Note, NoteKind, slug
from axe_lsp.agentfile.mcp_servers import McpServer
from axe_lsp.agentfile.scaffold import NO_MODEL
from axe_lsp.agentfile.schema.agent_types import BUILT_IN_TYPES, AgentType
from axe_lsp.agentfile.schema.providers import EFFORTS
from axe_lsp.agentfile.schema.tools import TOOLS, is_tool_glob, tools_meant

_ASK = "ask"
"""The default of `isolation.changes`."""


def _read_name(reading: Reading) -> None:
    """Take the name of the file, by which axe finds the agent."""
    name = reading.take("name")
    reading.source_keys["name"] = "name"
    reading.agent.name = reading.stem
    if name != reading.stem:
        reading.notes.mapped("name", f"`{reading.stem}`, as the file is called")


def _read_tools(reading: Reading) -> None:
    """Read the tools of the agent from `tools`, `tool_policy` and `type`."""
    type_name = reading.take("type")
    preset = BUILT_IN_TYPES.get(str(type_name))
    if type_name is not None and preset is None:
        reading.notes.lost("type", "there is no such type")
    listed = reading.texts("tools")
    if listed is None:
        listed = list(preset.tools) if preset is not None else []
    allow, deny = reading.texts("tool_policy.allow") or [], reading.texts("tool_policy.deny") or []
    tools = set(tools_meant(listed, allow, deny))
    for name in (*listed, *allow):
        if not is_tool_glob(name) and not tools_meant([name]):
            reading.notes.lost(f"tools: {name}", "axe has no such tool")
    if preset is not None:
        _read_preset(reading, preset)
        if preset.read_only and tools & CHANGING:
            gone = ", ".join(sorted(tools & CHANGING))
            why = "other programs do not protect the workspace from it"
            reading.notes.lost("type", f"{gone}: {why}")
            tools -= CHANGING
    if reading.take("allowed_hosts") is not None:
        reading.notes.lost("allowed_hosts", "`url_fetch` without it could contact every host")
        tools.discard("url_fetch")
    reading.source_keys["tools"] = "tools"
    reading.agent.tools = tuple(tool for tool in TOOLS if tool in tools)


def _read_preset(reading: Reading, preset: AgentType) -> None:
    """Begin the prompt with the text of the type."""
    reading.agent.prompt = preset.begins(reading.agent.prompt)
    reading.agent.description = reading.agent.description or preset.description
    reading.notes.mapped("type", "its prompt, description and tools are written out")


def _read_servers(reading: Reading) -> None:
    servers = reading.take("mcp_servers")
    for each in servers if isinstance(servers, list) else []:
        name = str(each.get("name", "")) if isinstance(each, dict) else ""
        reading.take_server("mcp_servers", name, each)


def _read_agents(reading: Reading) -> None:
    reading.source_keys["agents"] = "sub_agents"
    reading.agent.agents = tuple(reading.texts("sub_agents") or ())


def _read_copy(reading: Reading) -> None:
    """Read `isolation.mode = "copy"`. Other modes have no counterpart."""
    isolation = reading.values.get("isolation")
    if isinstance(isolation, dict) and isolation.get("mode") == "copy":
        reading.source_keys["copy"] = "isolation"
        reading.take("isolation.mode")
        reading.agent.copy = str(reading.take("isolation.changes") or _ASK)


def _read_number(reading: Reading, name: str) -> None:
    """Read a number of which 0 means the same as its absence."""
    reading.take_field(name)
    if getattr(reading.agent, name) == 0:
        setattr(reading.agent, name, None)


def _write_name(writing: Writing) -> None:
    name = writing.agent.name
    writing.set("name", writing.stem)
    if name != writing.stem:
        writing.notes.mapped(writing.keys["name"], f"{name!r} is `{writing.stem}`, as the file")


MODEL_IS_MISSING = Note(
    NoteKind.ADDED, "model", f"`{NO_MODEL}` is to be replaced by a model (or use --model)"
)
"""The note about an agent that needs a model to run."""


def _write_model(writing: Writing) -> None:
    writing.set("model", writing.agent.model or NO_MODEL)
    if not writing.agent.model:
        writing.notes.all.append(MODEL_IS_MISSING)


def _write_effort(writing: Writing) -> None:
    if writing.agent.effort in EFFORTS:
        writing.set("params.effort", writing.agent.effort)
    elif writing.agent.effort:
        writing.lost("effort", f"axe has no effort `{writing.agent.effort}`")


def _write_max_turns(writing: Writing) -> None:
    turns = writing.agent.max_turns
    if turns is None:
        return
    writing.set("budget.max_turns", max(1, min(turns, 50)))
    if not 1 <= turns <= 50:
        writing.notes.mapped(writing.keys["max_turns"], f"{turns} is {max(1, min(turns, 50))}")


def _write_tools(writing: Writing) -> None:
    if writing.agent.tools:
        writing.set("tools", list(writing.agent.tools))
    writing.say_tools(writing.agent.tools)


def _write_agents(writing: Writing) -> None:
    names = [slug(each) or each for each in writing.agent.agents]
    if names:
        writing.set("sub_agents", names)
    if tuple(names) != writing.agent.agents:
        writing.notes.mapped(writing.keys["agents"], f"now {', '.join(names)}")


def _write_servers(writing: Writing) -> None:
    if writing.agent.servers:
        writing.set("mcp_servers", [_table(each) for each in writing.agent.servers])


def _write_copy(writing: Writing) -> None:
    if writing.agent.copy:
        writing.set("isolation.mode", "copy")
        if writing.agent.copy != _ASK:
            writing.set("isolation.changes", writing.agent.copy)


def _table(server: McpServer) -> dict[str, Any]:
    if server.is_command:
        return {"name": server.name, **command_table(server), **_beside(server)}
    table: dict[str, Any] = {"name": server.name, "url": server.url, "transport": server.transport}
    headers = {"headers": dict(server.headers)} if server.headers else {}
    return {**table, **headers, **_beside(server)}


def _beside(server: McpServer) -> dict[str, Any]:
    """Return the keys of a server that only axe-lsp and Codex have."""
    beside = {
        "pass_env": [*server.pass_env],
        "cwd": server.cwd,
        "required": server.required,
        "startup_timeout": server.startup_timeout,
    }
    usual = McpServer("")
    unset = {
        "pass_env": [],
        "cwd": "",
        "required": usual.required,
        "startup_timeout": usual.startup_timeout,
    }
    return {key: value for key, value in beside.items() if value != unset[key]}


AXE = Format(
    "axe",
    "axe",
    "axe/agents",
    ".toml",
    syntax=None,
    keys={
        "name": "name",
        "description": "description",
        "model": "model",
        "effort": "params.effort",
        "temperature": "params.temperature",
        "max_tokens": "params.max_tokens",
        "timeout": "timeout",
        "max_turns": "budget.max_turns",
        "tools": "tools",
        "agents": "sub_agents",
        "servers": "mcp_servers",
        "copy": "isolation.mode",
        "prompt": "system_prompt",
    },
    readers={
        "timeout": lambda reading: _read_number(reading, "timeout"),
        "max_turns": lambda reading: _read_number(reading, "max_turns"),
        "max_tokens": lambda reading: _read_number(reading, "max_tokens"),
        "name": _read_name,
        "tools": _read_tools,
        "agents": _read_agents,
        "servers": _read_servers,
        "copy": _read_copy,
    },
    writers={
        "name": _write_name,
        "model": _write_model,
        "effort": _write_effort,
        "max_turns": _write_max_turns,
        "tools": _write_tools,
        "agents": _write_agents,
        "servers": _write_servers,
        "copy": _write_copy,
    },
)
