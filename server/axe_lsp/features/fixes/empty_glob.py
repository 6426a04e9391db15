"""The list without the pattern."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.features.fix import Case, Fix, remove_item


def fixes(case: Case) -> Iterator[Fix]:
    yield from remove_item(case, f"Remove {case.token} from the list")
