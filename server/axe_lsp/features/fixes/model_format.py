"""The provider that is missing in front of the model's name."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.features.fix import Case, Fix, find_value, respell
from axe_lsp.features.rules.model_format import meant


def fixes(case: Case) -> Iterator[Fix]:
    found = find_value(case)
    written = found.decoded(case) if found is not None else None
    if isinstance(written, str):
        for rank, model in enumerate(meant(case.snapshot, written)):
            yield respell(case, model, preferred=rank == 0)
