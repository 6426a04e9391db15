"""A key that neither axe nor axe-lsp knows."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile import schema
from axe_lsp.agentfile.schema import KeyPath
from axe_lsp.features.nearest import nearest
from axe_lsp.features.rule import Finding, Rule, Severity, problems_of
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(_: Snapshot, file: AgentFile) -> Iterator[Finding]:
    for problem in problems_of(file, RULE.code):
        key, elsewhere = _suggestion(problem.path)
        message = f"{problem.message}; it has no effect"
        if key is not None:
            message += f". Did you mean `{key}`?"
        elif elsewhere is not None:
            message += f" here. It belongs {elsewhere}."
        yield Finding(RULE.code, RULE.severity, problem.range, message, suggestion=key)


def _suggestion(path: KeyPath) -> tuple[str | None, str | None]:
    """A similar key of the same table, else the one place where this very key exists.

    A key of the agent itself that stands in a table has slipped below a header.
    """
    *table, name = path
    siblings = [each.path[-1] for each in schema.keys_of(tuple(table))]
    similar = nearest(name, (each for each in siblings if each != schema.ANY_NAME))
    if similar is not None:
        return similar, None
    if schema.find((name,)) is not None:
        return None, "at the top of the file, above the first table"
    homes = [each for each in schema.KEYS if each.path[-1] == name]
    if len(homes) != 1 or schema.ANY_NAME in homes[0].path:
        return None, None
    return None, f"in `[{'.'.join(homes[0].path[:-1])}]`"


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
