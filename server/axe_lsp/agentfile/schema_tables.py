"""The tables of an agent file that hold a JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile import schema
from axe_lsp.agentfile.json_schema import TYPES, SchemaFault, schema_faults
from axe_lsp.agentfile.key_spec import KeyPath, KeyType
from axe_lsp.agentfile.lookup import Lookup
from axe_lsp.agentfile.nested import Node, nested
from axe_lsp.agentfile.problem import Problem, problem

INPUT: KeyPath = ("input",)
OUTPUT: KeyPath = ("output",)

_TABLES = [spec for spec in schema.KEYS if spec.type is KeyType.JSON_SCHEMA]
_NO_OBJECTS = tuple(each for each in TYPES if each != "object")


def schema_tables(lookup: Lookup) -> Iterator[Problem]:
    """What is wrong with their schemas."""
    for spec in _TABLES:
        if not lookup.has(spec.path):
            continue
        table = nested(lookup, spec.path)
        if table is None or table.members is None:
            continue  # Unfinished, or of the wrong type.
        shape = _shape(table) if spec.path == INPUT else ()
        for where, message, found in (*shape, *schema_faults(table, spec.dotted)):
            # axe hands the schema of an answer on as it is, and leaves it to the provider.
            is_fatal = spec.is_extension
            yield problem("bad-schema", spec, where, message, fatal=is_fatal, found=found)


def _shape(table: Node) -> Iterator[SchemaFault]:
    """An agent is called with an object, whatever it may answer."""
    type_ = (table.members or {}).get("type")
    if type_ is not None and type_.value in _NO_OBJECTS:
        yield SchemaFault(type_.range, 'input.type must be "object": agents are called with one')
