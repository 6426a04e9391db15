"""A limit that runs of the agent often use up."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.rule import Dialects, Rule, Subject
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot

_FEWEST_RUNS, _LEAST_SHARE = 3, 0.10


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    facts = snapshot.run_log.files[file.uri]
    assert file.open is not None
    for key, runs in facts.limits.items():
        place = file.open.place(tuple(key.split(".")))
        if place is not None and runs >= _FEWEST_RUNS and runs >= _LEAST_SHARE * facts.runs:
            yield RULE.finding(place, f"used up in {runs} of {facts.runs} runs.")


RULE = Rule(
    code="budget-hit",
    severity=Severity.HINT,
    summary="A limit that runs often use up.",
    documentation="""
At least 3 runs, and 10 % of them, ended because of `timeout` or a key of `[budget]`. Editors show it,
`axe-lsp check` does not: it depends on the [run log](history.md#in-the-editor) of this machine.
""",
    check=check,
    about=Subject.RUNS,
    is_for=Dialects.ALL,
)
