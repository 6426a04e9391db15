"""Whether a table is a valid JSON Schema, draft 2020-12, that stands on its own.

The one judge, of the editor and of runs: what it accepts can be used to validate values. Keywords
that JSON Schema does not know are allowed, as its specification says, but not those of earlier
drafts, which would have no effect. Patterns are judged by Python's regular expressions, because that
is what a value will be matched with. A reference that leads out is refused: nothing is ever fetched.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from axe_lsp.agentfile.schema.nested import Node
from axe_lsp.agentfile.text.nearest import KEPT, nearest_of
from axe_lsp.agentfile.text.ranges import TextRange, quoted

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")

_MAX_DEPTH = 100
"""Nobody writes deeper schemas, and what validates values could not follow them."""


class SchemaFault(NamedTuple):
    """A problem of a schema. `meant` is the likely word, if there is one."""

    range: TextRange
    message: str
    meant: str = ""


def schema_faults(schema: Node, name: str) -> Iterator[SchemaFault]:
    """Yield the problems that keep `schema`, named `name` in messages, from being a JSON Schema."""
    checker = _Checker(schema)
    yield from checker.schema(schema, name, 0)
    yield from checker.targets(name)


_Faults = Iterator[SchemaFault]
_Check = Callable[["_Checker", Node, str, int], _Faults]


class _Checker:
    """`where` is how people write the place of a node, such as `input.properties.path`."""

    def __init__(self, root: Node) -> None:
        self._root = root
        self._checked: set[int] = set()
        self._targets: list[tuple[Node, str]] = []

    def targets(self, name: str) -> _Faults:
        """Yield the targets of references are schemas, too, wherever they are."""
        while self._targets:
            target, pointer = self._targets.pop()
            if id(target) not in self._checked:
                yield from self.schema(target, name + pointer.replace("/", "."), 0)

    def schema(self, node: Node, where: str, depth: int) -> _Faults:
        self._checked.add(id(node))
        if isinstance(node.value, bool):
            return
        if depth > _MAX_DEPTH:
            yield SchemaFault(node.range, f"{where[:60]}… is nested too deeply")
            return
        if node.members is None:
            yield SchemaFault(node.range, f"{where} must be a schema: a table, true or false")
            return
        for keyword, value in node.members.items():
            check = KEYWORDS.get(keyword, _Checker.plain)
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

    def schemas_by_pattern(self, node: Node, where: str, depth: int) -> _Faults:
        for pattern in node.members or {}:
            yield from _pattern_faults(pattern, node.range, where)
        yield from self.named_schemas(node, where, depth)

    def schema_of_items(self, node: Node, where: str, depth: int) -> _Faults:
        if node.items is None:
            yield from self.schema(node, where, depth)
        else:
            message = f"{where} must be one schema; write prefixItems for one per position"
            yield SchemaFault(node.range, message)

    def types(self, node: Node, where: str, _: int) -> _Faults:
        if node.items == []:
            yield SchemaFault(node.range, f"{where} must not be empty")
        for each in [node] if node.items is None else node.items:
            if each.value not in TYPES:
                yield _no_type(each, where)

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

    def named_texts(self, node: Node, where: str, depth: int) -> _Faults:
        if node.members is None:
            yield SchemaFault(node.range, f"{where} must be a table of arrays of strings")
            return
        for name, each in node.members.items():
            yield from self.texts(each, f"{where}.{name}", depth)

    def number(self, node: Node, where: str, _: int) -> _Faults:
        if not _is_number(node):
            yield SchemaFault(node.range, f"{where} must be a number")

    def positive(self, node: Node, where: str, _: int) -> _Faults:
        if not _is_number(node) or node.value <= 0:
            yield SchemaFault(node.range, f"{where} must be a number above 0")

    def count(self, node: Node, where: str, _: int) -> _Faults:
        if not _is_number(node) or node.value < 0 or node.value != int(node.value):
            yield SchemaFault(node.range, f"{where} must be a whole number from 0")

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
            yield from _pattern_faults(node.value, node.range, where)

    def anchor(self, node: Node, where: str, _: int) -> _Faults:
        if not isinstance(node.value, str) or not _ANCHOR.fullmatch(node.value):
            yield SchemaFault(
                node.range, f"{where} must be a name: a letter, then letters and digits"
            )

    def identifier(self, node: Node, where: str, depth: int) -> _Faults:
        yield from self.text(node, where, depth)
        if node is not (self._root.members or {}).get("$id"):
            message = f"{where} is not possible: only a whole schema has an identifier here"
            yield SchemaFault(node.range, message)

        if isinstance(node.value, str) and "#" in node.value:
            yield SchemaFault(node.range, f"{where} must be an address without #")

    def of_an_earlier_draft(self, node: Node, where: str, _: int) -> _Faults:
        today = _SUCCESSORS[where.rpartition(".")[2]]
        yield SchemaFault(node.range, f"{where} is of an earlier draft; write {today}")

    def reference(self, node: Node, where: str, depth: int) -> _Faults:
        yield from self.text(node, where, depth)
        if not isinstance(node.value, str):
            return
        if not node.value.startswith("#"):
            reason = "nothing is fetched, so a reference begins with #"
            yield SchemaFault(node.range, f"{where} leads out of this schema: {reason}")
        elif not self._leads_somewhere(unquote(node.value[1:])):
            reason = f"there is no {quoted(node.value)} in this schema"
            yield SchemaFault(node.range, f"{where} leads nowhere: {reason}")

    def plain(self, node: Node, where: str, depth: int) -> _Faults:
        """Yield a fault for each value that JSON can't express."""
        if depth > _MAX_DEPTH:
            return
        if not node.is_json:
            yield SchemaFault(node.range, f"{where} has no counterpart in JSON: write a string")
        for index, item in enumerate(node.items or ()):
            yield from self.plain(item, f"{where}[{index}]", depth + 1)
        for name, member in (node.members or {}).items():
            yield from self.plain(member, f"{where}.{name}", depth + 1)

    def _leads_somewhere(self, fragment: str) -> bool:
        """Return whether a reference is valid: a pointer (RFC 6901), the name of an anchor, or nothing, which means all."""
        if not fragment:
            return True
        if not fragment.startswith("/"):
            return fragment in self._anchors
        here: Node | None = self._root
        for token in fragment[1:].split("/"):
            here = _child(here, token.replace("~1", "/").replace("~0", "~"))
        if here is None:
            return False
        self._targets.append((here, fragment))
        return True

    @cached_property
    def _anchors(self) -> frozenset[str]:
        return frozenset(_anchors_in(self._root, _MAX_DEPTH))


