"""The type that was meant."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.features.fix import Case, Fix, replace


def fixes(case: Case) -> Iterator[Fix]:
    if case.finding.suggestion is not None:
        yield replace(case, case.finding.suggestion)
