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
        yield Finding(RULE.code, RULE.severity, written.range, message, path=("skill",))


_NAME = "SKILL.md"


def fixes(case: Case) -> Iterator[Fix]:
    """The SKILL.md in the folder that was named."""
    written = case.file.outside.skill
    if written is not None and f"name the {_NAME}" in case.finding.message:
        yield respell(case, f"{written.value.rstrip('/')}/{_NAME}", certain=True)


RULE = Rule(
    code="bad-skill",
    severity=Severity.WARNING,
    summary="The skill is there, but not as it should be.",
    documentation="""
A skill is the text of a file, usually a SKILL.md, that is appended to the prompt. This one is a folder or something else that is
no file, is empty, or is not UTF-8; or it begins with front matter (keys between two lines `---`, which other programs read) that is
not closed, or that has another `name` than the folder by which the skill is found. A line `---` behind which no key follows is a rule of
Markdown.

```toml
skill = "skills/review"    # a folder: skills/review/SKILL.md, or just review
```

In the editor this is looked up for open files, in the background. Runs refuse what is no file, and take the rest as it is.
""",
    check=check,
    fixes=fixes,
    about=Subject.FACTS,
    is_settled=once_looked,
)
