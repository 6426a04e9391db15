"""A key that its program still obeys, under a former name or not for long."""

from __future__ import annotations

import re
from collections.abc import Iterator

from axe_lsp.agentfile.check.codex import DEPRECATED
from axe_lsp.features.finding import Severity
from axe_lsp.features.fix import Case, Fix, remove_key, replace
from axe_lsp.features.rule import Dialects, Rule, Subject

_PRESENT_NAME = re.compile(r"use `((?:\w+\.)*)(\w+)`")


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the present name, where it belongs in the same table and is not there yet; else the line is removed."""
    spec = case.lookup.schema.find(case.finding.path)
    match = _PRESENT_NAME.search(spec.deprecated) if spec is not None else None
    table = case.finding.path[:-1]
    is_here = match is not None and tuple(match[1].split(".")[:-1]) == table
    if match is not None and is_here and not case.lookup.has((*table, match[2])):
        yield replace(case, match[2], certain=True)
        return
    yield from remove_key(case)


RULE = Rule(
    code=DEPRECATED,
    severity=Severity.WARNING,
    summary="A key that is deprecated.",
    documentation="""
Codex warns of such a key when it starts. It still obeys most of them, such as the former names of features.

```toml
[features]
codex_hooks = true    # use `hooks`
```
""",
    is_for=Dialects.OTHERS,
    fixes=fixes,
    about=Subject.PROBLEMS,
)
