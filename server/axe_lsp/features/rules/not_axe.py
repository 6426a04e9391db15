"""Features that axe itself does not support."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.schema.tools import TOOL_ALIASES, TOOLS
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
from axe_lsp.features.rule import Rule, Subject


def fixes(case: Case) -> Iterator[Fix]:
    """Offer axe's name of the tool, or to remove it."""
    found = find_value(case)
    if found is not None:
        tool = TOOL_ALIASES.get(str(found.decoded(case)))
        if tool is not None and not TOOLS[tool].is_extension:
            yield respell(case, tool, certain=True)
        else:
            yield from remove_item(case)
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
    summary="A feature that only axe-lsp supports.",
    documentation="""
This rule is for users who also run their agents with axe. It is off by default; the setting
`axe.diagnostics` or `axe-lsp check --strict-axe` switches it on. axe ignores keys and tables of
axe-lsp. It rejects a file with an unknown tool: `grep`, `find_files`, an alias of a tool, a glob.
""",
    fixes=fixes,
    about=Subject.PROBLEMS,
    is_on=False,
)
