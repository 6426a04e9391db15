"""A key that neither axe nor axe-lsp knows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from axe_lsp.agentfile.check.check import fits
from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.check.similar_keys import keys_elsewhere, similar_key
from axe_lsp.agentfile.dialects import kinds
from axe_lsp.agentfile.schema.agent_keys import AGENT
from axe_lsp.agentfile.schema.codex_names import VERSION
from axe_lsp.agentfile.schema.config_keys import CONFIG
from axe_lsp.agentfile.schema.key_spec import ANY_NAME, KeyPath, Schema
from axe_lsp.agentfile.text import splices
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import Case, Fix, FoundKey, change, find_key, remove_key, replace
from axe_lsp.features.rule import Dialects, Rule, Subject, problems_of
from axe_lsp.features.rules.newer_key import version_of
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    if file.place.kind.syntax is not None:
        yield from RULE.repeated(file)
        return
    # A version that is newer than the table of keys may know the key.
    is_newer = version_of(snapshot.facts_about(file).installed)[:2] > version_of(VERSION)
    for problem in problems_of(file, RULE.code):
        schema = file.schema
        effect = f"{schema.program} rejects the file" if problem.fatal else "it has no effect"
        message = f"{problem.message}; {effect}{_advice(schema, problem)}"
        is_whole = _is_whole_agent(schema, problem)
        yield RULE.finding(
            problem.range,
            message,
            severity=Severity.ERROR if problem.fatal and not is_newer else RULE.severity,
            suggestion=None if is_whole or problem.obstacle else problem.similar or None,
            path=problem.path,
        )


def home_of(schema: Schema, path: KeyPath) -> KeyPath | None:
    """Return the one table where the key at `path` would be known.

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
    """Return the paths of all keys, by their last names."""
    paths: dict[str, list[KeyPath]] = {}
    for each in schema.keys:
        paths.setdefault(each.path[-1], []).append(each.path)
    return paths


def _hint(schema: Schema, path: KeyPath) -> str:
    """Return where unknown keys of the table belong, "" if that depends on the key."""
    table = schema.find(path[:-1])
    return table.unknown_below if table is not None else ""


def name_of(home: KeyPath) -> str:
    """Return the place of a table, as text for people."""
    return f"in `[{'.'.join(home)}]`" if home else "at the top of the file, above the first table"


def _advice(schema: Schema, problem: Problem) -> str:
    if schema is AGENT and CONFIG.find(problem.path) is not None:
        return ". It belongs in config.toml."
    if _is_whole_agent(schema, problem):
        return ". The agent's own keys belong at the top of the file, without a header."
    if problem.obstacle:
        return f". `{problem.similar}` is similar, but {problem.obstacle}."
    if problem.similar:
        return f". Did you mean `{problem.similar}`?"
    return _advice_elsewhere(schema, problem)


def _advice_elsewhere(schema: Schema, problem: Problem) -> str:
    hint, home = _hint(schema, problem.path), home_of(schema, problem.path)
    if hint or home is not None:
        return f". {hint}" if hint else f" here. It belongs {name_of(home or ())}."
    elsewhere = keys_elsewhere(schema, problem.path, in_header=problem.in_header)
    if elsewhere:
        return f". Did you mean {' or '.join(f'`{each}`' for each in elsewhere)}?"
    return ""


def _is_whole_agent(schema: Schema, problem: Problem) -> bool:
    """Return whether a header stands above the keys of the agent itself."""
    if not problem.in_header or len(problem.path) > 1:
        return False
    is_agent = any(each.is_agent and each.schema is schema for each in kinds())
    return is_agent and problem.path[0].lower() in _NAMES_FOR_THE_WHOLE


_NAMES_FOR_THE_WHOLE = ("agent", "axe", "config", "settings", "general", "main", "default")


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the key that was meant, the table where it belongs, or none."""
    path, similar, found = case.finding.path, case.finding.suggestion, find_key(case)
    if similar is not None:
        certain = similar.lower() == path[-1].lower() and _is_only_spelling(case, similar)
        yield replace(case, similar, certain=certain)
    elif found is not None and similar_key(case.lookup.schema, path) is None:
        yield from _move(case, found)
    yield from remove_key(case)


def _is_only_spelling(case: Case, key: str) -> bool:
    """Return whether no other key of the table could be meant for the same one."""
    *table, _ = case.finding.path
    inside = {
        each.path[len(table)]
        for each in case.lookup.located
        if len(each.path) > len(table) and list(each.path[: len(table)]) == table
    }
    return sum(name.lower() == key.lower() for name in inside) == 1


def _move(case: Case, found: FoundKey) -> Iterator[Fix]:
    """Yield the entry with its comment at the end of the table where the key is known."""
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
    """Return whether a table would be new, and is not valid with one key alone."""
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
    is_failure=True,
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
