"""The form of an agent between two formats, and the notes of a conversion."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from enum import Enum

from msgspec import Struct, field

from axe_lsp.agentfile.mcp_servers import McpServer
from axe_lsp.agentfile.schema.tools import CHANGING_TOOLS, READING_TOOLS


class ConversionError(ValueError):
    """A file that can't be converted. `line` counts from 1; 0 means the file as a whole."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


class Agent(Struct):
    """The fields that more than one format has, in the order in which they are written.

    `model` is `provider/model-name` or "" for the model of the caller. `tools` has the
    names of axe and is complete: an agent without tools has none. `timeout` is in seconds. `copy` says for
    an agent that works in a copy what becomes of its changes, in the words of axe.
    """

    name: str = ""
    description: str = ""
    model: str = ""
    effort: str = ""
    temperature: float | None = None
    max_tokens: int | None = None
    timeout: int | None = None
    max_turns: int | None = None
    tools: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    servers: tuple[McpServer, ...] = ()
    copy: str = ""
    prompt: str = ""


FIELDS: Mapping[str, str] = {
    "name": "name",
    "description": "description",
    "prompt": "instructions",
    "model": "model",
    "effort": "reasoning effort",
    "temperature": "temperature",
    "max_tokens": "length of an answer",
    "tools": "tools",
    "agents": "agents that it may call",
    "servers": "MCP servers",
    "timeout": "timeout",
    "max_turns": "number of turns",
    "copy": "work in a copy of the folder",
}
"""The names of the fields of `Agent` in the documentation."""

READING = frozenset(READING_TOOLS)
"""The tools of axe that only read the workspace."""

CHANGING = frozenset(CHANGING_TOOLS)
"""The tools of axe that can change the workspace."""


class NoteKind(Enum):
    """The outcome for a key. The value is the word that users see."""

    MAPPED = "mapped"
    LOST = "lost"
    ADDED = "added"


class Note(Struct, frozen=True):
    """A note for the user about a key. `text` says what became of it, without values of headers."""

    kind: NoteKind
    key: str
    text: str


class Notes(Struct):
    """The notes of one conversion."""

    all: list[Note] = field(default_factory=list)

    def forget(self, key: str) -> None:
        """Drop what was said of a key, which is no longer true."""
        self.all = [note for note in self.all if note.key != key]

    def mapped(self, key: str, text: str) -> None:
        """Take note that the key has another value or name now."""
        self.all.append(Note(NoteKind.MAPPED, key, text))

    def lost(self, key: str, text: str) -> None:
        """Take note that the new file does not have the key."""
        self.all.append(Note(NoteKind.LOST, key, text))

    def added(self, key: str, text: str) -> None:
        """Take note that the new file has a key that the old one had not."""
        self.all.append(Note(NoteKind.ADDED, key, text))


def slug(name: str, *, ascii_only: bool = False) -> str:
    """Return a name for a file: lower case, with hyphens between the words. "" if nothing is left."""
    if ascii_only:
        name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^\w-]+|_{2,}", "-", name.lower()).strip("-_")
