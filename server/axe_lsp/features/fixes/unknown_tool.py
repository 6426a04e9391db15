"""The tool that was meant, or none."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.features.fix import Case, Fix, find_value, remove_item, respell


def fixes(case: Case) -> Iterator[Fix]:
    found, similar = find_value(case), case.finding.suggestion
    name = found.decoded(case) if found is not None else None
    if similar is not None and isinstance(name, str):
        yield respell(case, similar, certain=similar.lower() == name.strip().lower())
    yield from remove_item(case, f"Remove {case.token} from the list", preferred=similar is None)
