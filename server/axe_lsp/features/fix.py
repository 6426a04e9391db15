"""The data of a fix, and functions that make the common ones. Each rule has its own fixes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from axe_lsp.agentfile.schema.key_spec import KeyPath
from axe_lsp.agentfile.schema.lookup import Lookup, part_at
from axe_lsp.agentfile.text import splices
from axe_lsp.agentfile.text.splices import Splice
from axe_lsp.agentfile.text.tree import Entry, Value
from axe_lsp.agentfile.text.values import decode
from axe_lsp.features.edit import Edit, Secret, TextChange, TextOf
from axe_lsp.features.finding import Finding
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


class Fix(Struct, frozen=True):
    """One way to fix the problem of a finding.

    The `preferred` one is the one that an editor applies by default. A `certain` one is
    what the author must have meant, so it may be taken unasked. A `secret` has to be put away first.
    One that `shows` a file, by its URI, puts it in front of the user.
    """

    title: str
    edit: Edit
    preferred: bool = False
    certain: bool = False
    secret: Secret | None = None
    shows: str = ""


Diagnose = Callable[[AgentFile], Sequence[Finding]]
"""All findings about a file."""


class Context(NamedTuple):
    """The context besides the file itself."""

    snapshot: Snapshot
    diagnose: Diagnose
    text_of: TextOf


class Case(NamedTuple):
    """A finding in an open file, and what its fixes need to know."""

    context: Context
    file: AgentFile
    lookup: Lookup
    finding: Finding

    @property
    def snapshot(self) -> Snapshot:
        return self.context.snapshot

    @property
    def text(self) -> str:
        return self.lookup.parse.text

    @property
    def token(self) -> str:
        """The text of the finding, as written."""
        return self.finding.range.of(self.text)


Fixer = Callable[[Case], Iterable[Fix]]
"""The fixes of one rule's findings, the likely ones first."""


# -- changes of the file itself


def change(
    case: Case,
    title: str,
    *changes: Splice,
    preferred: bool = False,
    certain: bool = False,
    guess: str = "",
) -> Fix:
    """Return a fix that splices the file. `guess` is what the author may want otherwise."""
    edit = tuple(TextChange(case.file.uri, *each, guess=guess) for each in changes)
    return Fix(title, edit, preferred, certain)


def replace(
    case: Case,
    new: str,
    *,
    title: str = "",
    preferred: bool = True,
    certain: bool = False,
    guess: str = "",
) -> Fix:
    """Return a fix that replaces the range of the finding by other text."""
    splice = Splice(case.finding.range, new)
    title = title or f"Replace by `{new}`"
    return change(case, title, splice, preferred=preferred, certain=certain, guess=guess)


def respell(case: Case, content: str, *, preferred: bool = True, certain: bool = False) -> Fix:
    """Return a fix that changes the content of the string at the finding."""
    new = splices.requoted(case.token, content)
    title = f"Replace by `{content}`"
    return replace(case, new, title=title, preferred=preferred, certain=certain)


def respell_as_suggested(case: Case) -> Iterator[Fix]:
    """Yield the word that was meant, if it is known."""
    if case.finding.suggestion is not None:
        yield respell(case, case.finding.suggestion)


def open_related(case: Case) -> Iterator[Fix]:
    """Yield a look at the other places that the finding refers to."""
    for other in case.finding.related:
        yield Fix(f"Open {unquote(urlsplit(other.uri).path)}", (), shows=other.uri)


def set_key(lookup: Lookup, path: KeyPath, value: str) -> Splice | None:
    """Return a splice that sets a key of a table, adding it if it is missing; None if it has no clear position."""
    written = lookup.value(path)
    if written is not None:
        return Splice(written.range, value)
    return splices.with_line(lookup.parse, path[:-1], f"{path[-1]} = {value}")


def remove_item(
    case: Case, title: str = "", *, preferred: bool = False, certain: bool = False
) -> Iterator[Fix]:
    """Yield the item that the finding is about taken out of its array."""
    found, title = find_value(case), title or f"Remove {case.token} from the list"
    if found is not None and found.array is not None:
        removal = splices.without_part(case.text, found.array, found.value)
        yield change(case, title, removal, preferred=preferred, certain=certain)


def remove_key(case: Case, *, preferred: bool = False) -> Iterator[Fix]:
    """Yield the file without the key or the table that the finding is about."""
    found = find_key(case)
    if found is not None:
        removal = found.removal(case.text)
        yield change(case, f"Remove `{case.token}`", removal, preferred=preferred)
    else:
        yield from remove_table(case, case.finding.path, preferred=preferred)


def remove_table(case: Case, path: KeyPath, *, preferred: bool = False) -> Iterator[Fix]:
    """Yield the file without a table, however it is written, and all that is in it."""
    edit = _without_table(case.lookup, case.file.uri, path)
    if edit:
        yield Fix(f"Remove `{'.'.join(path)}`", edit, preferred)


# An unknown table may have a thousand headers, with a finding for each of them.
@lru_cache(maxsize=1)
def _without_table(lookup: Lookup, uri: str, path: KeyPath) -> Edit:
    parse, size = lookup.parse, len(path)
    tables = (table for table in lookup.tables_alike(path) if table.path[:size] == path)
    entries = [
        splices.without_entry(parse.text, entry)
        for table, entry in lookup.entries_alike(path)
        if len(table.path) < size and (table.path + entry.key.names)[:size] == path
    ]
    removals = [*entries, *splices.without_tables(parse, tables)]
    return tuple(TextChange(uri, *each) for each in removals)


# -- finding what a finding is about


class FoundValue(NamedTuple):
    """A value, the entry that it belongs to, and the array that it is an item of, if it is one."""

    value: Value
    entry: Entry
    array: Value | None

    def decoded(self, case: Case) -> Any:
        return decode(case.text, self.value)


def find_value(case: Case) -> FoundValue | None:
    """Return the value that the finding is about."""
    where = case.finding.range
    found = entry_around(case.lookup, where.start)
    whole = found.entry.value if found is not None else None
    if found is None or whole is None:
        return None
    if whole.range == where:
        return FoundValue(whole, found.entry, None)
    index = bisect_left(whole.items, where, key=lambda item: item.range)
    if index < len(whole.items) and whole.items[index].range == where:
        return FoundValue(whole.items[index], found.entry, whole)
    return None


class FoundKey(NamedTuple):
    """An entry, and the inline table that it is in, if it is in one."""

    entry: Entry
    inline: Value | None

    def removal(self, text: str) -> Splice:
        """Return the file without the entry."""
        if self.inline is not None:
            return splices.without_part(text, self.inline, self.entry)
        return splices.without_entry(text, self.entry)


def find_key(case: Case) -> FoundKey | None:
    """Return the entry whose key the finding is about."""
    found = entry_around(case.lookup, case.finding.range.start)
    if found is not None:
        starts = [part.range.start for part in found.entry.key.parts]
        return found if case.finding.range.start in starts else None
    return None


def entry_around(lookup: Lookup, offset: int) -> FoundKey | None:
    """Return the innermost entry that holds `offset`."""
    entry = lookup.statement_at(offset)
    return _innermost(FoundKey(entry, None), offset) if entry is not None else None


def _innermost(found: FoundKey, offset: int) -> FoundKey:
    value = found.entry.value
    item = part_at(value.items, offset) if value is not None else None
    for table in (value, item):
        entry = part_at(table.entries, offset) if table is not None else None
        if entry is not None:
            return _innermost(FoundKey(entry, table), offset)
    return found
