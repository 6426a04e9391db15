"""Custom agents of GitHub Copilot and VS Code.

Sources: "Custom agents configuration" (github/docs, content/copilot/reference/
custom-agents-configuration.md): fields, aliases of tools, that absent tools are all and `[]` is none;
"Custom agents in VS Code" (microsoft/vscode-docs): `agents`, `handoffs`, lists of models.
"""

from __future__ import annotations

from axe_lsp.agentfile.convert.formats import (
    Format,
    Reading,
    Writing,
    all_tools,
    described_server,
    granted,
    tools_of,
)
from axe_lsp.agentfile.convert.intermediate import CHANGING
from axe_lsp.agentfile.convert.model_names import read_model
from axe_lsp.agentfile.text.front_matter import COPILOT_SYNTAX

_NO_LIST = "without a list it would have to name all agents"
_DELEGATION = {"agent", "custom-agent", "task"}


def _read_tools(reading: Reading) -> None:
    listed = reading.texts("tools")
    if listed is None or "*" in listed:
        tools = all_tools(reading, "Copilot")
    else:
        reading.source_keys["tools"] = "tools"
        reading.listed = tuple(listed)
        names = [each for each in listed if each.lower() not in _DELEGATION]
        if len(names) < len(listed) and not reading.values.get("agents"):
            reading.notes.lost("tools: agent", _NO_LIST)
        # Copilot does not distinguish upper and lower case.
        known = {
            each.lower(): each for each in (*reading.format.tool_aliases, *reading.format.tools)
        }
        tools = granted(reading, (known.get(each.lower(), each) for each in names), "tools")
    reading.agent.tools = tuple(tools)


def _read_agents(reading: Reading) -> None:
    for name in reading.texts("agents") or ():
        if name == "*":
            reading.notes.lost("agents: *", _NO_LIST)
            continue
        reading.source_keys["agents"] = "agents"
        reading.agent.agents += (name,)


def _write_model(writing: Writing) -> None:
    if writing.agent.model:
        writing.notes.forget(writing.keys["model"])
        writing.lost("model", "Copilot names models as its own list does; choose one there")


def _write_tools(writing: Writing) -> None:
    names = writing.tool_names()
    if writing.agent.agents:
        if set(writing.agent.tools) >= CHANGING:
            names.append("agent")
            writing.set("agents", list(writing.agent.agents))
            text = "only VS Code keeps to the list; other programs may start every agent"
            writing.notes.mapped(writing.keys["agents"], text)
        else:
            text = "Copilot may let it start every agent, also those with more tools"
            writing.lost("agents", text)
    names += [f"{server.name}/*" for server in writing.agent.servers]
    writing.set("tools", names)


def _write_servers(writing: Writing) -> None:
    servers = {
        server.name: {**described_server(writing, server, "local"), "tools": ["*"]}
        for server in writing.agent.servers
    }
    if servers:
        writing.set("mcp-servers", servers)


COPILOT = Format(
    "copilot",
    "GitHub Copilot",
    ".github/agents",
    ".agent.md",
    syntax=COPILOT_SYNTAX,
    keys={
        "name": "name",
        "description": "description",
        "model": "model",
        "tools": "tools",
        "agents": "agents",
        "servers": "mcp-servers",
        "prompt": "",
    },
    tools=tools_of(
        ("read", "read_file"),
        ("edit", "write_file edit_file"),
        ("execute", "run_command"),
        ("search", "grep find_files"),
        ("web", "url_fetch web_search"),
    ),
    tool_aliases=tools_of(
        ("Read", "read_file"),
        ("NotebookRead", "read_file"),
        ("Edit", "write_file edit_file"),
        ("MultiEdit", "write_file edit_file"),
        ("Write", "write_file edit_file"),
        ("NotebookEdit", "write_file edit_file"),
        ("shell", "run_command"),
        ("Bash", "run_command"),
        ("powershell", "run_command"),
        ("Grep", "grep find_files"),
        ("Glob", "grep find_files"),
        ("WebSearch", "url_fetch web_search"),
        ("WebFetch", "url_fetch web_search"),
        # Tools of VS Code alone.
        ("read/readFile", "read_file"),
        ("codebase", "grep find_files"),
        ("search/codebase", "grep find_files"),
        ("search/textSearch", "grep"),
        ("search/fileSearch", "find_files"),
        ("search/listDirectory", "list_directory"),
        ("edit/createFile", "write_file"),
        ("edit/editFiles", "edit_file"),
        ("editFiles", "edit_file"),
        ("runCommands", "run_command"),
        ("runInTerminal", "run_command"),
        ("execute/runInTerminal", "run_command"),
        ("fetch", "url_fetch"),
        ("web/fetch", "url_fetch"),
    ),
    readers={
        "model": read_model,
        "tools": _read_tools,
        "agents": _read_agents,
        "servers": lambda reading: reading.take_servers("mcp-servers"),
    },
    writers={
        "model": _write_model,
        "tools": _write_tools,
        "agents": lambda _: None,  # They are written with the tools.
        "servers": _write_servers,
    },
    server_tools=("{}/*",),
    required=frozenset({"description"}),
)
