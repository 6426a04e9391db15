"""A tool that no run of the agent has used."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.rule import Dialects, Rule, Subject
from axe_lsp.features.run_log import tool_places
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot

_FEWEST_DAYS, _FEWEST_RUNS = 7, 20
"""The age of the present version of the file, and its runs."""


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    facts = snapshot.run_log.files[file.uri]
    if facts.version_runs < _FEWEST_RUNS or facts.version_days < _FEWEST_DAYS:
        return
    assert file.open is not None
    for name, place in tool_places(file.open):
        if name in facts.unused:
            yield RULE.finding(place, f"not used in {facts.version_runs} runs.", unnecessary=True)


RULE = Rule(
    code="unused-tool",
    severity=Severity.HINT,
    summary="A tool that no run has used.",
    documentation="""
The present version of the file is at least 7 days old and had at least 20 runs, and none of them called the tool, which
the file names without a glob. A tool that is not offered costs no tokens. Runs of Codex whose log hides the names of
tools do not count. Editors show it, `axe-lsp check` does not: it depends on the
[run log](history.md#in-the-editor) of this machine.
""",
    check=check,
    about=Subject.RUNS,
    is_for=Dialects.ALL,
)
