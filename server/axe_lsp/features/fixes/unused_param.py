"""The file without the parameter."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.features.fix import Case, Fix, remove_key


def fixes(case: Case) -> Iterator[Fix]:
    yield from remove_key(case, preferred=True)
