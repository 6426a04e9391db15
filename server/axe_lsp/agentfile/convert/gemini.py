"""Sub-agents of Gemini CLI 0.61.

Source: `agents/agentLoader` and `agents/local-executor` of @google/gemini-cli-core 0.61.0: the keys (one
more is a fault), `mcp_servers` with `http_url` (the documentation has another spelling, which the
loader refuses), that absent tools are all and an empty list is none, and that no sub-agent can call another one.
"""

from __future__ import annotations

from axe_lsp.agentfile.convert.formats import (
    Format,
    Reading,
    Writing,
    all_tools,
    granted,
    listed_tools,
    tools_of,
)
from axe_lsp.agentfile.convert.intermediate import ConversionError, slug
from axe_lsp.agentfile.convert.model_names import read_model, write_model
from axe_lsp.agentfile.text.front_matter import GEMINI_SYNTAX


def _read_tools(reading: Reading) -> None:
    listed = listed_tools(reading)
    if listed is None:
        reading.agent.tools = tuple(all_tools(reading, "Gemini CLI"))
    else:
        reading.agent.tools = tuple(granted(reading, listed, "tools"))


def _read_timeout(reading: Reading) -> None:
    if reading.take("kind") == "remote":
        raise ConversionError("a remote agent has no instructions that could be converted")
    minutes = reading.take("timeout_mins")
    if isinstance(minutes, int) and not isinstance(minutes, bool) and minutes > 0:
        reading.source_keys["timeout"] = "timeout_mins"
        reading.agent.timeout = minutes * 60
        reading.notes.mapped("timeout_mins", f"{minutes} minutes are {minutes * 60} seconds")
    elif minutes is not None:
        reading.notes.lost("timeout_mins", "the value is not a number of minutes")


def _write_name(writing: Writing) -> None:
    writing.set_name(slug(writing.agent.name, ascii_only=True) or "agent")


def _write_timeout(writing: Writing) -> None:
    seconds = writing.agent.timeout
    if seconds:
        minutes = -(-seconds // 60)
        writing.set("timeout_mins", minutes)
        writing.notes.mapped(writing.keys["timeout"], f"{seconds} seconds are {minutes} minutes")


def _write_tools(writing: Writing) -> None:
    writing.set("tools", writing.tool_names())


GEMINI = Format(
    "gemini",
    "Gemini CLI",
    ".gemini/agents",
    ".md",
    syntax=GEMINI_SYNTAX,
    keys={
        "name": "name",
        "description": "description",
        "model": "model",
        "temperature": "temperature",
        "timeout": "timeout_mins",
        "max_turns": "max_turns",
        "tools": "tools",
        "prompt": "",
    },
    tools=tools_of(
        ("read_file", "read_file"),
        ("list_directory", "list_directory"),
        ("grep_search", "grep"),
        ("glob", "find_files"),
        ("write_file", "write_file"),
        ("replace", "edit_file"),
        ("run_shell_command", "run_command"),
        ("web_fetch", "url_fetch"),
        ("google_web_search", "web_search"),
    ),
    tool_aliases=tools_of(("read_many_files", "read_file"), ("search_file_content", "grep")),
    readers={
        "model": read_model,
        "timeout": _read_timeout,
        "tools": _read_tools,
        "servers": lambda reading: reading.take_servers("mcp_servers", "mcpServers"),
    },
    writers={
        "name": _write_name,
        "model": lambda writing: write_model(writing, "google"),
        "timeout": _write_timeout,
        "tools": _write_tools,
    },
    server_tools=("mcp_{}_*", "mcp_*"),
    required=frozenset({"name", "description"}),
    why_unwritten={
        "servers": "write them to settings.json of Gemini CLI: there it replaces variables in headers",
    },
)
