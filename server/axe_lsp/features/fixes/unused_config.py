"""The file without the table."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.features.fix import Case, Fix, remove_table


def fixes(case: Case) -> Iterator[Fix]:
    for path in (("sub_agents_config",), ("input",)):
        if case.lookup.place(path) == case.finding.range:
            yield from remove_table(case, path, preferred=True)
