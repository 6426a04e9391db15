"""A name of its own for the agent, or a look at the other one. Which of them is meant, only the author knows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from urllib.parse import unquote, urlsplit

from axe_lsp.agentfile.text import quoted
from axe_lsp.features.fix import Case, Fix
from axe_lsp.features.rename import RenameError, rename_agent
from axe_lsp.workspace.snapshot import Snapshot


def fixes(case: Case) -> Iterator[Fix]:
    name = _free_name(case.snapshot, case.file.place.stem)
    try:
        edit = rename_agent(case.snapshot, case.file, name, case.context.text_of)
    except RenameError:
        pass  # It means something else to who calls it, such as a type of `Task`.
    else:
        yield Fix(f"Rename this agent to {quoted(name)}, and whoever means it", edit)
    for other in case.finding.related:
        yield Fix(f"Open {unquote(urlsplit(other.uri).path)}", (), shows=other.uri)


def _free_name(snapshot: Snapshot, stem: str) -> str:
    """The name with the first number behind it that no agent has, however it is written."""
    taken = {file.place.stem.casefold() for file in snapshot.files()}
    numbered = (f"{stem}-{number}" for number in count(2))
    return next(name for name in numbered if name.casefold() not in taken)
