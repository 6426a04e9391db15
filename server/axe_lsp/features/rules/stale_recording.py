"""A recording that no longer fits the agents whose requests it answers."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.rule import Dialects, Rule, Subject, once_looked
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    stale = snapshot.facts_about(file).stale
    for written in file.outside.paths:
        if reason := stale.get(written.value):
            message = f"the recording is stale: {reason}. `axe-lsp test --record --update` records it again"
            yield RULE.finding(written.range, message, path=written.key)


# It has no fixes: a recording needs real answers, and whether the change was meant is not known.
RULE = Rule(
    code="stale-recording",
    severity=Severity.WARNING,
    summary="A recording of a test that no longer fits its agents.",
    is_failure=True,
    documentation="""
An agent has changed since a case (`axe/tests/*.toml`, see `docs/testing.md`) was recorded: its model,
its `system_prompt`, the names in its `sub_agents`, or the tools of the tested agent. `axe-lsp test`
reports the case as stale and judges nothing. Undo the change, or record the case again. A rename of an
agent does not change recordings: they hold what models have answered.

The check reads agent files and recordings as they are on the disk. Changed files, skills and results
of tools are found by a run only. With `--loose`, a case with a stale recording can still pass.
""",
    check=check,
    about=Subject.FACTS,
    is_for=Dialects.OTHERS,
    is_settled=once_looked,
)
