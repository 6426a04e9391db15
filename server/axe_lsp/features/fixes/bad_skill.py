"""The SKILL.md in the folder that was named."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.features.fix import Case, Fix, respell

_NAME = "SKILL.md"


def fixes(case: Case) -> Iterator[Fix]:
    written = case.file.outside.skill
    if written is not None and f"name the {_NAME}" in case.finding.message:
        yield respell(case, f"{written.value.rstrip('/')}/{_NAME}", certain=True)
