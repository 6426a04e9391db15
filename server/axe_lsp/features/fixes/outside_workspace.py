"""The file without what reaches out of the workspace."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile import splices
from axe_lsp.features.fix import Case, Fix, change, find_value, remove_item


def fixes(case: Case) -> Iterator[Fix]:
    found = find_value(case)
    if found is None:
        return
    if found.array is not None:
        yield from remove_item(case, f"Remove {case.token} from the list")
    elif (entry := case.lookup.statement_at(case.finding.range.start)) is not None:
        title = f"Remove `{'.'.join(case.finding.path)}`"
        yield change(case, title, splices.without_entry(case.text, entry))
