"""Problems of Claude Code's agents. Facts are those of Claude Code 2.1.332, recorded without network.

An error is a fault for which the file is not loaded, which Claude Code says in its debug log at most. A warning is a value that
does not do what it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from axe_lsp.agentfile.check import shapes
from axe_lsp.agentfile.check.front_matter import (
    cut_by_comment,
    error,
    fields,
    is_meant_as_agent,
    missing,
    parse_of,
    taken_as_property,
    unknown_keys,
    warning,
    without_front_matter,
)
from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.check.secret_values import plain_secrets
from axe_lsp.agentfile.check.shapes import Fault, Field, Shape
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.markdown_keys import (
    CLAUDE_COLORS,
    CLAUDE_EVENTS,
    CLAUDE_MODELS,
    CLAUDE_MODES,
    CLAUDE_TOOLS,
    EFFORTS,
)
from axe_lsp.agentfile.text.nearest import nearest_of
from axe_lsp.agentfile.text.ranges import TextRange, quoted
from axe_lsp.agentfile.text.tree import ValueKind

_LONGEST_NAME = 256
_FOR_NAME = ("Name", "title", "id")
_FOR_DESCRIPTION = ("Description", "desc", "when_to_use", "when-to-use")
"""Keys in place of those that are required."""


def claude_agent(lookup: Lookup) -> Iterator[Problem]:
    """Yield the problems of an agent file by itself."""
    yield from plain_secrets(lookup)
    parse = parse_of(lookup)
    if parse.parts.matter is None:
        if is_meant_as_agent(parse.text):
            yield from without_front_matter(
                lookup, "Claude Code does not load this file, without a word"
            )
        return
    found = fields(lookup)
    if not parse.problems:
        yield from _required(lookup, found)
    yield from _hooks(found)
    yield from _early_end(lookup)
    yield from _unread_alias(lookup, found)
    yield from cut_by_comment(lookup)
    yield from taken_as_property(lookup)
    yield from _values(found)
    yield from _unknown(lookup, found)
    for key in ("tools", "disallowedTools"):
        if key in found:
            yield from _tools(found[key], key)
    yield from _servers(found)


def _required(lookup: Lookup, found: Mapping[str, Field]) -> Iterator[Problem]:
    name, description = found.get("name"), found.get("description")
    if name is None:
        yield missing(
            lookup,
            found,
            "name",
            _FOR_NAME,
            "`name` is missing: Claude Code does not load this file, without a word",
        )
    elif not name.text:
        message = (
            "must be a text that is not empty: Claude Code does not load this file, without a word"
        )
        yield error(Fault(name.range, ("name",), message))
    else:
        yield from _name(name, name.text)
    if description is None and name is not None:
        yield missing(
            lookup,
            found,
            "description",
            _FOR_DESCRIPTION,
            "`description` is missing: Claude Code does not load this file",
        )
    elif description is not None and not description.text:
        message = "must be a text that is not empty: Claude Code does not load this file"
        yield error(Fault(description.range, ("description",), message))


def _name(field: Field, name: str) -> Iterator[Problem]:
    fault = ""
    if name.startswith("-"):
        fault = "must not begin with `-`"
    elif ":" in name or "\uff1a" in name:
        fault = "must not have a colon, which separates a plugin's name"
    elif len(name) > _LONGEST_NAME:
        fault = f"must have at most {_LONGEST_NAME} characters"
    if fault:
        message = f"{fault}: Claude Code does not load this file"
        yield error(Fault(field.range, ("name",), message, "out-of-range"))


def _early_end(lookup: Lookup) -> Iterator[Problem]:
    """Yield a warning where the `---` that ends the front matter stands within a line or a text."""
    parse = parse_of(lookup)
    text, end = parse.text, parse.parts.end
    line = text.rfind("\n", 0, end.start) + 1
    rest = text[end.end : text.find("\n", end.end) % (len(text) + 1)]
    if text[line : end.start] or rest.strip():
        message = "Claude Code ends the front matter at the first `---`, wherever it is: the lines below belong to the prompt"
        yield warning(end, (), message)


def _unread_alias(lookup: Lookup, found: Mapping[str, Field]) -> Iterator[Problem]:
    """Yield a warning for `*name`, which is an alias that nothing has and is sent as it stands."""
    for name in ("model",) if parse_of(lookup).is_mended else ():
        field = found.get(name)
        if field is not None and field.text is not None and re.fullmatch(r"\*\w+", field.text):
            message = f"{quoted(field.text)} names nothing, and is sent as it stands"
            yield warning(field.range, (name,), message)


# -- hooks

_BLOCKING = ("PreToolUse", "PermissionRequest", "PreSkillShellCommand")
"""Events for which a faulty hook drops the agent: without it, the agent could do what the hook should prevent."""

_NO_HOOKS = "Claude Code does not load this file"
_HOOK_TYPES = {
    "command": "command",
    "prompt": "prompt",
    "http": "url",
    "agent": "prompt",
    "mcp_tool": "tool",
}


def _hooks(found: Mapping[str, Field]) -> Iterator[Problem]:
    for name, field in found.items():
        if name not in ("hooks", "metadata", "mcpServers", "lspServers"):
            yield from _misplaced(field, (name,))
    hooks = found.get("hooks")
    if (
        hooks is None
        or (hooks.kind in (ValueKind.NULL, ValueKind.BOOLEAN) and not hooks.value)
        or hooks.value in ("", 0)
    ):
        return
    if hooks.members is None:
        message = f"must be a table of events, not {shapes.found(hooks)}: {_NO_HOOKS}"
        yield error(Fault(hooks.key, ("hooks",), message))
        return
    for event, matchers in hooks.members.items():
        yield from _event(event, matchers)


def _misplaced(field: Field, path: tuple[str, ...]) -> Iterator[Problem]:
    """Yield an error for hooks that stand elsewhere than at the top: they may guard what the agent is allowed to do."""
    is_nested = len(path) > 1 and path[-1] == "hooks" and (field.items or field.members)
    if path[-1] in _BLOCKING or is_nested:
        message = f"belongs below `hooks`, at the top: {_NO_HOOKS}"
        yield error(Fault(field.key, path, message, "unknown-key"))
        return
    for name, member in (field.members or {}).items():
        yield from _misplaced(member, (*path, name))


def _event(event: str, matchers: Field) -> Iterator[Problem]:
    path = ("hooks", event)
    if event not in CLAUDE_EVENTS:
        near = nearest_of(event, CLAUDE_EVENTS)
        guess = f"; did you mean {quoted(near)}?" if near else ""
        yield warning(
            matchers.key,
            path,
            f"{quoted(event)} is not an event of Claude Code: the entry is ignored{guess}",
        )
        return
    faults = _matchers(matchers, path)
    if event in _BLOCKING and matchers.kind is not ValueKind.NULL:
        for fault in faults:
            yield error(fault._replace(message=f"{fault.message}: {_NO_HOOKS}"))
            return
    for fault in faults:
        yield warning(
            fault.range,
            fault.path,
            f"`{'.'.join(fault.path)}` {fault.message}: the entry is ignored",
            "wrong-type",
        )


def _matchers(matchers: Field, path: tuple[str, ...]) -> Iterator[Fault]:
    if matchers.items is None:
        yield Fault(
            matchers.range,
            path,
            f"must be a list of tables with `hooks`, not {shapes.found(matchers)}",
        )
        return
    for matcher in matchers.items:
        members = matcher.members
        if members is None:
            yield Fault(matcher.range, path, "must hold tables with `hooks`")
            continue
        if "matcher" in members:
            yield from shapes.text(members["matcher"], (*path, "matcher"))
        hooks = members.get("hooks")
        if hooks is None or hooks.items is None:
            place = hooks.range if hooks is not None else matcher.range
            yield Fault(place, (*path, "hooks"), "must be a list of hooks", "missing-key")
            continue
        for hook in hooks.items:
            yield from _hook(hook, (*path, "hooks"))


def _hook(hook: Field, path: tuple[str, ...]) -> Iterator[Fault]:
    members = hook.members
    if members is None or "type" not in members:
        yield Fault(hook.range, (*path, "type"), "is missing", "missing-key")
        return
    kind = members["type"].value
    if kind not in _HOOK_TYPES:
        yield from shapes.words(" ".join(_HOOK_TYPES))(members["type"], (*path, "type"))
        return
    needed = _HOOK_TYPES[kind]
    if needed in members:
        yield from shapes.text(members[needed], (*path, needed))
    elif kind in ("command", "prompt", "http"):
        yield Fault(hook.range, (*path, needed), "is missing", "missing-key")
    if "timeout" in members and members["timeout"].kind not in (ValueKind.INTEGER, ValueKind.FLOAT):
        yield Fault(members["timeout"].range, (*path, "timeout"), "must be a number")


# -- values that are ignored

_PARENTS_MODEL = "the agent runs with the model of its caller"


def _is_true_or_false(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
    if field.value not in (True, False, "true", "false") or (
        isinstance(field.value, (int, float)) and not isinstance(field.value, bool)
    ):
        yield Fault(field.range, path, f"must be true or false, not {shapes.found(field)}")


def _turns(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
    value = field.value
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if isinstance(value, str) and re.fullmatch(r"\d+", value.strip()):
        value, is_whole = int(value), True
    if not is_whole or value <= 0:
        yield Fault(field.range, path, f"must be a whole number above 0, not {shapes.found(field)}")


def _effort(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
    value = field.items[0].value if field.items and len(field.items) == 1 else field.value
    if (
        isinstance(value, bool)
        or value is None
        or (
            not isinstance(value, (int, float))
            and str(value).lower() not in EFFORTS.split()
            and not re.fullmatch(r"-?\d+", str(value))
        )
    ):
        yield Fault(
            field.range,
            path,
            f"must be one of {', '.join(EFFORTS.split())}, or a whole number; it is {shapes.found(field)}",
        )


def _color(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
    if field.kind is not ValueKind.NULL:
        yield from shapes.words(CLAUDE_COLORS)(field, path)


def _window(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
    if field.kind is not ValueKind.INTEGER or field.value < 100_000:
        yield Fault(
            field.range, path, f"must be a whole number from 100000 on, not {shapes.found(field)}"
        )


_IGNORED: Mapping[str, tuple[Shape, str]] = {
    "model": (shapes.text, _PARENTS_MODEL),
    "effort": (_effort, "it is ignored"),
    "permissionMode": (shapes.words(CLAUDE_MODES), "it is ignored"),
    "maxTurns": (_turns, "it is ignored"),
    "autoCompactWindow": (_window, "it is ignored"),
    "memory": (shapes.words("user project local"), "the agent has no memory"),
    "background": (_is_true_or_false, "it is ignored"),
    "isolation": (shapes.words("worktree remote"), "the agent works in the same folder"),
    "color": (_color, "it is ignored"),
    "omitClaudeMd": (_is_true_or_false, "CLAUDE.md is given to the agent"),
    "initialPrompt": (shapes.text, "it is ignored"),
    "skills": (
        shapes.either("a list or a text with commas", shapes.text, shapes.array),
        "it is ignored",
    ),
}


def _values(found: Mapping[str, Field]) -> Iterator[Problem]:
    for name, (shape, consequence) in _IGNORED.items():
        field = found.get(name)
        for fault in shape(field, (name,)) if field is not None else ():
            yield warning(
                fault.range, fault.path, f"`{name}` {fault.message}: {consequence}", fault.code
            )
    model = found.get("model")
    if model is not None and model.text is not None and not _is_model(model.text):
        message = f"{quoted(model.text)} is not an alias of Claude Code, and is sent to the API as it stands"
        yield warning(model.range, ("model",), message)


def _is_model(name: str) -> bool:
    base = name.lower().removesuffix("[1m]")
    if name.startswith("*"):
        return True  # It is reported already.
    return (
        base in CLAUDE_MODELS
        or base.startswith(("claude", "anthropic", "us.", "eu.", "apac.", "global.", "arn:"))
        or "/" in base
    )


def _unknown(lookup: Lookup, found: Mapping[str, Field]) -> Iterator[Problem]:
    reported = {*_BLOCKING, *(_FOR_DESCRIPTION if "description" not in found else ())}
    yield from unknown_keys(
        lookup, found, lambda name: f"Claude Code does not read {name}", _MEANT, reported=reported
    )
    for part in parse_of(lookup).duplicates:
        message = f"`{part.name}` is set again below; the last one counts"
        yield warning(part.range, (part.name,), message)


_MEANT = {"allowed-tools": "tools", "allowedtools": "tools", "allowed_tools": "tools"}


# -- tools

_GONE = frozenset(["LS", "MultiEdit", "NotebookRead", "SlashCommand", "TodoRead"])
_NOT_FOR_AGENTS = frozenset(["AskUserQuestion", "ExitPlanMode", "ScheduleWakeup", "Workflow"])
_ELSEWHERE = frozenset(
    [
        "Task",
        "KillShell",
        "BashOutput",
        "TodoWrite",
        "TaskCreate",
        "TaskGet",
        "TaskList",
        "TaskUpdate",
        "TaskOutput",
        "LSP",
        "PowerShell",
        "ToolSearch",
        "ListMcpResources",
        "ReadMcpResource",
        "ListMcpResourcesTool",
        "ReadMcpResourceTool",
    ]
)
"""Tools that some sessions have, or former names that are still read."""

_KNOWN = frozenset(CLAUDE_TOOLS) | _ELSEWHERE
_ITEM = re.compile(r"(?:\([^)]*\)?|[^\s,(])+")


def _tools(field: Field, key: str) -> Iterator[Problem]:
    """Yield what tools the list does not give or take, in the words of the effect."""
    is_denial = key == "disallowedTools"
    if (
        (field.text is None and field.items is None)
        or field.text == ""
        or (field.items and all(each.members is not None for each in field.items))
    ):
        effect = (
            "no tool is taken away" if is_denial else "Claude Code gives this agent no tools at all"
        )
        message = f"`{key}` must be a list or a text with commas, not {shapes.found(field) if field.text != '' else 'empty'}: {effect}"
        yield warning(field.range, (key,), message, "wrong-type")
        return
    names = list(_listed(field))
    usable = [name for name, _ in names if _is_known(name)]
    for item in field.items or ():
        if item.text is None:
            message = f"an item of `{key}` must be a text, not {shapes.found(item)}: it is ignored"
            yield warning(item.range, (key,), message, "wrong-type")
    if names and not usable and not is_denial:
        listed = ", ".join(name for name, _ in names)
        message = (
            f"Claude Code knows none of these tools, and refuses to start this agent: {listed[:80]}"
        )
        yield warning(field.range, (key,), message, "unknown-tool")
        return
    for name, where in names:
        if not _is_known(name):
            yield warning(where, (key,), _about_tool(name, is_denial), "unknown-tool")


def _listed(field: Field) -> Iterator[tuple[str, TextRange]]:
    items = field.items if field.items is not None else (field,)
    for item in items:
        for match in _ITEM.finditer(item.text or ""):
            yield match.group(), shapes.place_in(item, *match.span())


def _is_known(name: str) -> bool:
    base = name.partition("(")[0]
    if name.count("(") != name.count(")"):
        return False
    return base in _KNOWN or name == "*" or base.startswith("mcp__")


def _about_tool(name: str, is_denial: bool) -> str:
    base = name.partition("(")[0]
    if base in _GONE:
        return f"Claude Code has no tool {quoted(base)} any more"
    if base in _NOT_FOR_AGENTS:
        return f"sub-agents of Claude Code don't have the tool {quoted(base)}"
    if name.count("(") != name.count(")"):
        return f"{quoted(name)} has no `)`, and swallows the rest of the list"
    near = nearest_of(base, tuple(sorted(_KNOWN)))
    guess = f"; did you mean {quoted(near)}?" if near else ""
    effect = ": nothing is taken away" if is_denial else ""
    return f"Claude Code has no tool {quoted(base)}{effect}{guess}"


# -- MCP servers

_STDIO = shapes.table(
    {
        "command": shapes.nonempty_text,
        "args": shapes.list_of(shapes.text),
        "env": shapes.map_of(shapes.text),
        "timeout": shapes.positive,
    },
    required=("command",),
)
_HTTP = shapes.table(
    {
        "url": shapes.text,
        "headers": shapes.map_of(shapes.text),
        "timeout": shapes.positive,
        "headersHelper": shapes.text,
    },
    required=("url",),
)
_TRANSPORTS: Mapping[str, Shape] = {
    "stdio": _STDIO,
    **dict.fromkeys(("http", "streamable-http", "sse", "ws"), _HTTP),
}


def _servers(found: Mapping[str, Field]) -> Iterator[Problem]:
    servers = found.get("mcpServers")
    if servers is None:
        return
    if servers.items is None:
        message = f"`mcpServers` must be a list of names and of tables with one server, not {shapes.found(servers)}: it is ignored"
        yield warning(servers.range, ("mcpServers",), message, "wrong-type")
        return
    for item in servers.items:
        for fault in _server(item):
            yield warning(
                fault.range,
                fault.path,
                f"`{'.'.join(fault.path)}` {fault.message}: the server is ignored",
                fault.code,
            )
            break


def _server(item: Field) -> Iterator[Fault]:
    path = ("mcpServers",)
    if item.text is not None:
        return
    if item.members is None or len(item.members) != 1:
        yield Fault(item.range, path, "must hold names, and tables with one name and its server")
        return
    ((name, config),) = item.members.items()
    transport = (config.members or {}).get("type")
    kind = transport.value if transport is not None else "stdio"
    shape = _TRANSPORTS.get(kind) if isinstance(kind, str) else None
    if shape is None and transport is not None:
        yield from shapes.words(" ".join(_TRANSPORTS))(transport, (*path, name, "type"))
        return
    if shape is not None:
        for fault in shape(config, (*path, name)):
            is_at_name = fault.code == "missing-key" and transport is not None
            yield fault._replace(range=transport.key) if is_at_name and transport else fault
