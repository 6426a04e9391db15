"""A table that should be a JSON Schema and is none."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.features.finding import Finding, Severity
from axe_lsp.features.fix import Case, Fix, replace
from axe_lsp.features.rule import Dialects, Rule, Subject, problems_of
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def check(_: Snapshot, file: AgentFile) -> Iterator[Finding]:
    for problem in problems_of(file, RULE.code):
        yield RULE.finding(
            problem.range,
            problem.message,
            severity=RULE.severity if problem.fatal else Severity.WARNING,
            suggestion=quoted(problem.meant) if problem.meant else None,
            path=problem.path,
        )


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the type that was meant."""
    if case.finding.suggestion is not None:
        yield replace(case, case.finding.suggestion)


RULE = Rule(
    code="bad-schema",
    severity=Severity.ERROR,
    summary="`[input]` or `[output]` is not a valid JSON Schema.",
    documentation="""
`[input]` and `[output]` are JSON Schemas (draft 2020-12) in TOML: the agent's input and its answer.
An agent with an invalid schema does not run. `[input]` is always an object, so its `type` may be
omitted. Unknown keywords are allowed, but not keywords of earlier drafts, such as `dependencies`. A
`$ref` begins with `#`, since nothing is ever fetched. The schema of `params.response_format` is
checked too; there it is a warning, because axe leaves it to the provider.

```toml
[input]
required = ["path"]

[input.properties.path]
type = "strng"    # must be one of array, boolean, integer, null, number, object, string
```
""",
    check=check,
    fixes=fixes,
    is_for=Dialects.ALL,
    about=Subject.PROBLEMS,
)