def _no_type(node: Node, where: str) -> SchemaFault:
    message = f"{where} must be one of: {', '.join(TYPES)}"
    if not isinstance(node.value, str):
        return SchemaFault(node.range, message)
    meant = nearest_of(node.value, TYPES)
    hint = f". Did you mean `{meant}`?" if meant else ""
    return SchemaFault(node.range, f"{message}; got {quoted(node.value)}{hint}", meant or "")


def _anchors_in(node: Node, depth: int) -> Iterator[str]:
    members = node.members or {}
    named = (members[each].value for each in _ANCHORS if each in members)
    yield from (each for each in named if isinstance(each, str))
    for each in (*(node.items or ()), *members.values()) if depth > 0 else ():
        yield from _anchors_in(each, depth - 1)


@lru_cache(maxsize=KEPT)
def expression_fault(pattern: str) -> str:
    """Return why a text is no regular expression of Python's, or "". Each keystroke asks for those of the file again."""
    try:
        with warnings.catch_warnings():
            # Of what a later Python may read otherwise. It would be on standard error.
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"not a regular expression: {error}"
    return ""


def _pattern_faults(pattern: str, range_: TextRange, where: str) -> _Faults:
    if fault := expression_fault(pattern):
        yield SchemaFault(range_, f"{where} is {fault}")


def _child(node: Node | None, name: str) -> Node | None:
    if node is None:
        return None
    if node.items is not None:
        index = int(name) if _INDEX.fullmatch(name) else len(node.items)
        return node.items[index] if index < len(node.items) else None
    return (node.members or {}).get(name)


def _is_number(node: Node) -> bool:
    return isinstance(node.value, int | float) and not isinstance(node.value, bool) and node.is_json


_INDEX = re.compile(r"[0-9]{1,9}")
_ANCHOR = re.compile(r"[A-Za-z_][-A-Za-z0-9._]*")
_ANCHORS = ("$anchor", "$dynamicAnchor")

_SUCCESSORS = {
    "dependencies": "dependentRequired or dependentSchemas",
    "additionalItems": "items, next to prefixItems",
}
"""Keywords that had an effect once, and those that have it now."""


def _keywords(check: _Check, names: str) -> dict[str, _Check]:
    return dict.fromkeys(names.split(), check)


KEYWORDS: Mapping[str, _Check] = {
    **_keywords(
        _Checker.schema,
        "not if then else contains propertyNames additionalProperties "
        "unevaluatedProperties unevaluatedItems contentSchema",
    ),
    **_keywords(_Checker.schemas, "allOf anyOf oneOf prefixItems"),
    **_keywords(_Checker.named_schemas, "properties dependentSchemas $defs definitions"),
    **_keywords(_Checker.schemas_by_pattern, "patternProperties"),
    **_keywords(_Checker.schema_of_items, "items"),
    **_keywords(_Checker.named_texts, "dependentRequired"),
    **_keywords(_Checker.of_an_earlier_draft, "dependencies additionalItems"),
    **_keywords(_Checker.types, "type"),
    **_keywords(_Checker.choices, "enum"),
    **_keywords(
        _Checker.text, "title description format $schema $comment contentEncoding contentMediaType"
    ),
    **_keywords(_Checker.identifier, "$id"),
    **_keywords(_Checker.anchor, "$anchor $dynamicAnchor"),
    **_keywords(_Checker.texts, "required"),
    **_keywords(_Checker.number, "minimum maximum exclusiveMinimum exclusiveMaximum"),
    **_keywords(_Checker.positive, "multipleOf"),
    **_keywords(
        _Checker.count,
        "minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains",
    ),
    **_keywords(_Checker.flag, "uniqueItems deprecated readOnly writeOnly"),
    **_keywords(_Checker.regular_expression, "pattern"),
    **_keywords(_Checker.reference, "$ref $dynamicRef"),
}
"""The check of each keyword's value."""
