"""The keywords of a JSON Schema that people write, as rows like those of an agent file's keys; the members that one declares.

For completion and hover only: what a schema may hold is judged by json_schema.py, which knows all
keywords and forbids none.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from axe_lsp.agentfile.schema import agent_keys
from axe_lsp.agentfile.schema.json_schema import TYPES
from axe_lsp.agentfile.schema.key_spec import KeyPath, KeySpec, KeyType, row
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.nested import Node, member_of, nested, text_of

_NAMED = ("properties", "$defs")
"""Keywords that hold a schema for each name of the user's choice."""
_NESTED = ("items", "additionalProperties")
"""Keywords that hold a schema."""

_KEYWORDS = (
    row("type", KeyType.STRING, "The type of the value.", choices=TYPES),
    row("description", KeyType.STRING, "The purpose of the value. The model reads it."),
    row("properties", KeyType.TABLE, "The members of an object, each with its schema."),
    row("required", KeyType.STRINGS, "The members that must be there."),
    row(
        "additionalProperties",
        KeyType.BOOLEAN,
        "Whether an object may have other members than `properties` names.",
        default="true",
    ),
    row("items", KeyType.JSON_SCHEMA, "The schema of an array's elements."),
    row("enum", KeyType.STRINGS, "The values that are allowed."),
    row("minimum", KeyType.INTEGER, "The least number."),
    row("maximum", KeyType.INTEGER, "The greatest number."),
    row("pattern", KeyType.STRING, "A regular expression that a string must match."),
)


def keywords_of(table: KeyPath) -> tuple[KeySpec, ...]:
    """Return the keywords directly inside a table, if that is a schema."""
    if not _is_schema(table):
        return ()
    return tuple(_in_table(table, each) for each in _KEYWORDS)


def _in_table(table: KeyPath, keyword: KeySpec) -> KeySpec:
    """Return the row of a keyword in this table. Agents are called with an object and nothing else."""
    path = (*table, *keyword.path)
    choices = ("object",) if path == ("input", "type") else keyword.choices
    return replace(keyword, path=path, choices=choices)


def find_keyword(path: KeyPath) -> KeySpec | None:
    """Return the row of a keyword, if the path leads to one."""
    return next((row for row in keywords_of(path[:-1]) if row.path == path), None)


def is_member(path: KeyPath) -> bool:
    """Return whether the path ends in a name of the user's choice, which has a schema."""
    return len(path) > 1 and path[-2] in _NAMED and _is_schema(path) and not _is_schema(path[:-1])


def _is_schema(path: KeyPath) -> bool:
    for start in range(1, len(path) + 1):
        spec = agent_keys.find(path[:start])
        if spec is not None and spec.type is KeyType.JSON_SCHEMA:
            return _leads_to_schema(path[start:])
    return False


def _leads_to_schema(inside: KeyPath) -> bool:
    """Return whether this path, which begins in a schema, ends in one."""
    names_follow = False
    for part in inside:
        if names_follow:
            names_follow = False
        elif part in _NAMED:
            names_follow = True
        elif part not in _NESTED:
            return False
    return not names_follow


class Member(NamedTuple):
    """A member of an object. `type` is how the schema calls it, or "" if it doesn't."""

    name: str
    type: str
    description: str
    is_required: bool


def members_of(lookup: Lookup, path: KeyPath) -> tuple[Member, ...]:
    """Return the members in the schema at `path`, as far as it is written, in its order."""
    schema = nested(lookup, path) if lookup.has(path) else None
    properties = member_of(schema, "properties")
    if properties is None or properties.members is None:
        return ()
    required = member_of(schema, "required")
    names = {each.value for each in (required.items if required is not None else None) or ()}
    return tuple(
        Member(name, _type(each), text_of(member_of(each, "description")), name in names)
        for name, each in properties.members.items()
    )


def member_at(lookup: Lookup, path: KeyPath) -> Member | None:
    """Return the member whose schema stands at `path`: a name below `properties`."""
    *parent, keyword, name = path if len(path) > 2 else ("", "", "")
    if keyword != "properties":
        return None
    return next((each for each in members_of(lookup, tuple(parent)) if each.name == name), None)


def _type(schema: Node) -> str:
    type_ = member_of(schema, "type")
    if type_ is not None and type_.items is not None:
        return " or ".join(text_of(each) for each in type_.items)
    return text_of(type_)
