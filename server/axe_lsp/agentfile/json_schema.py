"""Whether a table is a valid JSON Schema (2020-12, and what earlier drafts wrote otherwise).

Keywords that JSON Schema does not know are allowed, as its specification says. `pattern` is judged
by Python's regular expressions, because that is what a value will be matched with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from axe_lsp.agentfile.nested import Node
from axe_lsp.agentfile.text import TextRange, quoted

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")

_MAX_DEPTH = 100
"""Deeper schemas are not looked into."""


class SchemaFault(NamedTuple):
    """What is wrong with a schema. `found` is a word that isn't one of those that `type` knows."""

    range: TextRange
    message: str
    found: str = ""


def schema_faults(schema: Node, name: str) -> Iterator[SchemaFault]:
    """What keeps `schema`, which people call `name`, from being a JSON Schema."""
    yield from _Checker(schema).schema(schema, name, 0)


_Faults = Iterator[SchemaFault]
_Check = Callable[["_Checker", Node, str, int], _Faults]


class _Checker:
    """`where` is how people write the place of a node, such as `input.properties.path`."""

    def __init__(self, root: Node) -> None:
        self._root = root

    def schema(self, node: Node, where: str, depth: int) -> _Faults:
        if depth > _MAX_DEPTH or isinstance(node.value, bool):
            return
        if node.members is None:
            yield SchemaFault(node.range, f"{where} must be a schema: a table, true or false")
            return
        for keyword, value in node.members.items():
            check = _KEYWORDS.get(keyword, _Checker.plain)
            yield from check(self, value, f"{where}.{keyword}", depth + 1)

    def schemas(self, node: Node, where: str, depth: int) -> _Faults:
        if not node.items:
            yield SchemaFault(node.range, f"{where} must be an array of schemas, and not empty")
            return
        for index, item in enumerate(node.items):
            yield from self.schema(item, f"{where}[{index}]", depth)

    def named_schemas(self, node: Node, where: str, depth: int) -> _Faults:
        if node.members is None:
            yield SchemaFault(node.range, f"{where} must be a table of schemas")
            return
        for name, each in node.members.items():
            yield from self.schema(each, f"{where}.{name}", depth)

    def one_or_more_schemas(self, node: Node, where: str, depth: int) -> _Faults:
        check = self.schema if node.items is None else self.schemas
        yield from check(node, where, depth)

    def types(self, node: Node, where: str, _: int) -> _Faults:
        for each in [node] if node.items is None else node.items:
            if each.value not in TYPES:
                is_word = isinstance(each.value, str)
                got = f"; got {quoted(each.value)}" if is_word else ""
                message = f"{where} must be one of: {', '.join(TYPES)}{got}"
                yield SchemaFault(each.range, message, each.value if is_word else "")

    def text(self, node: Node, where: str, _: int) -> _Faults:
        if not isinstance(node.value, str):
            yield SchemaFault(node.range, f"{where} must be a string")

    def texts(self, node: Node, where: str, _: int) -> _Faults:
        if node.items is None or not all(isinstance(each.value, str) for each in node.items):
            yield SchemaFault(node.range, f"{where} must be an array of strings")
            return
        seen: set[str] = set()
        for each in node.items:
            if each.value in seen:
                yield SchemaFault(each.range, f"{where} names {quoted(each.value)} twice")
            seen.add(each.value)

    def named_texts_or_schemas(self, node: Node, where: str, depth: int) -> _Faults:
        for name, each in (node.members or {}).items():
            check = self.schema if each.items is None else self.texts
            yield from check(each, f"{where}.{name}", depth)

    def number(self, node: Node, where: str, _: int) -> _Faults:
        if not _is_number(node):
            yield SchemaFault(node.range, f"{where} must be a number")

    def positive(self, node: Node, where: str, _: int) -> _Faults:
        if not _is_number(node) or node.value <= 0:
            yield SchemaFault(node.range, f"{where} must be a number above 0")

    def count(self, node: Node, where: str, _: int) -> _Faults:
        if not _is_number(node) or node.value < 0 or node.value != int(node.value):
            yield SchemaFault(node.range, f"{where} must be a whole number from 0")

    def limit_or_flag(self, node: Node, where: str, depth: int) -> _Faults:
        if not isinstance(node.value, bool):  # A flag beside `minimum` up to draft 4.
            yield from self.number(node, where, depth)

    def flag(self, node: Node, where: str, _: int) -> _Faults:
        if not isinstance(node.value, bool):
            yield SchemaFault(node.range, f"{where} must be true or false")

    def choices(self, node: Node, where: str, depth: int) -> _Faults:
        if node.items is None:
            yield SchemaFault(node.range, f"{where} must be an array of values")
            return
        yield from self.plain(node, where, depth)

    def regular_expression(self, node: Node, where: str, depth: int) -> _Faults:
        yield from self.text(node, where, depth)
        if isinstance(node.value, str):
            try:
                re.compile(node.value)
            except (re.error, OverflowError, RecursionError) as error:
                message = f"{where} is not a regular expression: {error}"
                yield SchemaFault(node.range, message)

    def reference(self, node: Node, where: str, depth: int) -> _Faults:
        yield from self.text(node, where, depth)
        if isinstance(node.value, str) and not self._leads_somewhere(node.value):
            message = f"{where} leads nowhere: there is no {quoted(node.value)} in this schema"
            yield SchemaFault(node.range, message)

    def plain(self, node: Node, where: str, depth: int) -> _Faults:
        """Any value, as long as JSON has it."""
        if depth > _MAX_DEPTH:
            return
        if not node.is_json:
            yield SchemaFault(node.range, f"{where} has no counterpart in JSON: write a string")
        for index, item in enumerate(node.items or ()):
            yield from self.plain(item, f"{where}[{index}]", depth + 1)
        for name, member in (node.members or {}).items():
            yield from self.plain(member, f"{where}.{name}", depth + 1)

    def _leads_somewhere(self, reference: str) -> bool:
        """Pointers into the schema are followed (RFC 6901); other references are not known here."""
        if not reference.startswith("#/"):
            return True
        here: Node | None = self._root
        for token in reference[2:].split("/"):
            here = _child(here, token.replace("~1", "/").replace("~0", "~"))
        return here is not None


