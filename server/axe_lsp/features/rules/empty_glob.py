"""A pattern in `files` that matches nothing."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import remove_item
from axe_lsp.features.rule import Rule, Subject, once_looked
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    facts = snapshot.facts_about(file)
    folder = facts.folder
    if folder is None or not folder.exists or not facts.is_certain:
        return  # Nothing can match, or elsewhere something may.
    for glob in file.outside.globs:
        matches = facts.matches.get(glob.value)
        if matches is not None and not matches.count and matches.is_complete:
            message = f"{quoted(glob.value)} matches no text file in {folder.shown}"
            yield RULE.finding(glob.range, message, path=("files",))


RULE = Rule(
    code="empty-glob",
    severity=Severity.INFORMATION,
    summary="A glob in `files` matches nothing.",
    documentation="""
The agent runs without these files in its prompt. Globs start at the working directory: `workdir`,
else the folder in which the run is started; in the editor this is the workspace folder. Binary
files, and links that lead outside the folder, are left out. `*` does not cross folders, `**` does;
globs are case-sensitive.

```toml
files = ["docs/*.md"]      # docs/guides/start.md is only matched by docs/**/*.md
```

The editor checks this for open files, in the background. Agents in the user's own folder are not
checked, since they may run in any folder.
""",
    check=check,
    fixes=remove_item,
    about=Subject.FACTS,
    is_settled=once_looked,
)
