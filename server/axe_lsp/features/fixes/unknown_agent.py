"""The agent that was meant, a new one of that name, or none."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.text import quoted
from axe_lsp.features.fix import Case, Fix, find_value, remove_item, respell
from axe_lsp.features.new_agent import new_agent


def fixes(case: Case) -> Iterator[Fix]:
    similar = case.finding.suggestion
    if similar is not None:
        yield respell(case, similar)
    found = find_value(case)
    name = found.decoded(case) if found is not None else None
    if isinstance(name, str):
        file = new_agent(case.snapshot, name, seen_from=case.file)
        if file is not None:
            title = f"Create the agent {quoted(name)}"
            yield Fix(title, (file,), preferred=similar is None)
        yield from remove_item(case, f"Remove {quoted(name)} from the list")
