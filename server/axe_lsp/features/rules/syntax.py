"""The file is not TOML."""

from __future__ import annotations

from collections.abc import Iterable

from axe_lsp.features.finding import Severity
from axe_lsp.features.fix import Case, Fix
from axe_lsp.features.rule import Dialects, Rule, Subject


def fixes(case: Case) -> Iterable[Fix]:
    """Return the text to add or remove that completes a statement."""
    # Imported late: most files are TOML, and the patterns take a millisecond to compile.
    from axe_lsp.features.syntax_guesses import completions

    return completions(case)


RULE = Rule(
    code="syntax",
    severity=Severity.ERROR,
    summary="The file is not TOML.",
    documentation="""
The text is not TOML 1.1, so the agent can't run. The message says what the parser expected, at the
place of the error. A broken statement causes one diagnostic; the statements after it are checked as
usual.

```toml
sub_agents = ["lint", "test"
[params]          # the array above is not closed
```
""",
    is_for=Dialects.ALL,
    fixes=fixes,
    about=Subject.PROBLEMS,
)
