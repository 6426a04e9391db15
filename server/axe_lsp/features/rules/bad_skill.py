"""A skill that is there, and of no use as it is."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import Case, Fix, respell
from axe_lsp.features.rule import Rule, Subject, once_looked
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    facts, written = snapshot.facts_about(file), file.outside.skill
    if written is not None and facts.skill is not None and facts.skill_fault:
        message = f"skill {facts.skill.shown}: {facts.skill_fault}"
        yield RULE.finding(written.range, message, path=("skill",))


_NAME = "SKILL.md"


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the SKILL.md in the folder that was named."""
    written = case.file.outside.skill
    if written is not None and f"name the {_NAME}" in case.finding.message:
        yield respell(case, f"{written.value.rstrip('/')}/{_NAME}", certain=True)


RULE = Rule(
    code="bad-skill",
    severity=Severity.WARNING,
    summary="The skill exists but can't be used as it is.",
    is_failure=True,
    documentation="""
A skill is the text of a file, usually a SKILL.md, that is appended to the prompt. This skill is a
folder or another object that is not a file, is empty, or is not UTF-8; or its front matter (keys
between two lines `---`, which other programs read) is not closed, or has another `name` than the
skill's folder. A line `---` without a key after it is a horizontal rule of Markdown.

```toml
skill = "skills/review"    # a folder: skills/review/SKILL.md, or just review
```

The editor checks this for open files, in the background. A run refuses a skill that is not a file, and uses the others unchanged.
""",
    check=check,
    fixes=fixes,
    about=Subject.FACTS,
    is_settled=once_looked,
)
