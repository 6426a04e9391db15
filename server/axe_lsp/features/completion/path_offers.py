"""Paths and globs that could be typed, from the one folder that is being typed.

What is in the folder is handed in: `path_typed` says which one to list, `path_offers` what follows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from axe_lsp.agentfile.schema.key_spec import Names
from axe_lsp.agentfile.text.globs import ANY_FOLDERS, has_magic
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.splices import literal
from axe_lsp.features.completion.cursor import Where, cursor_at
from axe_lsp.features.completion.item import Completion, CompletionKind
from axe_lsp.workspace.agent_file import AgentFile

_PATHS = (Names.SKILL, Names.GLOB, Names.FOLDER)

_KINDS_OF_FILES = 5
"""Globs by suffix that are offered, the most frequent first."""


class PathTyped(Struct, frozen=True):
    """A path that is being typed.

    `folder` is the part of it up to where the folder that is to be listed ends, `part` the range of the name
    that comes next, `word` what of that stands before the cursor. A string that is not closed yet gets its
    `closing` quotes.
    """

    names: Names
    folder: str
    part: TextRange
    word: str
    quote: str
    closing: str
    is_below_glob: bool = False
    has_slash: bool = False


class Entry(Struct, frozen=True):
    """A file or a folder."""

    name: str
    is_folder: bool


class Listing(Struct, frozen=True):
    """The content of a folder; of a huge folder a part, which is not `is_complete`."""

    entries: tuple[Entry, ...] = ()
    is_complete: bool = True


def path_typed(file: AgentFile, offset: int) -> PathTyped | None:
    """Return the path at `offset` of an open file, if the cursor is in one."""
    if file.open is None:
        return None
    text, cursor = file.open.parse.text, cursor_at(file.open, offset)
    spec, item = cursor.spec, cursor.item
    if cursor.where is not Where.STRING or item is None or spec is None:
        return None
    before = text[cursor.range.start : offset]
    if spec.names is None or spec.names not in _PATHS or not before.isprintable():
        return None
    if "\\" in before or "\n" in cursor.range.of(text):
        return None  # An escape; or a text over several lines, which is no path.
    folder, slash, word = before.rpartition("/")
    start = cursor.range.start + len(folder) + len(slash)
    end = text.find("/", offset, cursor.range.end)
    quote = text[item.range.start : cursor.range.start]
    stable = _without_globs(folder + slash) if spec.names is Names.GLOB else folder + slash
    return PathTyped(
        names=spec.names,
        folder=stable,
        part=TextRange(start, end if end >= 0 else cursor.range.end),
        word=word,
        quote=quote,
        closing="" if item.complete else quote,
        is_below_glob=stable != folder + slash,
        has_slash=end >= 0,
    )


def path_offers(typed: PathTyped, listing: Listing) -> list[Completion]:
    """Return the folders, files and globs that fit where the path is typed, folders first."""
    entries = sorted(
        (each for each in listing.entries if _can_stand(typed, each.name)),
        key=lambda each: each.name,
    )
    folders = [each.name for each in entries if each.is_folder]
    files = [each.name for each in entries if not each.is_folder]
    return [_placed(typed, label, detail) for label, detail in _names(typed, folders, files)]


def _names(typed: PathTyped, folders: list[str], files: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the typed text and its kind."""
    if not typed.is_below_glob:
        yield from ((f"{name}/", "folder") for name in folders)
    if typed.names is Names.GLOB:
        if not typed.is_below_glob:
            yield f"{ANY_FOLDERS}/", "all folders below"
        yield from _globs(files)
    if typed.names is not Names.FOLDER and not typed.is_below_glob:
        yield from ((name, "") for name in files)


def _globs(files: list[str]) -> Iterator[tuple[str, str]]:
    suffixes = Counter(
        suffix for stem, dot, suffix in (name.rpartition(".") for name in files) if stem and dot
    )
    for suffix, count in suffixes.most_common(_KINDS_OF_FILES):
        yield f"*.{suffix}", f"{count} here"
    yield "*", "all files"


def _can_stand(typed: PathTyped, name: str) -> bool:
    """Return whether the name can be written as it is; hidden names only after a typed dot."""
    if name.startswith(".") and not typed.word.startswith("."):
        return False
    if typed.names is Names.GLOB and has_magic(name):
        return False
    return "'" not in name if "'" in typed.quote else literal(name) == f'"{name}"'


def _placed(typed: PathTyped, label: str, detail: str) -> Completion:
    """Place an offer: a folder is typed further, so the string is closed behind a whole path only."""
    text = label if label.endswith("/") else label + typed.closing
    if typed.has_slash:
        text = text.removesuffix("/")
    return Completion(label, CompletionKind.PATH, typed.part, text, None, detail)


def _without_globs(folder: str) -> str:
    """Return the part of a folder in front of the first segment that is a pattern."""
    plain: list[str] = []
    for segment in folder.split("/")[:-1]:
        if has_magic(segment):
            break
        plain.append(segment)
    return "".join(f"{segment}/" for segment in plain)
