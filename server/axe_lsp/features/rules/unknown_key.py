"""A key that neither axe nor axe-lsp knows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice, takewhile
from typing import NamedTuple

from axe_lsp.agentfile.check.check import fits
from axe_lsp.agentfile.dialects import kinds
from axe_lsp.agentfile.schema.agent_keys import AGENT
from axe_lsp.agentfile.schema.codex_names import VERSION
from axe_lsp.agentfile.schema.config_keys import CONFIG
from axe_lsp.agentfile.schema.key_spec import ANY_NAME, KeyPath, KeySpec, Schema
from axe_lsp.agentfile.text import splices
from axe_lsp.agentfile.text.nearest import KEPT, nearest_of
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.tree import Entry
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import Case, Fix, FoundKey, change, find_key, remove_key, replace
from axe_lsp.features.rule import Dialects, Rule, Subject, problems_of
from axe_lsp.features.rules.newer_key import version_of
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    # A version that is newer than the table of keys may know the key.
    is_newer = version_of(snapshot.facts_about(file).installed)[:2] > version_of(VERSION)
    for problem in problems_of(file, RULE.code):
        schema = file.schema
        meant = _meant(schema.name, problem.path, in_header=problem.in_header)
        effect = f"{schema.program} rejects the file" if problem.fatal else "it has no effect"
        message = f"{problem.message}; {effect}{meant.advice}"
        yield RULE.finding(
            problem.range,
            message,
            severity=Severity.ERROR if problem.fatal and not is_newer else RULE.severity,
            suggestion=meant.key,
            path=problem.path,
        )


def home_of(schema: Schema, path: KeyPath) -> KeyPath | None:
    """The one table where the key at `path` would be known.

    A key of the agent itself that stands in a table has slipped below a header.
    """
    name = path[-1]
    if _hint(schema, path):
        return None
    if schema.find((name,)) is not None:
        return ()
    homes = _paths_by_name(schema).get(name, ())
    if len(homes) != 1 or ANY_NAME in homes[0]:
        return None
    return homes[0][:-1]


@lru_cache(maxsize=16)
def _paths_by_name(schema: Schema) -> dict[str, list[KeyPath]]:
    """The paths of all keys, by their last names."""
    paths: dict[str, list[KeyPath]] = {}
    for each in schema.keys:
        paths.setdefault(each.path[-1], []).append(each.path)
    return paths


def _hint(schema: Schema, path: KeyPath) -> str:
    """Return where unknown keys of the table belong, "" if that depends on the key."""
    table = schema.find(path[:-1])
    return table.unknown_below if table is not None else ""


def name_of(home: KeyPath) -> str:
    """The place of a table, as text for people."""
    return f"in `[{'.'.join(home)}]`" if home else "at the top of the file, above the first table"


_SCHEMAS = {each.schema.name: each.schema for each in kinds()}


class _Meant(NamedTuple):
    """The key of the same table that was probably meant, if any, and the message."""

    key: str | None
    advice: str


class _Unknown(NamedTuple):
    """An unknown key: the part of a header if it is `in_header`."""

    path: KeyPath
    in_header: bool


@lru_cache(maxsize=KEPT)
def _meant(schema_name: str, path: KeyPath, *, in_header: bool) -> _Meant:
    """Remembered, since each keystroke asks about all unknown keys of the file, and all keys are compared."""
    schema, unknown = _SCHEMAS[schema_name], _Unknown(path, in_header)
    key = None if _is_whole_agent(schema, unknown) else _similar(schema, unknown)
    return _Meant(key, _advice(schema, unknown, key))


def _advice(schema: Schema, unknown: _Unknown, similar: str | None) -> str:
    if schema is AGENT and CONFIG.find(unknown.path) is not None:
        return ". It belongs in config.toml."
    if similar is not None:
        return f". Did you mean `{similar}`?"
    hint, home = _hint(schema, unknown.path), home_of(schema, unknown.path)
    if hint or home is not None:
        return f". {hint}" if hint else f" here. It belongs {name_of(home or ())}."
    elsewhere = _elsewhere(schema, unknown)
    if elsewhere:
        return f". Did you mean {' or '.join(f'`{each}`' for each in elsewhere)}?"
    if _is_whole_agent(schema, unknown):
        return ". The agent's own keys belong at the top of the file, without a header."
    return ""


def _is_whole_agent(schema: Schema, unknown: _Unknown) -> bool:
    """Whether a header stands above the keys of the agent itself."""
    is_agent = any(each.is_agent and each.schema is schema for each in kinds())
    is_named = len(unknown.path) == 1 and unknown.path[0].lower() in _NAMES_FOR_THE_WHOLE
    return is_agent and unknown.in_header and is_named


_NAMES_FOR_THE_WHOLE = ("agent", "axe", "config", "settings", "general", "main", "default")
_LONG = 12
"""Letters of a name from which on a slip leaves nearly all of it."""
_ALIKE = 0.75
"""The least ratio of two long names of which one stands for the other."""
_MANY = 3
"""The number of keys of other tables from which a list of them is no help any more."""

_SHORTEST = 3
"""The least letters that may be short for a key."""


def _similar(schema: Schema, unknown: _Unknown) -> str | None:
    """The key of the same table that was meant."""
    *table, name = unknown.path
    siblings = _siblings(schema, tuple(table), in_header=unknown.in_header)
    short = next(siblings.spelled_as(name), None)
    if short is not None:
        return short.path[-1]
    similar = nearest_of(name, siblings.names) if not _elsewhere(schema, unknown) else None
    return similar if similar is not None and _is_slip(name, similar) else None


def _is_slip(name: str, key: str) -> bool:
    """Whether a long name differs from the key by a few letters, and not by one of its words."""
    from difflib import SequenceMatcher

    is_long = min(len(name), len(key)) >= _LONG
    return not is_long or SequenceMatcher(None, name, key).ratio() >= _ALIKE


def _elsewhere(schema: Schema, unknown: _Unknown) -> list[str]:
    """The keys of other tables that go by this name, or begin with it."""
    *table, name = unknown.path
    keys = _own_names(schema, in_header=unknown.in_header)
    found = [each.dotted for each in keys.spelled_as(name) if each.path[:-1] != tuple(table)]
    return found if len(found) < _MANY else []


class _Spellings:
    """Keys, sorted by the letters of their names, so that few of them are compared with each unknown name."""

    def __init__(self, keys: Iterable[KeySpec], *, in_header: bool) -> None:
        """Leave out keys that can't have a header, if that is where the unknown ones stand."""
        self._keys = [each for each in keys if each.is_table or not in_header]
        self.names = tuple(each.path[-1] for each in self._keys)
        self._sorted = sorted((_letters(name), row) for row, name in enumerate(self.names))

    def spelled_as(self, name: str) -> Iterator[KeySpec]:
        """Yield the keys with another spelling of a name, `max-depth` or `maxDepth`, or for which it is short."""
        letters = _letters(name)
        behind = islice(self._sorted, bisect_left(self._sorted, (letters,)), None)
        is_short = len(letters) >= _SHORTEST
        fit = str.startswith if is_short else str.__eq__
        for row in sorted(row for _, row in takewhile(lambda each: fit(each[0], letters), behind)):
            yield self._keys[row]


