"""Short forms of the rows of tables of keys. Paths are written with dots, and choices as words with spaces."""

from __future__ import annotations

from msgspec.structs import replace

from axe_lsp.agentfile.schema.key_spec import FIRST_AXE, KeySpec, KeyType


def row(dotted: str, type_: KeyType, doc: str, **columns: object) -> KeySpec:
    """One key."""
    return KeySpec(tuple(dotted.split(".")), type_, doc, **columns)  # type: ignore[arg-type]


def choice(dotted: str, words: str, doc: str, **columns: object) -> KeySpec:
    """A key whose value is one of some words."""
    return row(dotted, KeyType.STRING, doc, choices=tuple(words.split()), **columns)


def count(dotted: str, doc: str, minimum: int = 0, **columns: object) -> KeySpec:
    """A key whose value is a whole number that can't be negative."""
    return row(dotted, KeyType.INTEGER, doc, minimum=minimum, **columns)


def rows(type_: KeyType, docs: dict[str, str], **columns: object) -> tuple[KeySpec, ...]:
    """Keys that differ in their names and descriptions only."""
    return tuple(row(dotted, type_, doc, **columns) for dotted, doc in docs.items())


def table(
    dotted: str,
    doc: str,
    *keys: KeySpec,
    type_: KeyType = KeyType.TABLE,
    since: str = FIRST_AXE,
    **columns: object,
) -> tuple[KeySpec, ...]:
    """A table and its keys, as `below` has them."""
    header = row(dotted, type_, doc, since=since, **columns)
    return (header, *below(dotted, *keys, since=since))


def below(table: str, *keys: KeySpec, since: str = FIRST_AXE) -> tuple[KeySpec, ...]:
    """The keys of a table, whose own paths begin in it. Their `since` is that of the table, unless they have one."""
    above = tuple(table.split("."))
    return tuple(
        replace(key, path=(*above, *key.path), since=since if key.since == FIRST_AXE else key.since)
        for key in keys
    )
