"""Agents of opencode 1.18.

Facts are those of opencode 1.18.34, recorded without network: the last rule of `permission` that matches counts, `tools` is
older and weaker, write and patch ask for `edit`, and a file without rules has all tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from axe_lsp.agentfile.convert.formats import Format, Reading, Writing, all_tools, tools_of
from axe_lsp.agentfile.convert.intermediate import CHANGING
from axe_lsp.agentfile.convert.model_names import read_model
from axe_lsp.agentfile.text.front_matter import OPENCODE_SYNTAX

DENY = "deny"
_EDITING = ("write", "edit", "patch")
"""Names in `tools` that are the one permission `edit`."""

_OTHERS = ("*", "task", "external_directory", "doom_loop", "skill", "lsp", "question", "todowrite")
"""Permissions for which there is nothing to convert: axe has no such tools, or asks the user anyway."""

Rule = tuple[str, str, Any]
"""The key, a name or glob of a tool, and its action, or a table of actions by pattern."""


def rules_of(values: Mapping[str, Any]) -> list[Rule]:
    """Return the rules of a front matter, of which the last one that matches counts."""
    tools, permission = values.get("tools"), values.get("permission")
    rules: list[Rule] = []
    for name, is_on in tools.items() if isinstance(tools, Mapping) else ():
        action = "allow" if is_on is True else DENY
        rules.append(("tools", "edit" if name in _EDITING else name, action))
    if isinstance(permission, Mapping):
        rules += [("permission", name, action) for name, action in permission.items()]
    elif permission is not None:
        rules.append(("permission", "*", permission))
    return rules


def action_of(rules: list[Rule], name: str) -> Any:
    """Return the action for a tool: that of the last rule for it; `allow` without one."""
    return next((action for _, rule, action in reversed(rules) if fnmatchcase(name, rule)), "allow")


def _read_tools(reading: Reading) -> None:
    rules = rules_of(reading.values)
    reading.take("tools")
    reading.take("permission")
    if not rules:
        reading.agent.tools = tuple(all_tools(reading, "opencode"))
        return
    reading.source_keys["tools"] = rules[-1][0]
    allowed = dict.fromkeys(_allowed(reading, rules))
    reading.listed = tuple(name for name in allowed if any(name == rule for _, rule, _ in rules))
    ours = (tool for name in allowed for tool in sorted(reading.format.tools[name]))
    reading.agent.tools = tuple(dict.fromkeys(ours))
    for key, name, action in rules:
        is_ours = any(fnmatchcase(each, name) for each in reading.format.tools)
        if not is_ours and name not in _OTHERS and action != DENY:
            reading.notes.lost(f"{key}: {name}", "the tool has no counterpart")
    _read_agents(reading, action_of(rules, "task"))


def _allowed(reading: Reading, rules: list[Rule]) -> Iterator[str]:
    """Yield the tools of opencode that no rule denies. Of one that is limited to some arguments nothing is left."""
    for name in reading.format.tools:
        action = action_of(rules, name)
        if isinstance(action, Mapping) and DENY in action.values():
            why = "limits on the arguments of a tool have no counterpart"
            reading.notes.lost(f"permission: {name}", why)
        elif action != DENY:
            yield name


def _read_agents(reading: Reading, action: Any) -> None:
    if isinstance(action, Mapping):
        names = [name for name, each in action.items() if each == "allow"]
        reading.source_keys["agents"] = "permission.task"
        reading.agent.agents = tuple(each for each in names if "*" not in each)
        for each in names:
            if "*" in each:
                why = "without a list it would have to name all agents"
                reading.notes.lost(f"permission.task: {each}", why)


def _write_model(writing: Writing) -> None:
    if writing.agent.model:
        writing.set("model", writing.agent.model)


def _write_tools(writing: Writing) -> None:
    names = writing.tool_names()
    rules: dict[str, Any] = {"*": DENY}
    for name in names:
        changes = writing.format.tools[name] & CHANGING
        rules[name] = "ask" if changes else "allow"
    if writing.agent.agents:
        rules["task"] = {"*": DENY, **dict.fromkeys(writing.agent.agents, "allow")}
    writing.set("permission", rules)


OPENCODE = Format(
    "opencode",
    "opencode",
    ".opencode/agent",
    ".md",
    syntax=OPENCODE_SYNTAX,
    keys={
        "name": "name",
        "description": "description",
        "model": "model",
        "temperature": "temperature",
        "max_turns": "steps",
        "tools": "permission",
        "agents": "permission.task",
        "prompt": "",
    },
    tools=tools_of(
        ("read", "read_file"),
        ("list", "list_directory"),
        ("grep", "grep"),
        ("glob", "find_files"),
        ("edit", "write_file edit_file"),
        ("bash", "run_command"),
        ("webfetch", "url_fetch"),
        ("websearch", "web_search"),
    ),
    readers={"model": read_model, "tools": _read_tools},
    writers={
        "model": _write_model,
        "tools": _write_tools,
        "agents": lambda _: None,  # They are written with the tools.
    },
)
