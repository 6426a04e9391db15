"""Changes of files, as code actions and renames propose them."""

from __future__ import annotations

from dataclasses import dataclass, field

from axe_lsp.agentfile.text import TextRange


@dataclass(frozen=True, slots=True)
class TextChange:
    """Other text for a range of a file. An empty range inserts."""

    uri: str
    range: TextRange
    text: str


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that is created, with this text. It must not exist yet."""

    uri: str
    text: str


@dataclass(frozen=True, slots=True)
class MovedFile:
    """A file that gets another name. Nothing must be there yet."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Secret:
    """A provider's key, which belongs in the user's own config.toml and in no log or message.

    Without a `key` there is to be a place for it, where the user can enter one.
    """

    provider: str
    key: str = field(default="", repr=False)


Edit = tuple[TextChange | NewFile | MovedFile, ...]
"""Steps in the order in which they are taken. Ranges are those before the first step."""
