"""A setting of which its program warns when it starts."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.check.codex_tables import STARTUP_WARNING
from axe_lsp.agentfile.dialects import HOOKS, INSTRUCTIONS
from axe_lsp.agentfile.schema.nested import member_of
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import Case, Fix, remove_key
from axe_lsp.features.rule import Dialects, Rule, once_looked, problems_of
from axe_lsp.workspace.agent_file import HOOKS_FILE, HOOKS_KEY, AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    for problem in problems_of(file, STARTUP_WARNING):
        yield RULE.finding(problem.range, problem.message, path=problem.path)
    fault = snapshot.facts_about(file).contents.get((HOOKS, HOOKS_FILE))
    hooks = file.settings.members.get("hooks") if file.settings and file.settings.members else None
    if fault and hooks is not None:
        message = f"{HOOKS_FILE} next to this file {fault}; keep the hooks in one of them"
        yield RULE.finding(hooks.range, message, path=HOOKS_KEY)
    yield from _instructions(snapshot, file)


def _instructions(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    """Yield the file with instructions of which Codex reads the beginning only."""
    sizes = snapshot.facts_about(file).contents.items()
    written = ((path, int(size)) for (kind, path), size in sizes if kind == INSTRUCTIONS and size)
    path, size = next(written, ("", 0))
    own = member_of(file.settings, _BUDGET[0])
    limits = [
        node.value
        for each in (*snapshot.settings_below(file.place), file)
        if (node := member_of(each.settings, _BUDGET[0])) is not None
    ]
    limit = next((each for each in reversed(limits) if isinstance(each, int)), _USUAL_BUDGET)
    if size > limit > 0:
        message = (
            f"{path.removeprefix('../')} has {size:,} bytes, of which Codex reads the first {limit:,}; shorten it, "
            f"or raise `{_BUDGET[0]}`"
        )
        where = own.range if own is not None else TextRange(0, 0)
        yield RULE.finding(where, message, path=_BUDGET)


_BUDGET = ("project_doc_max_bytes",)
_USUAL_BUDGET = 32_768


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the file without the setting, unless other settings need it."""
    path = case.finding.path
    if path[:1] != ("permissions",) and path[-1:] != ("command",) and path != _BUDGET:
        yield from remove_key(case)


RULE = Rule(
    code=STARTUP_WARNING,
    severity=Severity.WARNING,
    summary="A setting of which Codex warns when it starts.",
    documentation="""
Codex starts with such a setting and shows a warning: a feature that is under development, a model without metadata, an
unknown service tier, a path of `[permissions]` that it does not know, a hook that it skips, hooks in both config.toml
and hooks.json, an AGENTS.md of more than `project_doc_max_bytes` bytes. `suppress_unstable_features_warning = true` hides the warning about features.

```toml
[features]
artifact = true    # under development
```
""",
    is_for=Dialects.OTHERS,
    check=check,
    fixes=fixes,
    is_settled=once_looked,
)
