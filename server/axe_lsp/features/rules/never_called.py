"""An agent that no run has called, though others of its workspace were called."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.rule import Dialects, Rule, Subject
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot

_FEWEST_DAYS, _FEWEST_RUNS = 14, 20
"""The age of the file, and the runs of other agents of the same program."""


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    facts = snapshot.run_log.files[file.uri]
    is_old = facts.age_days >= _FEWEST_DAYS and facts.other_runs >= _FEWEST_RUNS
    if facts.runs or facts.is_started or facts.is_counting or not is_old:
        return
    if facts.offered:
        sessions = f"{facts.offered} session{'' if facts.offered == 1 else 's'}"
        message = (
            f"offered in {sessions} and never called: its description may not say when to use it."
        )
    else:
        message = (
            f"no run in {facts.days} days; other agents of this workspace had {facts.other_runs}."
        )
    yield RULE.finding(file.start, message)


RULE = Rule(
    code="never-called",
    severity=Severity.HINT,
    summary="An agent that nobody calls.",
    documentation="""
The file is at least 14 days old, other agents of the same program had at least 20 runs in this workspace, and this one
had none. Claude Code logs which agents its model could have called; then the hint says in how many sessions that was.
Agents that a person has ever run get no hint. Editors show it, `axe-lsp check` does not: it depends on the
[run log](history.md#in-the-editor) of this machine.
""",
    check=check,
    about=Subject.RUNS,
    is_for=Dialects.ALL,
)
