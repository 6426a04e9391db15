"""Another name for a case of a test or for its recording: the file of the recording, and every case that has it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from posixpath import normpath
from urllib.parse import quote, unquote

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.check.agent_tests import RECORDINGS, read_cases
from axe_lsp.agentfile.check.cases import Case
from axe_lsp.agentfile.dialects import AGENT_TESTS
from axe_lsp.agentfile.lookup_order import SUFFIX
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.test_keys import TESTS
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange, quoted
from axe_lsp.agentfile.text.splices import line_break, literal, requoted
from axe_lsp.features.edit import Edit, MovedFile, RenameError, TextChange, TextOf
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.places import Place
from axe_lsp.workspace.snapshot import Snapshot

Exists = Callable[[str], bool]
"""Whether there is a file at a URI."""

Same = Callable[[str, str], bool]
"""Whether two URIs lead to one file, because the disk ignores case."""

_REST_OF_LINE = re.compile(r"[ \t]*(#[^\r\n]*)?(?=[\r\n]|\Z)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class NamedInTest(Struct, frozen=True):
    """A case at its name, or at its `replay`; `range` is what is written there, quotes included."""

    case: Case
    range: TextRange
    is_replay: bool

    @property
    def value(self) -> str:
        """The written text."""
        return self.case.replay if self.is_replay else self.case.name


def named_in_test(file: AgentFile, offset: int) -> NamedInTest | None:
    """Return the case whose name or recording is written at `offset` of an open file of tests."""
    if file.open is None or file.place.dialect is not AGENT_TESTS:
        return None
    for case in read_cases(file.open).cases:
        if case.name and case.range.touches(offset):
            return NamedInTest(case, case.range, is_replay=False)
        if case.replay and case.replay_range.touches(offset):
            return NamedInTest(case, case.replay_range, is_replay=True)
    return None


def rename_in_test(
    snapshot: Snapshot,
    file: AgentFile,
    named: NamedInTest,
    new: str,
    text_of: TextOf,
    *,
    exists: Exists,
    same: Same,
) -> Edit:
    """Return the edit that renames a case, with the recording that is named after it, or a recording. Raises RenameError."""
    if not new.strip() or _CONTROL.search(new):
        raise RenameError("a name must not be blank, nor contain control characters")
    place, before = file.place, named.case
    if named.is_replay:
        _check_recording(new)
        after = replace(before, replay=new)
    else:
        after = replace(before, name=new)
        if file.open is not None and new != before.name:
            _check_is_free(read_cases(file.open).cases, new)
    here = TextChange(file.uri, named.range, requoted(named.range.of(text_of(file.uri)), new))
    old_path, new_path = (_path(each.recording(place.stem)) for each in (before, after))
    if old_path == new_path:
        return (here,)
    _check_is_complete(snapshot)
    others = _changes(snapshot, place, old_path, new_path, text_of, but=(file.uri, before.name))
    found = snapshot.facts_about(file).paths.get(old_path)
    if not found or not found.exists:
        return (here, *others)
    return (here, *others, _moved(place, found.uri, new_path, exists, same))


def follow_recording(snapshot: Snapshot, old_uri: str, new_uri: str, text_of: TextOf) -> Edit:
    """Return the changes that go with the move of a recording within its folder, which the user makes. Raises RenameError."""
    folders = re.finditer(f"/(?={RECORDINGS}/)", old_uri)  # There may be one of that name inside.
    places = (next(_tests(snapshot, old_uri[: each.start()]), None) for each in folders)
    tests = next((each.place for each in places if each is not None), None)
    if tests is None:
        return ()
    folder = f"{tests.folder}/{RECORDINGS}/"
    if not new_uri.startswith(folder) or not new_uri.endswith(SUFFIX):
        return ()
    old_path, new_path = (each.removeprefix(folder) for each in (old_uri, new_uri))
    _check_is_complete(snapshot)
    before, after = (_path(unquote(each)) for each in (old_path, new_path))
    return tuple(_changes(snapshot, tests, before, after, text_of))


def follow_tests(
    snapshot: Snapshot, tests: AgentFile, new: Place, text_of: TextOf, exists: Exists, *, same: Same
) -> Edit:
    """Return the changes that go with the move of a file of tests within its folder, which names its recordings.

    These move along, and other cases that have them name them anew. Raises RenameError.
    """
    if new.folder != tests.place.folder:
        return ()
    changes: list[TextChange] = []
    moves: dict[str, MovedFile] = {}
    for case in _cases(text_of(tests.uri)):
        before, after = (_path(case.recording(each.stem)) for each in (tests.place, new))
        uri = _uri(tests.place, before)
        if case.name and not case.replay and uri not in moves and exists(uri):
            moves[uri] = _moved(new, uri, after, exists, same)
            own = (tests.uri, case.name)
            changes += _changes(snapshot, tests.place, before, after, text_of, but=own)
    return (*changes, *moves.values())


def _moved(place: Place, uri: str, path: str, exists: Exists, same: Same) -> MovedFile:
    """Return the move of a recording to a path. Raises RenameError if another file is there, which no case may use."""
    new = _uri(place, path)
    if exists(new) and not same(uri, new):
        raise RenameError(
            f"there is a file {quoted(path)} already; delete it or choose another name"
        )
    return MovedFile(uri, new)


def _check_recording(path: str) -> None:
    if not path.endswith(SUFFIX) or path.startswith(("/", "~", "$", "\\")) or ":" in path:
        raise RenameError(f"a recording is a {SUFFIX} file, from the folder {quoted(RECORDINGS)}")


def _check_is_free(cases: tuple[Case, ...], name: str) -> None:
    if any(each.name == name for each in cases):
        raise RenameError(f"another case of this file is named {quoted(name)}; choose another name")


def _check_is_complete(snapshot: Snapshot) -> None:
    if not snapshot.complete or snapshot.unread:
        raise RenameError("the files of tests are still being read; try again in a moment")


def _path(recording: str) -> str:
    """Return the path of a recording from the folder of its tests."""
    return normpath(f"{RECORDINGS}/{recording}")


def _from_recordings(path: str) -> str:
    """Return the same path from the folder of recordings, as `replay` has it."""
    inside = path.removeprefix(f"{RECORDINGS}/")
    return inside if inside != path else f"../{path}"


def _uri(place: Place, path: str) -> str:
    scheme, between, folder = place.folder.partition("://")
    return f"{scheme}{between}{normpath(f'{folder}/{quote(path)}')}"


def _tests(snapshot: Snapshot, folder: str) -> Iterator[AgentFile]:
    for file in snapshot.files():
        if file.place.dialect is AGENT_TESTS and file.place.folder == folder:
            yield file


def _changes(
    snapshot: Snapshot,
    place: Place,
    old_path: str,
    new_path: str,
    text_of: TextOf,
    *,
    but: tuple[str, str] = ("", ""),
) -> Iterator[TextChange]:
    """Yield the changes of all cases of a folder that use the recording, which gets a new path.

    `but` is the file and name of the renamed case.
    """
    files = sorted(_tests(snapshot, place.folder), key=lambda each: each.uri)
    affected = [file for file in files if _has_recording(file, old_path)]
    if affected and any(_has_recording(file, new_path) for file in files):
        raise RenameError(f"another case has the recording {quoted(new_path)} already")
    for file in affected:
        text = text_of(file.uri)
        for case in _cases(text):
            if (
                (file.uri, case.name) != but
                and case.name
                and _path(case.recording(file.place.stem)) == old_path
            ):
                yield _with_recording(file.uri, text, case, _from_recordings(new_path))


def _has_recording(tests: AgentFile, path: str) -> bool:
    return any(each.value == path for each in tests.outside.paths)


def _cases(text: str) -> tuple[Case, ...]:
    return read_cases(Lookup(Parse(text), TESTS)).cases


def _with_recording(uri: str, text: str, case: Case, recording: str) -> TextChange:
    """Return the change that gives a case this recording; one that was named after the case is written behind its name."""
    where = case.replay_range
    if case.replay:
        return TextChange(uri, where, requoted(where.of(text), recording))
    rest = _REST_OF_LINE.match(text, where.end)
    if rest is None:  # In an inline table.
        return TextChange(uri, TextRange(where.end, where.end), f", replay = {literal(recording)}")
    line = f"{line_break(text)}replay = {literal(recording)}"
    return TextChange(uri, TextRange(rest.end(), rest.end()), line)
