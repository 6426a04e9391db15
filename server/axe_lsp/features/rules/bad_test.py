"""A case of a test that can't be run, or that no run can pass."""

from __future__ import annotations

from axe_lsp.features.finding import Severity
from axe_lsp.features.rule import Dialects, Rule, Subject

# It has no fixes: what was meant is not known.
RULE = Rule(
    code="bad-test",
    severity=Severity.ERROR,
    summary="A case of a test that can't be run, or that no run can pass.",
    documentation="""
In a file of tests (`axe/tests/*.toml`, see `docs/testing.md`): two cases have one name or one
recording, a pattern is not a regular expression, a path leads out of the project or of the copied
workspace, a case has both `task` and `input`, or a call is both expected and forbidden. `axe-lsp
test` runs no case of such a file. A tool that does not exist and is named nearly like one is a
warning: it may be the name of an agent with `[input]`.
""",
    is_for=Dialects.OTHERS,
    about=Subject.PROBLEMS,
)
