"""A key that neither axe nor axe-lsp knows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from axe_lsp.agentfile.dialects import kinds
from axe_lsp.agentfile.schema.agent_keys import AGENT
from axe_lsp.agentfile.schema.codex_names import VERSION
from axe_lsp.agentfile.schema.config_keys import CONFIG
from axe_lsp.agentfile.schema.key_spec import ANY_NAME, KeyPath, KeySpec, Schema
from axe_lsp.agentfile.text import splices
from axe_lsp.agentfile.text.nearest import KEPT, nearest
from axe_lsp.agentfile.text.ranges import TextRange
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
    homes = [each for each in schema.keys if each.path[-1] == name]
    if len(homes) != 1 or ANY_NAME in homes[0].path:
        return None
    return homes[0].path[:-1]


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
    key = _similar(schema, unknown)
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
    is_whole = schema is AGENT and unknown.in_header
    if is_whole and unknown.path[0].lower() in _NAMES_FOR_THE_WHOLE:
        return ". The agent's own keys belong at the top of the file, without a header."
    return ""


_NAMES_FOR_THE_WHOLE = ("agent", "axe", "config", "settings", "general", "main", "default")
_MANY = 3
"""The number of keys of other tables from which a list of them is no help any more."""


def _similar(schema: Schema, unknown: _Unknown) -> str | None:
    """The key of the same table that was meant."""
    *table, name = unknown.path
    siblings = [each.path[-1] for each in schema.keys_of(tuple(table)) if _fits(unknown, each)]
    short = next((each for each in siblings if _stands_for(name, each)), None)
    return short or (nearest(name, siblings) if not _elsewhere(schema, unknown) else None)


def _elsewhere(schema: Schema, unknown: _Unknown) -> list[str]:
    """The keys of other tables that go by this name, or begin with it."""
    *table, name = unknown.path
    found = [
        each.dotted
        for each in schema.keys
        if each.path[:-1] != tuple(table)
        and ANY_NAME not in each.path
        and _fits(unknown, each)
        and _stands_for(name, each.path[-1])
    ]
    return found if len(found) < _MANY else []


def _fits(unknown: _Unknown, key: KeySpec) -> bool:
    """Whether the key is one that can have a header, if that is where the unknown one stands."""
    return key.path[-1] != ANY_NAME and (key.is_table or not unknown.in_header)


def _stands_for(name: str, key: str) -> bool:
    """Whether it is the key in another spelling, `max-depth` or `maxDepth`, or short for it."""
    written, known = (_letters(each) for each in (name, key))
    return written == known or (len(written) >= 3 and known.startswith(written))


@lru_cache(maxsize=1024)
def _letters(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def fixes(case: Case) -> Iterator[Fix]:
    """The key that was meant, the table where it belongs, or none."""
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
