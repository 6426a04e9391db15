"""axe's word for it, or nothing."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile import schema
from axe_lsp.features.fix import (
    Case,
    Fix,
    change,
    find_key,
    find_value,
    remove_item,
    remove_table,
    respell,
)


def fixes(case: Case) -> Iterator[Fix]:
    found = find_value(case)
    if found is not None:
        tool = schema.TOOL_ALIASES.get(str(found.decoded(case)))
        if tool is not None and tool not in schema.EXTENSION_TOOLS:
            yield respell(case, tool, certain=True)
        else:
            yield from remove_item(case, f"Remove {case.token} from the list")
        return
    key = find_key(case)
    if key is not None and len(key.entry.key.parts) == 1:
        title = f"Remove `{case.token}`"
        yield change(case, title, key.removal(case.text))
    else:
        yield from remove_table(case, case.finding.path)
