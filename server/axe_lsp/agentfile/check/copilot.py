"""Problems of the agents of GitHub Copilot: Copilot CLI 1.0.102 drops a file for each error; VS Code and GitHub warn.

What Copilot CLI says was recorded without network; what VS Code says was read in its validator of prompt files (2026).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from axe_lsp.agentfile.check import shapes
from axe_lsp.agentfile.check.front_matter import (
    check_keys,
    error,
    fields,
    missing,
    parse_of,
    unknown_keys,
    warning,
    without_front_matter,
)
from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.check.secret_values import plain_secrets
from axe_lsp.agentfile.check.shapes import Fault, Field, Shape
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.markdown_keys import (
    CLAUDE_TOOLS,
    COPILOT_EVENTS,
    COPILOT_READ_ELSEWHERE,
    COPILOT_TOOLS,
    EFFORTS,
)
from axe_lsp.agentfile.text.nearest import nearest_of
from axe_lsp.agentfile.text.ranges import TextRange, quoted

_LONGEST_BODY = 30_000
_DROPPED = "Copilot CLI does not load this file"


def _tools(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
    if field.text is None:
        yield from shapes.list_of(shapes.text)(field, path)


def _model(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
    if field.text is None:
        yield from shapes.list_of(shapes.text, is_empty=False)(field, path)


_TEXTS = shapes.map_of(shapes.text)
_LOCAL = shapes.table(
    {
        "command": shapes.text,
        "args": shapes.list_of(shapes.text),
        "tools": shapes.list_of(shapes.text),
        "env": _TEXTS,
    },
    required=("command", "args", "tools"),
)
_REMOTE = shapes.table(
    {"url": shapes.text, "tools": shapes.list_of(shapes.text), "headers": _TEXTS},
    required=("url", "tools"),
)


def _server(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
    transport = (field.members or {}).get("type")
    kind = transport.value if transport is not None else "local"
    if transport is not None and kind not in ("local", "stdio", "http", "sse"):
        yield from shapes.words("local stdio http sse")(transport, (*path, "type"))
        return
    yield from (_REMOTE if kind in ("http", "sse") else _LOCAL)(field, path)


def _servers(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
    if field.value is not None:
        yield from shapes.map_of(_server)(field, path)


def _hooks(field: Field, path: tuple[str, ...]) -> Iterator[Fault]:
    if field.members is None:
        yield Fault(field.range, path, f"must be a table of events, not {shapes.found(field)}")
        return
    for event, hooks in field.members.items():
        if event not in COPILOT_EVENTS:
            yield Fault(hooks.key, (*path, event), "is not an event of Copilot CLI", "out-of-range")
        else:
            yield from shapes.array(hooks, (*path, event))


_SHAPES: Mapping[str, Shape] = {
    "name": shapes.text,
    "description": shapes.text,
    "tools": _tools,
    "model": _model,
    "model-policy": shapes.words("preferred required"),
    "reasoning-effort": shapes.text,
    "skills": shapes.list_of(shapes.text),
    "github": shapes.table(
        {"toolsets": shapes.list_of(shapes.text), "permissions": shapes.mapping}
    ),
    "mcp-servers": _servers,
    "hooks": _hooks,
    **dict.fromkeys(
        (
            *("infer", "user-invocable", "disable-model-invocation", "deferred-tool-loading"),
            *("strict-tools-list", "include-custom-instructions"),
        ),
        shapes.boolean,
    ),
}

_bare = shapes.either("true or false, without quotes", shapes.boolean)
_HANDOFF = shapes.table(
    {
        "label": shapes.text,
        "agent": shapes.nonempty_text,
        "prompt": shapes.text,
        "send": _bare,
        "showContinueOn": _bare,
        "model": shapes.anything,
    },
    required=("label", "agent", "prompt"),
    rejects_unknown=True,
)
_IN_VS_CODE: Mapping[str, Shape] = {
    "name": shapes.nonempty_text,
    "argument-hint": shapes.nonempty_text,
    "model": shapes.either(
        "a text that is not empty, or a list", shapes.nonempty_text, shapes.array
    ),
    "reasoning-effort": shapes.words(EFFORTS),
    "agents": shapes.list_of(shapes.text),
    "handoffs": shapes.list_of(_HANDOFF),
    "target": shapes.words("vscode github-copilot"),
}


_PLAIN_LINE = r"[A-Za-z][\w-]*: [A-Za-z0-9](?:[^\x00-\x1f\x7f-\x9f:#]|:(?=\S)|(?<=\S)#)*"
_PLAIN = re.compile(rf"---\n((?:{_PLAIN_LINE}\n)+)---\n")
_TEXTS_IN_ALL = ("name", "description", "tools", "model")
_NO_TEXTS = frozenset(["yes", "no", "on", "off", "y", "n", "true", "false", "null"])


def is_plain(text: str) -> bool:
    """Return whether the front matter is one of short lines in which Copilot CLI certainly finds no fault.

    To parse a file of another program a second time takes as long as to read it.
    """
    match = _PLAIN.match(text)
    lines = [each.partition(": ") for each in match.group(1).splitlines()] if match else []
    values = {key: value.strip() for key, _, value in lines}
    if "description" not in values or len(values) < len(lines):
        return False
    texts = [value for key, value in values.items() if key in _TEXTS_IN_ALL]
    return all(each[0].isalpha() and each.lower() not in _NO_TEXTS for each in texts) and not (
        values.keys() & _SHAPES.keys()
    ).difference(_TEXTS_IN_ALL)


def copilot_agent(lookup: Lookup) -> Iterator[Problem]:
    """Yield the problems of an agent file by itself."""
    yield from plain_secrets(lookup)
    parse = parse_of(lookup)
    if parse.parts.matter is None:
        yield from without_front_matter(lookup, _DROPPED)
        return
    found = fields(lookup)
    if not parse.problems and "description" not in found:
        message = f"`description` is missing: {_DROPPED}"
        yield missing(lookup, found, "description", ("Description", "desc"), message)
    dropped = list(check_keys(found, _SHAPES))
    yield from (error(each._replace(message=f"{each.message}: {_DROPPED}")) for each in dropped)
    reported = {each.range for each in dropped}
    for fault in check_keys(found, _IN_VS_CODE):
        if fault.range not in reported:
            yield warning(
                fault.range,
                fault.path,
                f"VS Code: `{'.'.join(fault.path)}` {fault.message}",
                fault.code,
            )
    yield from _warnings(lookup, found)


def _warnings(lookup: Lookup, found: Mapping[str, Field]) -> Iterator[Problem]:
    yield from unknown_keys(
        lookup, found, lambda name: f"Copilot CLI ignores the unknown key {name}", _MEANT
    )
    if "infer" in found:
        message = "`infer` is deprecated: use `user-invocable` and `disable-model-invocation`"
        yield warning(found["infer"].key, ("infer",), message, "deprecated-key")
    tools = found.get("tools")
    for name, where in _listed(tools) if tools is not None else ():
        if not _may_be_tool(name):
            near = nearest_of(name, tuple(sorted((*COPILOT_TOOLS, *CLAUDE_TOOLS))))
            guess = f"; did you mean {quoted(near)}?" if near else ""
            yield warning(
                where, ("tools",), f"VS Code knows no tool {quoted(name)}{guess}", "unknown-tool"
            )
    body = parse_of(lookup).body.strip()
    if len(body) > _LONGEST_BODY:
        message = f"GitHub takes prompts of at most {_LONGEST_BODY:,} characters; this one has {len(body):,}"
        yield warning(parse_of(lookup).parts.end, (), message, "out-of-range")
    agents, listed = found.get("agents"), found.get("tools")
    if (
        agents is not None
        and agents.items
        and listed is not None
        and not any(name in ("agent", "*") for name, _ in _listed(listed))
    ):
        message = "VS Code: an agent with `agents` needs the tool `agent`"
        yield warning(agents.key, ("agents",), message)


_MEANT = {
    "mcpServers": "mcp-servers",
    "allowed-tools": "tools",
    "user-invokable": "user-invocable",
    "effort": "reasoning-effort",
}
_ALIASES = frozenset(
    [
        "shell",
        "bash",
        "powershell",
        "read",
        "view",
        "edit",
        "multiedit",
        "write",
        "notebookedit",
        "grep",
        "glob",
        "custom-agent",
        "task",
        "websearch",
        "webfetch",
        "todowrite",
        "ls",
        "vscode",
        "browser",
    ]
) | frozenset(name.lower() for name in (*CLAUDE_TOOLS, *COPILOT_TOOLS))


def _listed(field: Field) -> Iterator[tuple[str, TextRange]]:
    for item in field.items if field.items is not None else (field,):
        for name in (item.text or "").split(",") if field.items is None else (item.text or "",):
            if name.strip():
                yield name.strip(), item.range


def _may_be_tool(name: str) -> bool:
    """Return whether a name may be that of a tool: those of servers, extensions and sets can't be known."""
    return (
        name == "*"
        or "/" in name
        or name.lower() in _ALIASES
        or not re.fullmatch(r"[a-z]+", name)
        or name in COPILOT_READ_ELSEWHERE
    )
