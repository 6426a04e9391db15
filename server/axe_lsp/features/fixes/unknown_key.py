"""The key that was meant, the table where it belongs, or none."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile import splices
from axe_lsp.agentfile.text import TextRange
from axe_lsp.features.fix import Case, Fix, FoundKey, change, find_key, remove_key, replace
from axe_lsp.features.rules.unknown_key import home_of, name_of


def fixes(case: Case) -> Iterator[Fix]:
    *table, name = case.finding.path
    similar, found = case.finding.suggestion, find_key(case)
    if similar is not None and not case.lookup.has((*table, similar)):
        certain = similar.lower() == name.lower() and _is_only_spelling(case, similar)
        yield replace(case, similar, certain=certain)
    elif similar is None and found is not None:
        yield from _move(case, found)
    yield from remove_key(case)


def _is_only_spelling(case: Case, key: str) -> bool:
    """Whether no other key of the table could be meant for the same one."""
    *table, _ = case.finding.path
    inside = {
        each.path[len(table)]
        for each in case.lookup.located
        if len(each.path) > len(table) and list(each.path[: len(table)]) == table
    }
    return sum(name.lower() == key.lower() for name in inside) == 1


def _move(case: Case, found: FoundKey) -> Iterator[Fix]:
    """The entry with its comment at the end of the table where the key is known."""
    home = home_of(case.lookup.schema, case.finding.path)
    name = case.finding.path[-1]
    if home is None or case.lookup.has((*home, name)) or len(found.entry.key.parts) > 1:
        return
    removal = found.removal(case.text)
    is_line = found.inline is None
    line = (removal if is_line else found.entry).range.of(case.text).strip()
    insertion = splices.with_line(case.lookup.parse, home, line)
    if insertion is not None and not _overlap(insertion.range, removal.range):
        yield change(
            case,
            f"Move `{name}` to where it belongs: {name_of(home)}",
            insertion,
            removal,
            preferred=True,
        )


def _overlap(insertion: TextRange, removal: TextRange) -> bool:
    return removal.start < insertion.start < removal.end
