"""What axe itself would not understand."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.schema import agent_keys
from axe_lsp.features.finding import Severity
from axe_lsp.features.fix import (
    Case,
    Fix,
    change,
    find_key,
    find_value,
    remove_item,
    remove_table,
    respell,
)
from axe_lsp.features.rule import Rule, Subject, problems_with


def fixes(case: Case) -> Iterator[Fix]:
    """axe's word for it, or nothing."""
    found = find_value(case)
    if found is not None:
        tool = agent_keys.TOOL_ALIASES.get(str(found.decoded(case)))
        if tool is not None and tool not in agent_keys.EXTENSION_TOOLS:
            yield respell(case, tool, certain=True)
        else:
            yield from remove_item(case, f"Remove {case.token} from the list")
        return
    key = find_key(case)
    if key is not None and len(key.entry.key.parts) == 1:
        title = f"Remove `{case.token}`"
        yield change(case, title, key.removal(case.text))
    else:
        yield from remove_table(case, case.finding.path)


RULE = Rule(
    code="not-axe",
    severity=Severity.HINT,
    summary="Something that only axe-lsp understands.",
    documentation="""
For those who also run their agents with axe; off until the setting `axe.diagnostics` gives it a severity, or
`axe-lsp check --strict-axe` asks for it. axe loads a file with keys and tables of axe-lsp and ignores them. It refuses a
file that names a tool which it does not know: `grep`, `find_files`, another name for a tool, a glob.
""",
    check=problems_with("not-axe", Severity.HINT),
    fixes=fixes,
    about=Subject.PROBLEMS,
    is_on=False,
)
