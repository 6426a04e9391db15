"""Changes of files, as code actions and renames propose them."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from axe_lsp.agentfile.text.ranges import TextRange

TextOf = Callable[[str], str]
"""The text of the file at a URI, open or not."""


class RenameError(Exception):
    """Why something can't be renamed, for the user."""


class TextChange(Struct, frozen=True):
    """Other text for a range of a file. An empty range inserts.

    `guess` is the part of the text that the author may want otherwise, where it stands last in it:
    an editor that can selects it.
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
