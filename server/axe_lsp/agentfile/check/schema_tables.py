"""The tables of an agent file that hold a JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.check.problem import Problem, problem
from axe_lsp.agentfile.schema import agent_keys
from axe_lsp.agentfile.schema.json_schema import SchemaFault, schema_faults
from axe_lsp.agentfile.schema.key_spec import KeyPath, KeySpec, KeyType
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.nested import Node, nested

INPUT: KeyPath = ("input",)
OUTPUT: KeyPath = ("output",)

_TABLES = [spec for spec in agent_keys.KEYS if spec.type is KeyType.JSON_SCHEMA]


def schema_tables(lookup: Lookup) -> Iterator[Problem]:
    """The problems of their schemas."""
    for spec in _TABLES:
        if not lookup.has(spec.path):
            continue
        table = nested(lookup, spec.path)
        if table is None or table.members is None:
            continue  # Unfinished, or of the wrong type.
        for where, message, meant in _faults(table, spec):
            # axe hands the schema of an answer on as it is, and leaves it to the provider.
            is_fatal = spec.is_extension
            yield problem("bad-schema", spec, where, message, fatal=is_fatal, meant=meant)


def _faults(table: Node, spec: KeySpec) -> Iterator[SchemaFault]:
    faults = schema_faults(table, spec.dotted)
    type_ = (table.members or {}).get("type") if spec.path == INPUT else None
    if type_ is None or _is_object(type_):
        yield from faults
        return
    message = 'input.type must be "object": agents are called with one'
    yield SchemaFault(type_.range, message, meant="object")
    start, end = type_.range
    yield from (each for each in faults if not start <= each.range.start < end)


def _is_object(type_: Node) -> bool:
    """An agent is called with an object, whatever it may answer."""
    types = [type_] if type_.items is None else type_.items
    return any(each.value == "object" for each in types)
