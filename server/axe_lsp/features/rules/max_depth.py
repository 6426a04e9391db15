"""`sub_agents_config.max_depth` outside 0 to 5."""

from __future__ import annotations

from axe_lsp.features.finding import Severity
from axe_lsp.features.rule import Rule, Subject
from axe_lsp.features.rules.out_of_range import fixes

RULE = Rule(
    code="max-depth",
    severity=Severity.ERROR,
    summary="`max_depth` is not between 0 and 5.",
    documentation="""
The maximum depth of sub-agents is five. 0 means the default, 3. The value of the root agent applies
to the whole tree.

```toml
[sub_agents_config]
max_depth = 5
```
""",
    fixes=fixes,
    about=Subject.PROBLEMS,
)
