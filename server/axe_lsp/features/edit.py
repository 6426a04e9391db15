"""Changes of files, and the code actions that propose them."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from msgspec import Struct

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.finding import Finding

TextOf = Callable[[str], str]
"""The text of the file at a URI, open or not."""


class RenameError(Exception):
    """Why something can't be renamed, for the user."""


EMPTY_STRING = '""'
"""A guess that the author has to fill in."""


class TextChange(Struct, frozen=True):
    """Other text for a range of a file. An empty range inserts.

    `guess` is the part of the text that the author may want otherwise, where it stands last in it:
    an editor that can selects it. In an `EMPTY_STRING` it puts the cursor between the quotes.
    """

    uri: str
    range: TextRange
    text: str
    guess: str = ""


class NewFile(Struct, frozen=True):
    """A file that is created, with this text. It must not exist yet."""

    uri: str
    text: str


class MovedFile(Struct, frozen=True):
    """A file that gets another name. Nothing must be there yet."""

    old: str
    new: str


class Secret(Struct, frozen=True):
    """A provider's key, which belongs in the user's own config.toml and in no log or message.

    Without a `key` there is to be a place for it, where the user can enter one.
    """

    provider: str
    key: str = ""

    def __repr__(self) -> str:
        return f"Secret({self.provider!r})"  # Without the key.


Edit = tuple[TextChange | NewFile | MovedFile, ...]
"""Steps in the order in which they are taken. Ranges are those before the first step."""


class ActionKind(Enum):
    """Why it is offered. The values are LSP's (3.17, CodeActionKind); a dot leads to a narrower one."""

    QUICK_FIX = "quickfix"
    EXTRACT = "refactor.extract"
    REWRITE = "refactor.rewrite"
    FIX_ALL = "source.fixAll"

    def is_asked_for(self, kinds: frozenset[str] | None) -> bool:
        """Return whether one of `kinds` is this one or a wider one. None and "" ask for everything."""
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
