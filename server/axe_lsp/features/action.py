"""The data of a code action."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from axe_lsp.features.edit import Edit, Secret
from axe_lsp.features.finding import Finding


class ActionKind(Enum):
    """Why it is offered. The values are LSP's (3.17, CodeActionKind); a dot leads to a narrower one."""

    QUICK_FIX = "quickfix"
    EXTRACT = "refactor.extract"
    REWRITE = "refactor.rewrite"
    FIX_ALL = "source.fixAll"

    def is_asked_for(self, kinds: frozenset[str] | None) -> bool:
        """Whether one of `kinds` is this one or a wider one. None and "" ask for everything."""
        if kinds is None or "" in kinds:
            return True
        return any(f"{self.value}.".startswith(f"{each}.") for each in kinds)


class CodeAction(Struct, frozen=True):
    """Something that can be done, or that can't for a reason (`disabled`).

    `finding` is what it mends; of several that mend one finding the `preferred` one is the likely.
    A `secret` has to be put away before the edit takes it out of the file. What it `shows` is the URI
    of a file that is put in front of the user.
    """

    title: str
    kind: ActionKind
    edit: Edit
    finding: Finding | None = None
    preferred: bool = False
    disabled: str = ""
    secret: Secret | None = None
    shows: str = ""
