"""A key that neither axe nor axe-lsp knows."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile import schema
from axe_lsp.agentfile.nearest import nearest
from axe_lsp.agentfile.schema import KeyPath
from axe_lsp.features.rule import Finding, Rule, Severity, problems_of
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(_: Snapshot, file: AgentFile) -> Iterator[Finding]:
    for problem in problems_of(file, RULE.code):
        key, home = _similar(problem.path), home_of(problem.path)
        message = f"{problem.message}; it has no effect"
        if key is not None:
            message += f". Did you mean `{key}`?"
        elif home is not None:
            message += f" here. It belongs {name_of(home)}."
        yield Finding(
            RULE.code, RULE.severity, problem.range, message, suggestion=key, path=problem.path
        )


def home_of(path: KeyPath) -> KeyPath | None:
    """The one table where the key at `path` would be known.

    A key of the agent itself that stands in a table has slipped below a header.
    """
    name = path[-1]
    if schema.find((name,)) is not None:
        return ()
    homes = [each for each in schema.KEYS if each.path[-1] == name]
    if len(homes) != 1 or schema.ANY_NAME in homes[0].path:
        return None
    return homes[0].path[:-1]


def name_of(home: KeyPath) -> str:
    """Where a table is, for people."""
    return f"in `[{'.'.join(home)}]`" if home else "at the top of the file, above the first table"


def _similar(path: KeyPath) -> str | None:
    *table, name = path
    siblings = [each.path[-1] for each in schema.keys_of(tuple(table))]
    return nearest(name, (each for each in siblings if each != schema.ANY_NAME))


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
)
