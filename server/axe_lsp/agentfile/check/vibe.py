"""Problems of Mistral Vibe's agent files that the rows of their schema can't express.

Facts are those of mistral-vibe 3.0.3. A word that Vibe does not know makes it drop the file; a value of a
wrong type keeps the agent in the list, but choosing it fails. Both are fatal here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from axe_lsp.agentfile.check.codex import missing_in_tables, without_effect
from axe_lsp.agentfile.check.codex_tables import warning_at
from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.check.secret_values import plain_secrets
from axe_lsp.agentfile.schema.key_spec import KeySpec, KeyType
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.nested import Node, nested
from axe_lsp.agentfile.schema.vibe_keys import (
    FORMER_TOOLS,
    RETIRED,
    TOOL_NAMES,
    TOOL_SETTINGS,
    TOOL_SETTINGS_WITHOUT_EFFECT,
    TOOLS_WITHOUT_EFFECT,
)
from axe_lsp.agentfile.text.nearest import nearest
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.agentfile.text.tree import ValueKind
from axe_lsp.agentfile.text.values import decode

_LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_NEEDED_FOR = {"stdio": "command", "http": "url", "streamable-http": "url"}
_TRUE = frozenset({"1", "on", "t", "true", "y", "yes"})
_FALSE = frozenset({"0", "off", "f", "false", "n", "no"})
_WHOLE = re.compile(r"[+-]?\d+(\.0*)?", re.ASCII)
_KINDS = {
    KeyType.BOOLEAN: ValueKind.BOOLEAN,
    KeyType.INTEGER: ValueKind.INTEGER,
    KeyType.FLOAT: ValueKind.FLOAT,
}


def vibe_agent(lookup: Lookup) -> Iterator[Problem]:
    """Yield the problems of an agent file by itself."""
    yield from plain_secrets(lookup)
    yield from vibe_config(lookup)
    yield from without_effect(lookup)
    yield from _undescribed(lookup)


def vibe_config(lookup: Lookup) -> Iterator[Problem]:
    """Yield the problems of config.toml by itself. A fatal one keeps Vibe from starting."""
    yield from missing_in_tables(lookup)
    yield from _unreadable(lookup)
    yield from _servers(lookup)
    yield from _models(lookup)
    yield from _log_level(lookup)
    yield from _retired(lookup)
    yield from _tool_settings(lookup)
    yield from _tool_names(lookup)


def _retired(lookup: Lookup) -> Iterator[Problem]:
    """Yield a warning for each setting that Vibe does not use any more, unless it has the former default."""
    for name, default in RETIRED.items():
        where = lookup.place((name,))
        if where is not None and _value_of(nested(lookup, (name,))) != default:
            message = f"`{name}` is no longer used by Vibe"
            yield warning_at(where, (name,), message, "no-effect")


def _tool_settings(lookup: Lookup) -> Iterator[Problem]:
    """Yield a warning for each setting of one of Vibe's own tools that is unknown or not read."""
    tools = nested(lookup, ("tools",)) if lookup.has(("tools",)) else None
    for tool, settings in (tools.members or {} if tools is not None else {}).items():
        known = TOOL_SETTINGS.get(tool)
        for key, node in (settings.members or {}).items() if known is not None else ():
            path = ("tools", tool, key)
            where = lookup.place(path) or node.range
            unread = TOOL_SETTINGS_WITHOUT_EFFECT.get(tool, {})
            if key not in (known or ()):
                message = f"`tools.{tool}.{key}` is not a setting of Vibe"
                yield warning_at(where, path, message, "no-effect")
            elif tool in TOOLS_WITHOUT_EFFECT:
                message = f"`tools.{tool}.{key}` has no effect: {TOOLS_WITHOUT_EFFECT[tool]}"
                yield warning_at(where, path, message, "no-effect")
            elif key in unread and _value_of(node) != unread[key]:
                message = f"`tools.{tool}.{key}` has no effect"
                yield warning_at(where, path, message, "no-effect")


