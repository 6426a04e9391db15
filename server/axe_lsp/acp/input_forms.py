"""The input of an agent with `[input]`: a message that stands for it, else a form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.runtime.structured.schemas import check_of, object_schema
from axe_lsp.runtime.structured.typed_input import input_meant, object_in

_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "string": ("minLength", "maxLength", "pattern", "format", "default", "enum"),
    "number": ("minimum", "maximum", "default"),
    "integer": ("minimum", "maximum", "default"),
    "boolean": ("default",),
}
"""The keywords of a property's schema that a form of the protocol has, by type."""

_FORMATS = ("email", "uri", "date", "date-time")


class InputNeededError(Exception):
    """The message is no input. The text says what is wrong with it; `schema` is that of the input."""

    def __init__(self, complaint: str, schema: Mapping[str, Any]) -> None:
        super().__init__(complaint)
        self.schema = schema


def require_input(definition: AgentDefinition, task: str, given: Mapping[str, Any] | None) -> None:
    """Check that an agent gets the input that it needs. Blocks. Raises InputNeededError."""
    if definition.input is None:
        return
    schema = object_schema(definition.input)
    check = check_of(schema, "input")
    if given is None and input_meant(task, schema, check) is not None:
        return
    complaint = check(given if given is not None else object_in(task) or {})
    if complaint:
        raise InputNeededError(complaint, schema)


def form_of(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The form for an object; None if a member that is required has no place in a form."""
    properties = {
        name: field
        for name, each in schema.get("properties", {}).items()
        if (field := _field(each)) is not None
    }
    required = list(schema.get("required", ()))
    if not properties or not properties.keys() >= {*required}:
        return None
    return {"type": "object", "properties": properties, "required": required}


def _field(schema: Any) -> dict[str, Any] | None:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    if not isinstance(kind, str) or kind not in _MEMBERS:
        return None
    members = {name: schema[name] for name in _MEMBERS[kind] if name in schema}
    if members.get("format") not in (None, *_FORMATS):
        del members["format"]
    if not all(isinstance(each, str) for each in members.get("enum", ())):
        return None
    shown = {name: schema[name] for name in ("title", "description") if name in schema}
    return {"type": kind, **shown, **members}
