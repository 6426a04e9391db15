"""The user message of an agent with `[input]`: an object that fits its schema, as compact JSON.

A given object must fit. Plain text that the user wrote for the agent is read as an object if
possible, and else stays text.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.messages import Json
from axe_lsp.runtime.providers.wire import WireError, parse_json
from axe_lsp.runtime.runs import Order
from axe_lsp.runtime.structured.schemas import (
    Check,
    Schema,
    canonical_json,
    check_of,
    object_schema,
)


def with_input(order: Order, definition: AgentDefinition) -> Order:
    """Return the order with what its input makes the message. Raises ConfigError if the input can't be."""
    if definition.input is None:
        if order.input is not None:
            agent = quoted(order.ids.agent)
            raise ConfigError(f"agent {agent} takes no input object: its file has no [input]")
        return order
    schema = object_schema(definition.input)
    check = check_of(schema, "input")
    if order.input is not None:
        if complaint := check(order.input):
            raise ConfigError(f"invalid input for agent {quoted(order.ids.agent)}: {complaint}")
        return replace(order, message=canonical_json(order.input))
    meant = input_meant(order.task, schema, check) if order.reads_task else None
    if meant is None:
        return order
    context = f"\n\nContext:\n{order.context}" if order.context.strip() else ""
    return replace(order, input=meant, message=canonical_json(meant) + context)


def input_meant(task: str, schema: Schema, check: Check) -> Mapping[str, Json] | None:
    """Return the input that a text stands for: it is its JSON, or the one string that is required."""
    if not task.strip():
        return None
    candidates = [object_in(task)]
    properties = schema.get("properties", {})
    strings = [name for name in schema.get("required", ()) if _is_string(properties.get(name))]
    if len(strings) == 1:
        candidates.append({strings[0]: task})
    return next((each for each in candidates if each is not None and not check(each)), None)


def object_in(text: str) -> Mapping[str, Json] | None:
    """Return the JSON object that a text is."""
    try:
        value = parse_json(text)
    except WireError:
        return None
    return value if isinstance(value, dict) else None


def _is_string(schema: Json) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "string"
