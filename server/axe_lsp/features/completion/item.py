"""One completion item, and how it replaces the text around the cursor."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

from axe_lsp.agentfile.text.ranges import TextRange

_COMMENT = re.compile(r"#[^\r\n]*")


class CompletionKind(Enum):
    """The kind of a completion item; editors show an icon for it."""

    KEY = "key"
    TABLE = "table"
    AGENT = "agent"
    TOOL = "tool"
    MODEL = "model"
    CHOICE = "choice"
    PATH = "path"


class Completion(Struct, frozen=True):
    """One offer: `text` in place of `replace`.

    `snippet` is the same with stops to jump to, for editors that can (LSP 3.17, "Snippet Syntax").
    `typed_as` is the text that finds the item, if that is not the label. Each character
    of `commit` takes the offer and is typed behind it.
    """

    label: str
    kind: CompletionKind
    replace: TextRange
    text: str
    snippet: str | None = None
    detail: str = ""
    documentation: str = ""
    typed_as: str = ""
    commit: str = ""


def offer(
    label: str, kind: CompletionKind, detail: str = "", documentation: str = ""
) -> Completion:
    """Return a completion that inserts its label. Its range is set later."""
    return Completion(label, kind, TextRange(0, 0), label, None, detail, documentation)


def separators(text: str, parts: Sequence[TextRange], word: TextRange) -> tuple[str, str]:
    """Return the commas that are missing around `word`, which is to stand among `parts`."""
    before = max((part.end for part in parts if part.end <= word.start), default=None)
    after = min((part.start for part in parts if part.start >= word.end), default=None)
    lacks_one_before = before is not None and not _has_comma(text[before : word.start])
    lacks_one_after = after is not None and not _has_comma(text[word.end : after])
    return ", " if lacks_one_before else "", "," if lacks_one_after else ""


def end_of_line(text: str) -> str:
    """Return how the lines of a file end."""
    return "\r\n" if "\r\n" in text else "\n"


def rest_of_line(text: str, offset: int) -> str:
    """Return the rest of the line after `offset`, without a comment and surrounding blanks."""
    end = min((at for each in "\r\n" if (at := text.find(each, offset)) >= 0), default=len(text))
    return _COMMENT.sub("", text[offset:end]).strip()


def _has_comma(text: str) -> bool:
    return "," in _COMMENT.sub("", text)
