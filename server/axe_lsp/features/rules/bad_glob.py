"""A pattern in `files` that nothing can be matched with."""

from __future__ import annotations

from axe_lsp.features.finding import Severity
from axe_lsp.features.fix import remove_item
from axe_lsp.features.rule import Rule, Subject

RULE = Rule(
    code="bad-glob",
    severity=Severity.ERROR,
    summary="A glob in `files` is malformed.",
    documentation="""
A run of the agent ends with this error before anything is sent. In a glob `*` and `?` match
characters of one name, `[a-z]` matches one of several, `**` matches any number of folders; a
backslash escapes the next character.

```toml
files = ["src/[a-z.py"]    # the bracket is not closed
```
""",
    fixes=remove_item,
    about=Subject.PROBLEMS,
)
