"""The file is not TOML."""

from __future__ import annotations

from axe_lsp.features.rule import Rule, Severity, Subject, problems_with

RULE = Rule(
    code="syntax",
    severity=Severity.ERROR,
    summary="The file is not TOML.",
    documentation="""
The text is not TOML 1.1, so nobody can run the agent. The message says what the parser expected, at the
place where it stopped understanding. A statement that is broken reports one problem; the statements
below it are checked as if it were not there.

```toml
sub_agents = ["lint", "test"
[params]          # the array above is not closed
```
""",
    check=problems_with("syntax", Severity.ERROR),
    about=Subject.PROBLEMS,
)
