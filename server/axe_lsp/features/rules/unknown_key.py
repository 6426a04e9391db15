"""A key that neither axe nor axe-lsp knows."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.key_spec import ANY_NAME, KeyPath, KeySpec, Schema
from axe_lsp.agentfile.nearest import nearest
from axe_lsp.agentfile.problem import Problem
from axe_lsp.agentfile.schema import AGENT
from axe_lsp.features.rule import Finding, Rule, Severity, Subject, problems_of
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(_: Snapshot, file: AgentFile) -> Iterator[Finding]:
    for problem in problems_of(file, RULE.code):
        key = _similar(file.schema, problem)
        message = f"{problem.message}; it has no effect{_advice(file.schema, problem, key)}"
        yield Finding(
            RULE.code, RULE.severity, problem.range, message, suggestion=key, path=problem.path
        )


def home_of(schema: Schema, path: KeyPath) -> KeyPath | None:
    """The one table where the key at `path` would be known.

    A key of the agent itself that stands in a table has slipped below a header.
    """
    name = path[-1]
    if schema.find((name,)) is not None:
        return ()
    homes = [each for each in schema.keys if each.path[-1] == name]
    if len(homes) != 1 or ANY_NAME in homes[0].path:
        return None
    return homes[0].path[:-1]


def name_of(home: KeyPath) -> str:
    """Where a table is, for people."""
    return f"in `[{'.'.join(home)}]`" if home else "at the top of the file, above the first table"


def _advice(schema: Schema, problem: Problem, similar: str | None) -> str:
    if similar is not None:
        return f". Did you mean `{similar}`?"
    home = home_of(schema, problem.path)
    if home is not None:
        return f" here. It belongs {name_of(home)}."
    elsewhere = _elsewhere(schema, problem)
    if elsewhere:
        return f". Did you mean {' or '.join(f'`{each}`' for each in elsewhere)}?"
    is_whole = schema is AGENT and problem.in_header
    if is_whole and problem.path[0].lower() in _NAMES_FOR_THE_WHOLE:
        return ". The agent's own keys stand at the top of the file, without a header."
    return ""


_NAMES_FOR_THE_WHOLE = ("agent", "axe", "config", "settings", "general", "main", "default")
_MANY = 3
"""As many keys of other tables are no help any more."""


def _similar(schema: Schema, problem: Problem) -> str | None:
    """The key of the same table that was meant."""
    *table, name = problem.path
    siblings = [each.path[-1] for each in schema.keys_of(tuple(table)) if _fits(problem, each)]
    short = next((each for each in siblings if _stands_for(name, each)), None)
    return short or (nearest(name, siblings) if not _elsewhere(schema, problem) else None)


def _elsewhere(schema: Schema, problem: Problem) -> list[str]:
    """The keys of other tables that go by this name, or begin with it."""
    *table, name = problem.path
    found = [
        each.dotted
        for each in schema.keys
        if each.path[:-1] != tuple(table)
        and ANY_NAME not in each.path
        and _fits(problem, each)
        and _stands_for(name, each.path[-1])
    ]
    return found if len(found) < _MANY else []


def _fits(problem: Problem, key: KeySpec) -> bool:
    """Whether the key is one that can have a header, if that is where the unknown one stands."""
    return key.path[-1] != ANY_NAME and (key.is_table or not problem.in_header)


def _stands_for(name: str, key: str) -> bool:
    """Whether it is the key in another spelling, `max-depth` or `maxDepth`, or short for it."""
    written, known = (_letters(each) for each in (name, key))
    return written == known or (len(written) >= 3 and known.startswith(written))


def _letters(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


RULE = Rule(
    code="unknown-key",
    severity=Severity.WARNING,
    summary="A key that neither axe nor axe-lsp knows.",
    documentation="""
axe ignores keys that it does not know without a word, so a typing mistake goes unnoticed until the agent
behaves as if the line were not there. Keys are matched exactly: `Model` is not `model`.

```toml
sub_agent = ["lint"]    # did you mean `sub_agents`?
max_depth = 2           # belongs in [sub_agents_config]
```
""",
    check=check,
    about=Subject.PROBLEMS,
)
