"""The caller's timeout for its calls, set to that of the called agent."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.splices import Splice
from axe_lsp.features.fix import Case, Fix, change


def fixes(case: Case) -> Iterator[Fix]:
    own, value = case.finding.suggestion, case.lookup.value(("sub_agents_config", "timeout"))
    if own and value is not None:
        title = f"Set `sub_agents_config.timeout` to {own}"
        yield change(case, title, Splice(value.range, own), preferred=False)
