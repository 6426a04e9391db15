"""Agents of Mistral Vibe 3.0.3.

Source: mistral-vibe, `vibe/core/tools/manager.py`: an empty `enabled_tools` means all tools, names are
compared without case, as globs or as `re:` expressions, and `disabled_tools` has the last word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

from axe_lsp.agentfile.convert.formats import (
    Format,
    Reading,
    Writing,
    every_tool,
    granted,
    tools_of,
)


def _read_name(reading: Reading) -> None:
    """A Vibe agent is called as its file."""
    reading.agent.name = reading.stem
    title = reading.take("display_name")
    if title is not None:
        reading.notes.lost("display_name", f"the agent is called as its file, `{reading.stem}`")


def _read_tools(reading: Reading) -> None:
    enabled = reading.texts("enabled_tools")
    if enabled:
        reading.source_keys["tools"] = "enabled_tools"
        reading.listed = tuple(enabled)
        tools = granted(reading, _matched(reading, enabled), "enabled_tools")
    else:
        tools = every_tool(reading.format)
        reading.notes.added("tools", f"{', '.join(tools)}: without `enabled_tools` Vibe gives all")
    disabled = reading.texts("disabled_tools") or ()
    denied = _matched(reading, disabled, missing=False)
    reading.denied = tuple("*" if each.startswith("re:") else each for each in disabled)
    settings = reading.take("tools")
    for name, table in settings.items() if isinstance(settings, dict) else ():
        if isinstance(table, dict) and table.get("permission") == "never":
            denied.append(name)
            reading.notes.mapped(f"tools.{name}", "`never`: the agent has no such tool")
        else:
            reading.notes.lost(f"tools.{name}", "permissions are not carried over")
    known = {**reading.format.tool_aliases, **reading.format.tools}
    gone = set[str]().union(*(known.get(name, frozenset()) for name in denied))
    if gone & set(tools):
        reading.notes.mapped("disabled_tools", f"without {', '.join(sorted(gone & set(tools)))}")
    reading.agent.tools = tuple(tool for tool in tools if tool not in gone)


def _matched(reading: Reading, patterns: Iterable[str], *, missing: bool = True) -> list[str]:
    """The names of Vibe's tools that patterns mean; with `missing`, also patterns that mean none."""
    names = [*reading.format.tools, *reading.format.tool_aliases]
    found: dict[str, None] = {}
    for pattern in patterns:
        meant = [name for name in names if _matches(name, pattern.strip())]
        found.update(dict.fromkeys(meant or ([pattern] if missing else [])))
    return list(found)


def _matches(name: str, pattern: str) -> bool:
    if not pattern.startswith("re:"):
        return fnmatchcase(name, pattern.lower())
    try:
        return re.fullmatch(pattern[3:], name, re.IGNORECASE) is not None
    except re.error:
        return False


def _read_servers(reading: Reading) -> None:
    servers = reading.take("mcp_servers")
    for table in servers if isinstance(servers, list) else ():
        name = str(table.get("name", "")) if isinstance(table, dict) else ""
        reading.take_server("mcp_servers", name, table)


def _write_name(writing: Writing) -> None:
    if writing.agent.name != writing.stem:
        writing.set("display_name", writing.agent.name)


def _write_tools(writing: Writing) -> None:
    names = writing.tool_names()
    if names:
        writing.set("enabled_tools", names)
        return
    writing.set("disabled_tools", ["*"])
    writing.notes.mapped(writing.keys["tools"], "`disabled_tools`: an empty list would give all")


def _write_servers(writing: Writing) -> None:
    if writing.agent.servers:
        writing.lost("servers", "write them to config.toml of Vibe, with its own form of keys")


VIBE = Format(
    "vibe",
    "Mistral Vibe",
    ".vibe/agents",
    ".toml",
    is_markdown=False,
    keys={
        "name": "display_name",
        "description": "description",
        "tools": "enabled_tools",
        "prompt": "instructions",
    },
    tools=tools_of(
        ("read_file", "read_file"),
        ("grep", "grep"),
        ("write_file", "write_file"),
        ("edit", "edit_file"),
        ("bash", "run_command"),
        ("web_fetch", "url_fetch"),
        ("web_search", "web_search"),
    ),
    tool_aliases=tools_of(
        ("search_replace", "edit_file"), ("git_bash", "run_command"), ("powershell", "run_command")
    ),
    readers={"name": _read_name, "tools": _read_tools, "servers": _read_servers},
    writers={"name": _write_name, "tools": _write_tools, "servers": _write_servers},
    server_tools=("{}_*",),
    why_lost={"active_model": "it is a name from config.toml of Vibe"},
)
