"""What axe itself would not understand."""

from __future__ import annotations

from axe_lsp.features.rule import Rule, Severity, Subject, problems_with

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
    about=Subject.PROBLEMS,
    is_on=False,
)
