"""Files that a message of `axe-lsp chat` mentions as `@path`: completion of their names, and their texts for the model.

They are attached as the `files` of an agent are: text and pictures, inside the agent's folder, with the same limit.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from msgspec import Struct

from axe_lsp.cli.line_editor import Offer
from axe_lsp.runtime.files.context_files import ContextFile, read_context_file
from axe_lsp.runtime.files.regular_files import LARGEST_FILE
from axe_lsp.runtime.messages import Image
from axe_lsp.runtime.plain_text import visible
from axe_lsp.runtime.prompt import fenced

_MENTION = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|([^\s"]+))')
_BEGUN_MENTION = re.compile(r'(?<!\S)@(?:"([^"\n]*)|([^\s"]*))\Z')
_AFTER_PATH = ".,:;!?)'"
"""Characters behind a path that belong to the sentence, unless a file is so named."""

_MOST_ENTRIES = 2000
"""Entries of a folder that completion looks at with each key."""

_MOST_OFFERS = 50


class Attached(Struct, frozen=True):
    """A message with the files that it mentions; `notes` for the person name files that are not attached."""

    message: str
    files: tuple[ContextFile, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def images(self) -> tuple[Image, ...]:
        """The pictures, which go with the message."""
        return tuple(file.image for file in self.files if file.image is not None)


def attach(message: str, folder: Path) -> Attached:
    """Return the message followed by the files below `folder` that it mentions. `folder` has no links."""
    files: dict[str, ContextFile] = {}
    notes: list[str] = []
    size = 0
    for quoted_name, name in _MENTION.findall(message):
        file, note = _mentioned(quoted_name or name, folder)
        if file is None:
            notes.append(f"not attached: @{visible(quoted_name or name)}: {note}")
        elif file.path not in files:
            size += file.size
            if size > LARGEST_FILE:
                limit = LARGEST_FILE // 2**20
                notes.append(f"not attached: @{visible(file.path)}: more than {limit} MB together")
                break
            files[file.path] = file
    shown = "".join(f"\n\n{fenced(file)}" for file in files.values())
    return Attached(message + shown, tuple(files.values()), tuple(notes))


def _mentioned(name: str, folder: Path) -> tuple[ContextFile | None, str]:
    """Return the file that a mention means, or None and why it means none."""
    for each in dict.fromkeys((name, name.rstrip(_AFTER_PATH))):
        try:
            path = folder / each
            if not each or not path.exists():
                continue
            place = path.resolve()
        except (OSError, ValueError, RuntimeError):  # A NUL, too long a name, links in a circle.
            continue
        if not place.is_relative_to(folder):
            return None, f"it is outside of {folder}"
        if place.is_dir():
            return None, "it is a folder; name files in it"
        file, note = read_context_file(place.relative_to(folder).as_posix(), place, folder)
        return file, note or "it is binary"
    return None, f"there is no such file in {folder}"


def path_offers(before: str, folder: Path) -> Iterator[Offer]:
    """Yield the paths below `folder` that complete a mention at the end of the text `before` the cursor.

    Entries that begin with a dot are offered once a dot is typed. Names that a terminal would obey are left out.
    """
    match = _BEGUN_MENTION.search(before)
    if match is None:
        return
    typed = match[1] if match[1] is not None else match[2]
    above, _, beginning = typed.rpartition("/")
    for name, is_folder in _entries(folder, above, beginning):
        path = f"{above}/{name}" if above else name
        text = f"{path}/" if is_folder else path
        is_quoted = '"' in match[0] or " " in path
        closing = '"' if is_quoted and not is_folder else ""
        yield Offer(f'@"{text}{closing}' if is_quoted else f"@{text}", len(match[0]))


def _entries(folder: Path, above: str, beginning: str) -> list[tuple[str, bool]]:
    """Return the entries of a folder whose names begin with a text, else contain it: names, and whether each is a folder."""
    try:
        place = (folder / above).resolve()
        if not place.is_relative_to(folder):
            return []
        with os.scandir(place) as entries:
            named = [
                (entry.name, entry.is_dir())
                for entry in islice(entries, _MOST_ENTRIES)
                if beginning.lower() in entry.name.lower()
                and entry.name.isprintable()
                and '"' not in entry.name
                and (beginning.startswith(".") or not entry.name.startswith("."))
            ]
    except (OSError, ValueError, RuntimeError):
        return []
    order = sorted(named, key=lambda each: (not each[0].startswith(beginning), each[0]))
    return order[:_MOST_OFFERS]