@lru_cache(maxsize=1024)
def _siblings(schema: Schema, table: KeyPath, *, in_header: bool) -> _Spellings:
    """The keys of a table that have names of their own."""
    keys = (each for each in schema.keys_of(table) if each.path[-1] != ANY_NAME)
    return _Spellings(keys, in_header=in_header)


@lru_cache(maxsize=32)
def _own_names(schema: Schema, *, in_header: bool) -> _Spellings:
    """The keys of all tables that have names of their own."""
    keys = (each for each in schema.keys if ANY_NAME not in each.path)
    return _Spellings(keys, in_header=in_header)


def _letters(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def fixes(case: Case) -> Iterator[Fix]:
    """The key that was meant, the table where it belongs, or none."""
    *table, name = case.finding.path
    similar, found = case.finding.suggestion, find_key(case)
    if similar is not None and _may_be_called(case, found, (*table, similar)):
        certain = similar.lower() == name.lower() and _is_only_spelling(case, similar)
        yield replace(case, similar, certain=certain)
    elif similar is None and found is not None:
        yield from _move(case, found)
    yield from remove_key(case)


def _may_be_called(case: Case, found: FoundKey | None, path: KeyPath) -> bool:
    """Whether the key, or the table, is free to have another name, and its values are valid there."""
    if case.lookup.has(path):
        return False
    if path[-1].lower() == case.finding.path[-1].lower():
        return True  # There is no doubt about the key, so that a fault of its value is one to show.
    if found is not None and len(found.entry.key.parts) == 1:
        return fits(case.lookup, path, found.entry)
    return all(fits(case.lookup, each, entry) for each, entry in _below(case, path))


def _below(case: Case, new: KeyPath) -> Iterator[tuple[KeyPath, Entry]]:
    """Yield the entries of the tables whose headers name the unknown table, by their paths with its `new` one."""
    old = case.finding.path
    for table in case.lookup.tables_alike(old):
        if table.path[: len(old)] == old:
            for entry in table.entries:
                yield (*new, *table.path[len(old) :], *entry.key.names), entry


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
    if not fits(case.lookup, (*home, name), found.entry) or _needs_more(case, home):
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


def _needs_more(case: Case, home: KeyPath) -> bool:
    """Whether a table would be new, and is not valid with one key alone."""
    if not home or case.lookup.has(home):
        return False
    return home == ("params", "response_format") or any(
        each.required for each in case.lookup.schema.keys_of(home)
    )


def _overlap(insertion: TextRange, removal: TextRange) -> bool:
    return removal.start < insertion.start < removal.end


RULE = Rule(
    code="unknown-key",
    severity=Severity.WARNING,
    summary="A key that neither axe nor axe-lsp knows.",
    documentation="""
axe ignores unknown keys silently, so a typing mistake has the effect of a missing line. Keys are
case-sensitive: `Model` is not `model`.

```toml
sub_agent = ["lint"]    # did you mean `sub_agents`?
max_depth = 2           # belongs in [sub_agents_config]
```
""",
    is_for=Dialects.ALL,
    check=check,
    fixes=fixes,
    about=Subject.PROBLEMS,
)
