"""A value of another TOML type than the key wants."""

from __future__ import annotations

import re
from collections.abc import Iterator

from axe_lsp.agentfile.check.check import fits
from axe_lsp.agentfile.schema.key_spec import KeySpec, KeyType
from axe_lsp.agentfile.text import splices
from axe_lsp.agentfile.text.splices import Splice
from axe_lsp.agentfile.text.tree import Table, Value, ValueKind
from axe_lsp.agentfile.text.values import decode
from axe_lsp.features.finding import Severity
from axe_lsp.features.fix import Case, Fix, FoundValue, change, find_value, replace
from axe_lsp.features.rule import Dialects, Rule, Subject

_SERVERS = ("mcp_servers",)
_SCALARS = (ValueKind.INTEGER, ValueKind.FLOAT, ValueKind.BOOLEAN, ValueKind.DATETIME)
_INTEGER = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?")


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the same value in the type that is due, where there is no doubt which one that is."""
    spec, found = case.lookup.schema.find(case.finding.path), find_value(case)
    if spec is None:
        return
    if found is None:
        yield from _header(case, spec)
        return
    if spec.type is KeyType.STRING_TABLE and _is_set_to(case, found, spec):
        return  # Nobody can tell by which name the table should hold the value.
    new = _converted(case.text, spec, found)
    if new is not None:
        title = "Put it into an array" if new.startswith("[") else ""
        yield replace(case, new, title=title, certain=True)


def _is_set_to(case: Case, found: FoundValue, spec: KeySpec) -> bool:
    """Return whether it is the key itself that has the value, and nothing in its table."""
    return case.lookup.path_of(found.entry) == spec.path


def _converted(text: str, spec: KeySpec, found: FoundValue) -> str | None:
    """Return the value in the type of the key; None if it can't be converted."""
    value, token = found.value, found.value.range.of(text)
    wanted = spec.type
    if wanted is KeyType.STRING_TABLE or (wanted is KeyType.STRINGS and found.array is not None):
        wanted = KeyType.STRING  # It is about one string of several.
    if wanted is KeyType.STRING:
        return _string(text, value)
    if wanted is KeyType.STRINGS:
        item = _string(text, value) if value.kind is not ValueKind.STRING else token
        return f"[{item}]" if item is not None else None
    if wanted is KeyType.TABLES:
        return f"[{token}]" if value.kind is ValueKind.INLINE_TABLE else None
    content = _content(text, value)
    if wanted is KeyType.BOOLEAN:
        return content.lower() if content.lower() in ("true", "false") else None
    if wanted is KeyType.INTEGER:
        return _integer(spec, content)
    return content if wanted is KeyType.FLOAT and _FLOAT.fullmatch(content) else None


def _string(text: str, value: Value) -> str | None:
    """Return the value as a string: a word or number in quotes, or the only string of an array."""
    if value.kind in _SCALARS:
        return splices.literal(value.range.of(text))
    if len(value.items) == 1 and value.items[0].kind is ValueKind.STRING:
        return value.items[0].range.of(text)
    return None


def _content(text: str, value: Value) -> str:
    """Return the content of a string, or a number as written."""
    if value.kind is ValueKind.STRING:
        content = decode(text, value)
        return content.strip() if isinstance(content, str) else ""
    return value.range.of(text) if value.kind in _SCALARS else ""


def _integer(spec: KeySpec, content: str) -> str | None:
    """Return a number that the key allows; `3.0` is 3."""
    number = re.sub(r"\.0+$", "", content)
    if _INTEGER.fullmatch(number) is None:
        return None
    is_low = spec.minimum is not None and int(number) < spec.minimum
    is_high = spec.maximum is not None and int(number) > spec.maximum
    return None if is_low or is_high else number


def _header(case: Case, spec: KeySpec) -> Iterator[Fix]:
    """Offer to turn `[table]` into `[[table]]` or back."""
    lookup, path = case.lookup, spec.path
    tables = lookup.made_once(
        "headers", path, lambda: [each for each in lookup.tables_alike(path) if each.path == path]
    )
    if len(tables) != 1 or not spec.is_table:
        return
    (table,) = tables
    if table.header is None or not table.complete:
        return
    if not _is_whole(case, spec, table):
        return
    brackets = ("[[", "]]") if spec.type is KeyType.TABLES else ("[", "]")
    new = brackets[0] + table.header.range.of(case.text) + brackets[1]
    yield change(
        case, f"Write `{new}`", Splice(table.header_range, new), preferred=True, certain=True
    )


def _is_whole(case: Case, spec: KeySpec, table: Table) -> bool:
    """Return whether the table would have no further fault with the other header."""
    lookup = case.lookup
    required = [each.path for each in lookup.schema.keys_of(spec.path) if each.required]
    if spec.path == _SERVERS and not any(
        lookup.has((*_SERVERS, key)) for key in ("url", "command")
    ):
        return False
    if not all(lookup.has(path) for path in required):
        return False
    return all(fits(lookup, each.path, each.entry) for each in table.located)


RULE = Rule(
    code="wrong-type",
    severity=Severity.ERROR,
    summary="The value's TOML type is not the key's.",
    documentation="""
axe decodes a file strictly: a string is not a number, a number is not a boolean, and a float is not
an integer. (An integer is valid for a float.)

```toml
timeout = "30"    # must be an integer
files = "*.md"    # must be an array of strings
```
""",
    is_for=Dialects.ALL,
    fixes=fixes,
    about=Subject.PROBLEMS,
)
