"""A value of another TOML type than the key wants."""

from __future__ import annotations

from axe_lsp.features.rule import Rule, Severity, Subject, problems_with

RULE = Rule(
    code="wrong-type",
    severity=Severity.ERROR,
    summary="The value's TOML type is not the key's.",
    documentation="""
axe decodes a file strictly: a string is not a number, a number not a boolean, and a float is not an
integer. (Where a float is wanted an integer will do.)

```toml
timeout = "30"    # must be an integer
files = "*.md"    # must be an array of strings
```
""",
    check=problems_with("wrong-type", Severity.ERROR),
    about=Subject.PROBLEMS,
)
