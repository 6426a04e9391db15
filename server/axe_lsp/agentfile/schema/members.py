"""The members of an object, by the schema that an agent file declares for it."""

from __future__ import annotations

from typing import NamedTuple

from axe_lsp.agentfile.schema.key_spec import KeyPath
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.nested import Node, member_of, nested, text_of


class Member(NamedTuple):
    """A member of an object. `type` is how the schema calls it, or "" if it doesn't."""

    name: str
    type: str
    description: str
    is_required: bool


def members_of(lookup: Lookup, path: KeyPath) -> tuple[Member, ...]:
    """The members in the schema at `path`, as far as it is written, in its order."""
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
    """The member whose schema stands at `path`: a name below `properties`."""
    *parent, keyword, name = path if len(path) > 2 else ("", "", "")
    if keyword != "properties":
        return None
    return next((each for each in members_of(lookup, tuple(parent)) if each.name == name), None)


def _type(schema: Node) -> str:
    type_ = member_of(schema, "type")
    if type_ is not None and type_.items is not None:
        return " or ".join(text_of(each) for each in type_.items)
    return text_of(type_)
