"""Pictures in `files` for a model that takes none."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.schema.models import takes_pictures
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import Case, Fix, remove_item
from axe_lsp.features.rule import Rule, Subject, once_looked
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    facts = snapshot.facts_about(file)
    for glob in file.outside.globs:
        matches = facts.matches.get(glob.value)
        if matches is None or not matches.picture or takes_pictures(facts.question.model):
            continue
        matched = "is a picture" if glob.value == matches.picture else f"matches {matches.picture}"
        message = f"{quoted(glob.value)} {matched}, and the model reads text only"
        yield RULE.finding(glob.range, message, path=("files",))


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the list without the picture; a pattern may match other files as well, so it stays."""
    if not any(each in case.token for each in "*?["):
        yield from remove_item(case)


RULE = Rule(
    code="unread-picture",
    severity=Severity.WARNING,
    summary="A picture in `files` for a model that reads only text.",
    is_failure=True,
    documentation="""
Pictures (PNG, JPEG, GIF, WebP) that `files` matches are sent with the first message. A model that
reads only text gets a sentence in their place, and a run warns about it. The rule recognises some
of these models by their names, such as `gpt-oss`, `deepseek-r1` and `o3-mini`; for other models, a
run learns it from the provider's refusal.

```toml
model = "ollama/gpt-oss:20b"
files = ["docs/*"]         # docs/overview.png is left out
```
""",
    check=check,
    fixes=fixes,
    about=Subject.FACTS,
    is_settled=once_looked,
)
