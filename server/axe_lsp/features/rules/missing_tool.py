"""A tool that the model has asked for, and that the agent does not have."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.rule import Dialects, Rule, Subject
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot

_FEWEST_RUNS, _LEAST_SHARE = 3, 0.05


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    facts = snapshot.run_log.files[file.uri]
    assert file.open is not None
    place = file.open.place(("tools",)) or file.start
    for name, runs in facts.missing:
        if runs >= _FEWEST_RUNS and runs >= _LEAST_SHARE * facts.runs:
            message = f"the model asked for {name} in {runs} of {facts.runs} runs; the agent does not have it."
            yield RULE.finding(place, message)


RULE = Rule(
    code="missing-tool",
    severity=Severity.HINT,
    summary="A tool that the model asked for and did not get.",
    documentation="""
In at least 3 runs and 5 % of them, the model called a tool that the agent does not have. Add the tool to
`tools`, or say in the prompt how to do without it. Editors show it, `axe-lsp check` does not: it depends on the
[run log](history.md#in-the-editor) of this machine.
""",
    check=check,
    about=Subject.RUNS,
    is_for=Dialects.ALL,
)
