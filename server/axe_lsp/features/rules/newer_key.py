"""A key that older versions of its program do not know."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.check.codex import NEWER
from axe_lsp.agentfile.schema.codex_names import SINCE
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.rule import Dialects, Rule, Subject, problems_of
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def version_of(text: str) -> tuple[int, ...]:
    """Return the numbers of a version: those of `0.171.0` are (0, 171, 0)."""
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    installed = version_of(snapshot.facts_about(file).installed)
    for problem in problems_of(file, NEWER):
        if installed < version_of(SINCE[".".join(problem.path)]):
            yield RULE.finding(problem.range, problem.message, path=problem.path)


RULE = Rule(
    code=NEWER,
    severity=Severity.INFORMATION,
    summary="A key that older versions of the program do not know.",
    documentation="""
Codex 0.171 knows the key, and 0.169 does not: it drops an agent file with an unknown key at the top, and ignores the key
in config.toml. Nothing is reported if the editor finds a version of Codex on the `PATH` that knows the key.
""",
    is_for=Dialects.OTHERS,
    check=check,
    about=Subject.PROBLEMS,
)
