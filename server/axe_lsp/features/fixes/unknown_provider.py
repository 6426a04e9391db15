"""The provider that was meant."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.features.fix import Case, Fix, find_value, replace, respell


def fixes(case: Case) -> Iterator[Fix]:
    found, similar = find_value(case), case.finding.suggestion
    if similar is None:
        return
    model = found.decoded(case) if found is not None else None
    if found is None:  # The name of a table in config.toml.
        yield replace(case, similar)
    elif isinstance(model, str):
        provider, _, name = model.partition("/")
        certain = similar.lower() == provider.strip().lower()
        yield respell(case, f"{similar}/{name}", certain=certain)
