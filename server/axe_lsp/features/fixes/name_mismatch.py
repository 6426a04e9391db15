"""The name of the file, or another name for the file."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.text import quoted
from axe_lsp.features.fix import Case, Fix, respell
from axe_lsp.features.rename import RenameError, rename_agent


def fixes(case: Case) -> Iterator[Fix]:
    yield respell(case, case.file.place.stem)
    if case.file.name is None:
        return
    name = case.file.name.value
    try:
        edit = rename_agent(case.snapshot, case.file, name, case.context.text_of)
    except RenameError:
        return  # It is no name for a file, or another agent has it.
    yield Fix(f"Rename the file to {quoted(f'{name}.toml')}, and whoever names it", edit)
