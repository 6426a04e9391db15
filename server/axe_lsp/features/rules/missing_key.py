"""A key that an agent cannot do without."""

from __future__ import annotations

from axe_lsp.features.rule import Rule, Severity, Subject, problems_with

RULE = Rule(
    code="missing-key",
    severity=Severity.ERROR,
    summary="A required key is absent or blank.",
    documentation="""
Every agent needs a `name` and a `model`; an MCP server needs `name`, `url` and `transport`; a
`response_format` of type `json_schema` needs its `schema`.

```toml
name = "reviewer"
model = "anthropic/claude-sonnet-5-5"
```
""",
    check=problems_with("missing-key", Severity.ERROR),
    about=Subject.PROBLEMS,
)
