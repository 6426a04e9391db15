"""Problems of the agents of Cursor and Kiro in Markdown, of which only the documentation is known.

Nothing is an error, since nobody has recorded what the programs do with a fault. A warning is a value that is not of the
documented type, or a key that the program does not have and that would limit the agent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from axe_lsp.agentfile.check import shapes
from axe_lsp.agentfile.check.front_matter import (
    check_keys,
    cut_by_comment,
    fields,
    is_meant_as_agent,
    parse_of,
    unknown_keys,
    warning,
)
from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.check.secret_values import plain_secrets
from axe_lsp.agentfile.check.shapes import Shape
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.text.ranges import quoted

_OF_CURSOR: Mapping[str, Shape] = {
    "name": shapes.text,
    "description": shapes.text,
    "model": shapes.text,
    "readonly": shapes.boolean,
    "is_background": shapes.boolean,
}
_LIMITS = ("tools", "disallowedTools", "allowed-tools", "permissionMode", "permission")
"""Keys of other programs that limit an agent, and which Cursor does not have."""

_OF_KIRO: Mapping[str, Shape] = {
    "name": shapes.text,
    "description": shapes.text,
    "model": shapes.text,
    "allowedTools": shapes.list_of(shapes.text),
    "toolAliases": shapes.mapping,
    "toolsSettings": shapes.mapping,
    "mcpServers": shapes.mapping,
    "includeMcpJson": shapes.boolean,
    "resources": shapes.array,
    "hooks": shapes.mapping,
    "keyboardShortcut": shapes.text,
    "welcomeMessage": shapes.text,
}


def cursor_agent(lookup: Lookup) -> Iterator[Problem]:
    """Yield the problems of an agent file of Cursor by itself."""
    yield from _documented(lookup, _OF_CURSOR)
    found = fields(lookup)
    for name in _LIMITS:
        if name in found:
            message = f"Cursor has no {quoted(name)}, which limits nothing; `readonly: true` takes away all changes"
            yield warning(found[name].key, (name,), message, "unknown-key")
    yield from _misspelt(lookup, _LIMITS)


def kiro_agent(lookup: Lookup) -> Iterator[Problem]:
    """Yield the problems of an agent file of Kiro by itself."""
    yield from _documented(lookup, _OF_KIRO)
    yield from _misspelt(lookup, ())


def _documented(lookup: Lookup, documented: Mapping[str, Shape]) -> Iterator[Problem]:
    """Yield what contradicts the documentation: of the text, and of values of keys with a shape."""
    yield from plain_secrets(lookup)
    parse, program = parse_of(lookup), lookup.schema.program
    if parse.parts.matter is None:
        if is_meant_as_agent(parse.text):
            message = f"{program} sees no front matter: {parse.parts.fault}"
            yield warning(parse.first_line, (), message)
        return
    for fault in parse.tree.problems:
        yield warning(fault.range, (), f"this is not YAML: {fault.message}", "syntax")
    for each in check_keys(fields(lookup), documented):
        message = f"{program}: `{'.'.join(each.path)}` {each.message}"
        yield warning(each.range, each.path, message, each.code)
    yield from cut_by_comment(lookup)


def _misspelt(lookup: Lookup, reported: tuple[str, ...]) -> Iterator[Problem]:
    """Yield a warning for each key that resembles one of the documented keys."""
    program = lookup.schema.program
    yield from unknown_keys(
        lookup,
        fields(lookup),
        lambda name: f"the documentation of {program} has no key {name}",
        {},
        reported=reported,
        is_free=True,
    )