def _child(node: Node | None, name: str) -> Node | None:
    if node is None:
        return None
    if node.items is not None:
        return node.items[int(name)] if name.isdigit() and int(name) < len(node.items) else None
    return (node.members or {}).get(name)


def _is_number(node: Node) -> bool:
    return isinstance(node.value, int | float) and not isinstance(node.value, bool) and node.is_json


def _keywords(check: _Check, names: str) -> dict[str, _Check]:
    return dict.fromkeys(names.split(), check)


_KEYWORDS: dict[str, _Check] = {
    **_keywords(
        _Checker.schema,
        "not if then else contains propertyNames additionalProperties additionalItems "
        "unevaluatedProperties unevaluatedItems contentSchema",
    ),
    **_keywords(_Checker.schemas, "allOf anyOf oneOf prefixItems"),
    **_keywords(
        _Checker.named_schemas,
        "properties patternProperties dependentSchemas $defs definitions",
    ),
    **_keywords(_Checker.one_or_more_schemas, "items"),
    **_keywords(_Checker.named_texts_or_schemas, "dependencies dependentRequired"),
    **_keywords(_Checker.types, "type"),
    **_keywords(_Checker.choices, "enum"),
    **_keywords(
        _Checker.text,
        "title description format $id $schema $comment $anchor contentEncoding contentMediaType",
    ),
    **_keywords(_Checker.texts, "required"),
    **_keywords(_Checker.number, "minimum maximum"),
    **_keywords(_Checker.limit_or_flag, "exclusiveMinimum exclusiveMaximum"),
    **_keywords(_Checker.positive, "multipleOf"),
    **_keywords(
        _Checker.count,
        "minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains",
    ),
    **_keywords(_Checker.flag, "uniqueItems deprecated readOnly writeOnly"),
    **_keywords(_Checker.regular_expression, "pattern"),
    **_keywords(_Checker.reference, "$ref"),
}
