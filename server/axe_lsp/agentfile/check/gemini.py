"""Problems of the agents and commands of gemini-cli. Facts are those of gemini-cli 0.61.0, recorded without network.

An error is a fault for which the file is skipped, with a message at each start.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from axe_lsp.agentfile.check import shapes
from axe_lsp.agentfile.check.front_matter import (
    check_keys,
    cut_by_comment,
    error,
    fields,
    missing,
    parse_of,
    warning,
    without_front_matter,
)
from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.check.secret_values import plain_secrets
from axe_lsp.agentfile.check.shapes import Fault, Field, Shape
from axe_lsp.agentfile.schema.key_spec import KeyPath
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.markdown_keys import GEMINI_TOOLS
from axe_lsp.agentfile.text.nearest import nearest_of
from axe_lsp.agentfile.text.ranges import TextRange, quoted
from axe_lsp.agentfile.text.tree import ValueKind

_SKIPPED = "Gemini CLI skips this file"

_TRACKER = re.compile(r"tracker_\w+")
_SERVER_TOOL = re.compile(r"\*|mcp_\*|mcp_[A-Za-z0-9-]+(?:_[\w.-]+|_\*)|discovered_tool_.+")
_OLD_TOOLS = ("search_file_content",)
_CLAUDES = {
    "Read": "read_file",
    "Write": "write_file",
    "Edit": "replace",
    "Grep": "grep_search",
    "Glob": "glob",
    "Bash": "run_shell_command",
    "WebFetch": "web_fetch",
    "WebSearch": "google_web_search",
    "LS": "list_directory",
    "read": "read_file",
    "edit": "replace",
    "write": "write_file",
    "shell": "run_shell_command",
    "bash": "run_shell_command",
    "grep": "grep_search",
    "search": "grep_search",
    "ls": "list_directory",
}


def _tool(field: Field, path: KeyPath) -> Iterator[Fault]:
    name = field.text
    if name is None:
        yield from shapes.text(field, path)
    elif (
        name not in GEMINI_TOOLS
        and name not in _OLD_TOOLS
        and not _SERVER_TOOL.fullmatch(name)
        and not _TRACKER.fullmatch(name)
    ):
        near = _CLAUDES.get(name) or nearest_of(name, GEMINI_TOOLS)
        guess = f"; did you mean {quoted(near)}?" if near else ""
        yield Fault(
            field.range, path, f"names no tool of Gemini CLI: {quoted(name)}{guess}", "unknown-tool"
        )


def _card(field: Field, path: KeyPath) -> Iterator[Fault]:
    yield from shapes.text(field, path)
    try:
        json.loads(field.text or "{}")
    except ValueError:
        yield Fault(field.range, path, "must be valid JSON", "out-of-range")


_TEXTS = shapes.map_of(shapes.text)
_SERVER = shapes.table(
    {
        "command": shapes.text,
        "args": shapes.list_of(shapes.text),
        "env": _TEXTS,
        "cwd": shapes.text,
        "url": shapes.text,
        "http_url": shapes.text,
        "headers": _TEXTS,
        "tcp": shapes.text,
        "type": shapes.words("sse http"),
        "timeout": shapes.number,
        "trust": shapes.boolean,
        "description": shapes.text,
        "include_tools": shapes.list_of(shapes.text),
        "exclude_tools": shapes.list_of(shapes.text),
    }
)

_SHAPES: Mapping[str, Shape] = {
    "name": shapes.words("", pattern="[a-z0-9_-]+"),
    "description": shapes.nonempty_text,
    "kind": shapes.words("local remote"),
    "display_name": shapes.text,
    "model": shapes.text,
    "tools": shapes.list_of(_tool),
    "temperature": shapes.number,
    "max_turns": shapes.positive,
    "timeout_mins": shapes.positive,
    "mcp_servers": shapes.map_of(_SERVER),
    "agent_card_url": shapes.text,
    "agent_card_json": _card,
    "auth": shapes.table(
        {"type": shapes.words("apiKey http google-credentials oauth")}, required=("type",)
    ),
}
_REMOTE_ONLY = frozenset(["agent_card_url", "agent_card_json", "auth"])
_COMMON = frozenset(["kind", "name", "description", "display_name"])


def gemini_agent(lookup: Lookup) -> Iterator[Problem]:
    """Yield the problems of an agent file by itself."""
    yield from plain_secrets(lookup)
    parse = parse_of(lookup)
    if parse.parts.matter is None:
        yield from without_front_matter(lookup, _SKIPPED)
        return
    if parse.problems:
        return
    found = fields(lookup)
    if parse.is_list:
        yield from _listed(lookup)
        return
    has_card = bool(_REMOTE_ONLY & found.keys())
    is_remote = found["kind"].value == "remote" if "kind" in found else has_card
    for key in ("name", "description"):
        if key not in found and not (is_remote and key == "description"):
            yield missing(lookup, found, key, (key.title(),), f"`{key}` is missing: {_SKIPPED}")
    for fault in check_keys(found, _SHAPES):
        yield error(fault._replace(message=f"{_plain(fault)}: {_SKIPPED}"))
    keys = frozenset(each.path[0] for each in lookup.schema.keys)
    for name, field in found.items():
        is_read = name in keys and (name in _COMMON or (name in _REMOTE_ONLY) == is_remote)
        if not is_read:
            near = _MEANT.get(name) or nearest_of(name, keys)
            guess = f"; did you mean {quoted(near)}?" if near and name not in keys else ""
            message = f"Gemini CLI takes no key {quoted(name)} here, and skips this file{guess}"
            yield Problem("unknown-key", field.key, message, (name,), 0, meant=near or "")
    if is_remote and ("agent_card_url" in found) == ("agent_card_json" in found):
        message = f"a remote agent has either `agent_card_url` or `agent_card_json`: {_SKIPPED}"
        where = found["kind"].range if "kind" in found else parse.first_line
        yield Problem("missing-key", where, message, ("agent_card_url",), 0)
    yield from _effects(found)
    yield from cut_by_comment(lookup)


def _listed(lookup: Lookup) -> Iterator[Problem]:
    """Yield an error for each agent of a list that is not a remote one: lists have no others."""
    root = parse_of(lookup).tree.root
    for item in root.items if root is not None else ():
        keys = {each.key.names[0] for each in item.entries}
        for key in ("name", "agent_card_url"):
            if key not in keys and not (key == "agent_card_url" and "agent_card_json" in keys):
                message = f"`{key}` is missing, which an agent of a list needs: {_SKIPPED}"
                yield Problem("missing-key", item.range, message, (key,), 0)


_MEANT = {
    "mcpServers": "mcp_servers",
    "maxTurns": "max_turns",
    "displayName": "display_name",
    "timeout": "timeout_mins",
}


def _plain(fault: Fault) -> str:
    if fault.path == ("name",):
        return "must have lower-case letters, digits, `-` and `_` alone"
    return fault.message


def _effects(found: Mapping[str, Field]) -> Iterator[Problem]:
    servers = found.get("mcp_servers")
    for name, server in ((servers.members if servers is not None else None) or {}).items():
        members = server.members or {}
        path = ("mcp_servers", name)
        if not {"command", "url", "http_url", "tcp"} & members.keys():
            yield warning(
                server.key,
                path,
                f"the server {quoted(name)} has neither `command` nor `url`, and can't start",
            )
        for key, member in members.items():
            if key in _SERVER_KEYS:
                continue
            near = nearest_of(key, _SERVER_KEYS)
            guess = f"; did you mean {quoted(near)}?" if near else ""
            yield warning(
                member.key, (*path, key), f"Gemini CLI does not read {quoted(key)}{guess}"
            )
    description, model, temperature = map(found.get, ("description", "model", "temperature"))
    if description is not None and description.value and not str(description.value).strip():
        message = "the description is blank: models can't tell when to call the agent"
        yield warning(description.range, ("description",), message)
    if model is not None and model.text is not None and not _GEMINI_MODEL.match(model.text):
        yield warning(model.range, ("model",), f"{quoted(model.text)} is not a model of Gemini")
    degrees = temperature.value if temperature is not None else 0
    if temperature is not None and isinstance(degrees, (int, float)) and not 0 <= degrees <= 2:
        message = "Gemini takes temperatures from 0 to 2"
        yield warning(temperature.range, ("temperature",), message, "out-of-range")
    if "tools" in found and found["tools"].items == ():
        yield warning(found["tools"].range, ("tools",), "`[]` gives this agent no tools")


_GEMINI_MODEL = re.compile(r"inherit$|auto\b|pro$|flash|gemini|gemma", re.IGNORECASE)
_SERVER_KEYS = (
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "http_url",
    "headers",
    "tcp",
    "type",
    "timeout",
    "trust",
    "description",
    "include_tools",
    "exclude_tools",
    "auth",
)


# -- commands, in TOML

_PLACEHOLDER = re.compile(r"([@!])\{")
_FOREIGN = (
    (
        re.compile(r"\{\{ +args *\}\}|\{\{args +\}\}|(?<!\{)\{args\}(?!\})|\$ARGUMENTS|\$[1-9]\b"),
        "`{{args}}` stands for what is typed",
    ),
    (re.compile(r"!`[^`\n]+`"), "`!{command}` runs a command"),
)


def gemini_command(lookup: Lookup) -> Iterator[Problem]:
    """Yield the problems of a command by itself."""
    text = lookup.parse.text
    if text.startswith("\ufeff"):
        yield Problem(
            "syntax", TextRange(0, 1), f"a byte order mark is not read: {_SKIPPED}", (), 0
        )
    prompt, description = lookup.find(("prompt",)), lookup.find(("description",))
    if prompt is None and not lookup.has(("prompt",)) and not lookup.parse.problems:
        where = next(
            (each.entry.key.range for each in lookup.located if each.path[0].lower() == "prompt"),
            None,
        )
        message = f"`prompt` is missing: {_SKIPPED}"
        yield Problem(
            "missing-key", where or TextRange(0, min(1, len(text))), message, ("prompt",), 0
        )
    for item in (prompt, description):
        value = item.entry.value if item is not None else None
        if (
            item is not None
            and value is not None
            and value.complete
            and value.kind is not ValueKind.STRING
        ):
            message = f"`{item.path[0]}` must be a text: {_SKIPPED}"
            yield Problem("wrong-type", value.range, message, item.path, 0)
    yield from _newer_toml(lookup)
    content, value = lookup.decoded(("prompt",)), lookup.value(("prompt",))
    if isinstance(content, str) and value is not None:
        yield from _prompt(text, value.range, content)


_ESCAPES = re.compile(r"\\(x[0-9a-fA-F]{2}|e)")


def _newer_toml(lookup: Lookup) -> Iterator[Problem]:
    """Yield what TOML 1.1 has and the parser of gemini-cli has not."""
    text = lookup.parse.text
    for item in lookup.located:
        value = item.entry.value
        if value is None or value.kind is not ValueKind.STRING or text[value.range.start] != '"':
            continue
        for match in _ESCAPES.finditer(text, value.range.start, value.range.end):
            if not (match.start() - len(text[: match.start()].rstrip("\\"))) % 2:
                message = f"TOML 0.5 has no escape `{match.group()}`: {_SKIPPED}"
                yield Problem("syntax", TextRange(*match.span()), message, item.path, 0)


def _prompt(text: str, where: TextRange, content: str) -> Iterator[Problem]:
    path = ("prompt",)
    if not content.strip():
        yield warning(where, path, "the prompt is empty")
    raw = where.of(text)
    for match in _PLACEHOLDER.finditer(raw):
        if not _is_closed(raw, match.end()):
            at = TextRange(where.start + match.start(), where.start + match.end())
            message = f"`{match.group()}` has no `}}`: each call of this command fails"
            yield warning(at, path, message, "out-of-range")
    for pattern, hint in _FOREIGN:
        for match in pattern.finditer(raw):
            at = TextRange(where.start + match.start(), where.start + match.end())
            yield warning(at, path, f"Gemini CLI sends `{match.group()}` as it stands; {hint}")


def _is_closed(text: str, start: int) -> bool:
    depth = 1
    for character in text[start:]:
        depth += (character == "{") - (character == "}")
        if not depth:
            return True
    return False