def _tool_names(lookup: Lookup) -> Iterator[Problem]:
    """Yield a warning for each listed name that is nearly, or was, that of a tool of Vibe.

    Other names may be those of tools of MCP servers, or of the user's own.
    """
    for key in ("enabled_tools", "disabled_tools"):
        node = nested(lookup, (key,)) if lookup.has((key,)) else None
        for item in (node.items if node is not None else None) or ():
            name = item.value
            if not isinstance(name, str) or name.lower() in TOOL_NAMES or not name.isidentifier():
                continue
            meant = FORMER_TOOLS.get(name) or nearest(name, TOOL_NAMES)
            if meant is not None:
                message = f"Vibe has no tool {quoted(name)}; did you mean {quoted(meant)}?"
                yield warning_at(item.range, (key,), message)


def _value_of(node: Node | None) -> object:
    """Return the value of a tree, as far as defaults of settings need it: of tables their keys."""
    if node is None or node.members is None:
        return node.value if node is not None else None
    return {name: _value_of(each) for name, each in node.members.items()}


def _unreadable(lookup: Lookup) -> Iterator[Problem]:
    """Yield a problem for each string or number that Vibe can't convert to the type of its key, or that is out of range."""
    for item in lookup.located:
        spec, value = lookup.schema.find(item.path), item.entry.value
        if spec is None or value is None or not value.complete or spec.type not in _KINDS:
            continue
        if value.kind is _KINDS[spec.type] or (
            spec.type is KeyType.FLOAT and value.kind is ValueKind.INTEGER
        ):
            continue
        if value.kind in (ValueKind.STRING, ValueKind.BOOLEAN, ValueKind.INTEGER, ValueKind.FLOAT):
            found = decode(lookup.parse.text, value)
            if not _reads_as(spec, found):
                message = (
                    f"{'.'.join(item.path)} must be {_A[spec.type]}; it is {quoted(str(found))}"
                )
                yield Problem("wrong-type", value.range, message, item.path, 0)


_A = {KeyType.BOOLEAN: "true or false", KeyType.INTEGER: "an integer", KeyType.FLOAT: "a number"}


def _reads_as(spec: KeySpec, value: object) -> bool:
    """Return whether pydantic, with which Vibe reads, takes a value for one of the key's type."""
    if spec.type is KeyType.BOOLEAN:
        return value.lower() in _TRUE | _FALSE if isinstance(value, str) else value in (0, 1)
    if isinstance(value, bool):
        return True
    if spec.type is KeyType.INTEGER and isinstance(value, str):
        return _WHOLE.fullmatch(value.strip().replace("_", "")) is not None
    if spec.type is KeyType.INTEGER:
        return isinstance(value, float) and value.is_integer()
    return isinstance(value, str) and _is_number(value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _servers(lookup: Lookup) -> Iterator[Problem]:
    node = nested(lookup, ("mcp_servers",))
    for server in (node.items if node is not None else None) or ():
        members = server.members or {}
        transport = members["transport"].value if "transport" in members else None
        key = _NEEDED_FOR.get(transport) if isinstance(transport, str) else None
        if key is not None and key not in members:
            path = ("mcp_servers", key)
            message = f"mcp_servers.{key} is missing: a server over {transport} needs it"
            yield Problem("missing-key", server.range, message, path, 0)


def _models(lookup: Lookup) -> Iterator[Problem]:
    node = nested(lookup, ("models",))
    if node is None or node.items is None:
        return
    if not node.items:
        yield Problem("out-of-range", node.range, "models must not be empty", ("models",), 0)
    for model in node.items:
        if model.members is not None and not {"name", "alias"} & model.members.keys():
            message = "models.name is missing: a model needs a `name` or an `alias`"
            yield Problem("missing-key", model.range, message, ("models", "name"), 0)


def _log_level(lookup: Lookup) -> Iterator[Problem]:
    level, value = lookup.decoded(("log_level",)), lookup.value(("log_level",))
    if isinstance(level, str) and value is not None and level.strip().upper() not in _LOG_LEVELS:
        message = f"log_level must be one of: {', '.join(_LOG_LEVELS)}"
        yield Problem("out-of-range", value.range, message, ("log_level",), 0)


def _undescribed(lookup: Lookup) -> Iterator[Problem]:
    """Yield a subagent that no agent is offered."""
    description, where = lookup.decoded(("description",)), lookup.value(("agent_type",))
    if lookup.decoded(("agent_type",)) != "subagent" or where is None:
        return
    if not isinstance(description, str) or not description.strip():
        message = "a subagent without a description is not offered to other agents"
        yield warning_at(where.range, ("agent_type",), message)
