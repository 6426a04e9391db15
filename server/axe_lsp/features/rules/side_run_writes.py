"""A side run that changes files of the folder in which its caller works."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.tools import CHANGING_TOOLS
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.features.edit import TextChange
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import Case, Fix, set_key
from axe_lsp.features.rule import Rule, Subject, once_complete
from axe_lsp.workspace.agent_file import SUB_AGENTS, TASK_TYPES, AgentFile
from axe_lsp.workspace.snapshot import Snapshot

_MODE = ("isolation", "mode")


def check(snapshot: Snapshot, file: AgentFile) -> Iterator[Finding]:
    if not file.starts_side_runs or not snapshot.is_settled(file.place):
        return
    for reference in file.references:
        called = snapshot.agent(reference.name, file)
        if reference.key not in (SUB_AGENTS, TASK_TYPES) or called is None or called.has_copy:
            continue
        tools = [name for name in CHANGING_TOOLS if name in called.offered]
        if tools:
            message = (
                f"side runs of {quoted(reference.name)} can change files while this agent works "
                f'on them ({", ".join(tools)}); with isolation.mode = "copy" they work in a copy'
            )
            yield RULE.finding(reference.range, message)


def fixes(case: Case) -> Iterator[Fix]:
    """Yield a copy of the folder for the called agent, in its file."""
    reference = next(
        (each for each in case.file.references if each.range == case.finding.range), None
    )
    called = case.snapshot.agent(reference.name, case.file) if reference is not None else None
    if called is None:
        return
    splice = set_key(Lookup(Parse(case.context.text_of(called.uri))), _MODE, '"copy"')
    if splice is not None:
        title = f"Let {called.place.stem} work in a copy"
        yield Fix(title, (TextChange(called.uri, *splice),), preferred=True)


RULE = Rule(
    code="side-run-writes",
    severity=Severity.HINT,
    summary="A side run that can change the files with which its caller works.",
    documentation="""
An agent with `background = "optional"` or `"always"` works on while its [side
runs](delegation.md#side-runs) do. If they have tools that change files, both can change the same
file at the same time. With [a copy](copies.md) each side run changes its own files, and the changes
are applied when its answer is given.

```toml
[isolation]
mode = "copy"
```
""",
    check=check,
    fixes=fixes,
    about=Subject.REFERENCES,
    is_settled=once_complete,
)
