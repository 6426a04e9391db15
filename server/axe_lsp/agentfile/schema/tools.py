"""The built-in tools, one row each, and the tools that a list of names, other systems' names and globs means.

A tool is a row here and a module of its name in `runtime/tools/`, which has its description for the model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Literal

from msgspec import Struct

Effect = Literal["reads", "changes", "web", "asks user", "asks editor", "delegates", "side runs"]
"""The reach of a tool: it reads files, changes files or executes commands after an approval, sends to hosts on the
internet what a model writes, asks the user, asks the language servers of the editor, starts a run of another agent, or
is about side runs of the agent."""


class ToolSpec(Struct, frozen=True):
    """What the language features, runs, conversions and editors know of a tool.

    `arguments` are the names of its parameters. `kind` is its ToolKind in ACP. A file has to name a tool that
    is not `in_globs`. axe refuses a file that names an `is_extension`. `since` is the release of axe-lsp with which a
    tool came, if it was not the first one: recordings of earlier releases lack the tool where a glob means it.
    """

    name: str
    documentation: str
    arguments: tuple[str, ...]
    effect: Effect
    kind: str = "other"
    aliases: tuple[str, ...] = ()
    in_globs: bool = True
    is_extension: bool = False
    since: str = ""


def _editor_tool(name: str, documentation: str, arguments: tuple[str, ...]) -> ToolSpec:
    """Return the row of a tool that the language servers of the editor answer."""
    return ToolSpec(
        name, documentation, arguments, "asks editor", "search", in_globs=False, is_extension=True
    )


ROWS = (
    ToolSpec(
        "read_file",
        "Text of a file below the workspace, with line numbers.",
        ("path", "offset", "limit"),
        "reads",
        "read",
        ("Read",),
    ),
    ToolSpec("list_directory", "Entries of a directory.", ("path",), "reads", "read", ("List",)),
    ToolSpec(
        "grep",
        "Regular expression over files (axe-lsp).",
        ("pattern", "path", "glob", "ignore_case"),
        "reads",
        "search",
        ("Grep",),
        is_extension=True,
    ),
    ToolSpec(
        "find_files",
        "Paths by glob (axe-lsp).",
        ("pattern",),
        "reads",
        "search",
        ("Glob",),
        is_extension=True,
    ),
    ToolSpec(
        "write_file",
        "Create or replace a file.",
        ("path", "content"),
        "changes",
        "edit",
        ("Write",),
    ),
    ToolSpec(
        "edit_file",
        "Replace one exact occurrence in a file.",
        ("path", "old_string", "new_string", "replace_all"),
        "changes",
        "edit",
        ("Edit",),
    ),
    ToolSpec(
        "run_command",
        "A shell command in the workspace.",
        ("command",),
        "changes",
        "execute",
        ("bash", "Bash"),
    ),
    ToolSpec("url_fetch", "GET a page from an allowed host.", ("url",), "web", "fetch"),
    ToolSpec("web_search", "Search the web.", ("query",), "web", "fetch"),
    ToolSpec(
        "ask_user",
        "A question to the person who started the run (axe-lsp).",
        ("question", "choices"),
        "asks user",
        in_globs=False,
        is_extension=True,
    ),
    _editor_tool(
        "diagnostics",
        "Problems that the editor shows in a file, or in all files (axe-lsp).",
        ("path", "severity"),
    ),
    _editor_tool(
        "definition", "Where a name is defined, as the editor finds it (axe-lsp).", ("at", "name")
    ),
    _editor_tool(
        "references", "Where a name is used, as the editor finds it (axe-lsp).", ("at", "name")
    ),
    _editor_tool(
        "symbols",
        "Symbols of a file, or of the workspace by a query, as the editor finds them (axe-lsp).",
        ("path", "query"),
    ),
    _editor_tool(
        "hover",
        "Type and documentation of a name, as the editor shows them (axe-lsp).",
        ("at", "name"),
    ),
    _editor_tool(
        "call_hierarchy",
        "Callers of a function, or what it calls, as the editor finds them (axe-lsp).",
        ("at", "name", "direction"),
    ),
)
"""The tools that `tools` may name, in the order in which lists and pages have them."""

DELEGATION = (
    ToolSpec(
        "call_agent", "Calls an agent.", ("agent", "task", "context", "background"), "delegates"
    ),
    ToolSpec("check_agents", "Shows the side runs of the agent.", ("agent", "from"), "side runs"),
    ToolSpec("wait_agents", "Waits for side runs.", ("agents", "seconds", "all"), "side runs"),
    ToolSpec(
        "message_agent", "Sends a message to a side run.", ("agent", "message", "now"), "side runs"
    ),
    ToolSpec("stop_agent", "Stops a side run.", ("agent",), "side runs"),
    ToolSpec(
        "Task",
        "Calls an agent.",
        ("description", "prompt", "subagent_type", "background"),
        "delegates",
    ),
)
"""The tools that an agent gets by `sub_agents`, `task` and `background`, and that `tools` may not name."""

TOOLS: dict[str, ToolSpec] = {tool.name: tool for tool in ROWS}
ALL_TOOLS: dict[str, ToolSpec] = {tool.name: tool for tool in (*ROWS, *DELEGATION)}
TOOL_ALIASES: dict[str, str] = {alias: tool.name for tool in ROWS for alias in tool.aliases}
"""Names of other systems for the same tools, accepted in `tools`."""


def _with(effect: Effect) -> tuple[str, ...]:
    return tuple(tool.name for tool in ALL_TOOLS.values() if tool.effect == effect)


READING_TOOLS, CHANGING_TOOLS, WEB_TOOLS = _with("reads"), _with("changes"), _with("web")
EDITOR_TOOLS, SIDE_RUN_TOOLS = _with("asks editor"), _with("side runs")


def tools_meant(
    listed: Sequence[str], allow: Sequence[str] = (), deny: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the tools that are listed or allowed, and not denied; each once, in the order of the names.

    Unknown names are left out.
    """
    denied = set(_expanded(deny, TOOLS))
    meant = dict.fromkeys(_expanded([*listed, *allow], _ADDED_BY_GLOBS))
    return tuple(tool for tool in meant if tool in TOOLS and tool not in denied)


def named_tools(listed: Sequence[str], deny: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the same without globs: only the tools that are listed by a name."""
    return tools_meant([each for each in listed if not is_tool_glob(each)], deny=deny)


def is_tool_glob(name: str) -> bool:
    """Return whether a name stands for any number of tools."""
    return not _OF_GLOBS.isdisjoint(name)


_OF_GLOBS = frozenset("*?[")


_ADDED_BY_GLOBS = tuple(tool.name for tool in ROWS if tool.in_globs)


def _expanded(names: Iterable[str], by_globs: Collection[str]) -> Iterator[str]:
    for name in names:
        if is_tool_glob(name):
            yield from (tool for tool in by_globs if fnmatchcase(tool, name))
        else:
            yield TOOL_ALIASES.get(name, name)
