"""Another name for an agent: its file, its `name`, and every list in which that file is meant.

Cases of tests and their recordings are renamed by `rename_recording.py`.

A rename changes what names say, never what they mean: where another agent would be meant, before or
after, it is refused. Inline types of `Task` are renamed inside their file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from posixpath import relpath
from urllib.parse import quote, unquote, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.dialects import AGENT_TESTS, AXE
from axe_lsp.agentfile.lookup_order import SUFFIX, objection
from axe_lsp.agentfile.other_programs import PROGRAMS, Program, without_program
from axe_lsp.agentfile.text.ranges import TextRange, quoted
from axe_lsp.agentfile.text.splices import literal, requoted
from axe_lsp.agentfile.text.yaml import is_plain_text
from axe_lsp.features.edit import Edit, MovedFile, RenameError, TextChange, TextOf
from axe_lsp.features.references import named_at, type_keys
from axe_lsp.features.rename_recording import (
    Exists,
    Same,
    follow_recording,
    follow_tests,
    named_in_test,
    rename_in_test,
)
from axe_lsp.workspace.agent_file import TASK_TYPES, AgentFile, Reference, read_agent_file
from axe_lsp.workspace.layers import file_of
from axe_lsp.workspace.meaning import Kind, Meaning, agent_meaning, meaning, mentions, mentions_in
from axe_lsp.workspace.places import Place, Scope
from axe_lsp.workspace.snapshot import Snapshot

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class Renamable(Struct, frozen=True):
    """The range that a rename replaces, without quotes, and the current name."""

    range: TextRange
    name: str


def renamable(snapshot: Snapshot, file: AgentFile, offset: int) -> Renamable | None:
    """Return the name to rename at `offset` of an open file. Raises RenameError for an undefined name."""
    named = named_at(snapshot, file, offset)
    if file.open is None:
        return None
    if named is None:
        in_test = named_in_test(file, offset)
        if in_test is None:
            return None
        return Renamable(_inside(file.open.parse.text, in_test.range), in_test.value)
    _check_is_defined(named.meaning)
    inside = _inside(file.open.parse.text, named.range)
    agent = snapshot.file(named.meaning.uri) if named.meaning.kind is Kind.AGENT else None
    has_name = agent is not None and agent.place.dialect.has_names
    name = inside.of(file.open.parse.text) if has_name else named.meaning.name
    return Renamable(inside, name)


def rename(
    snapshot: Snapshot,
    file: AgentFile,
    offset: int,
    new_name: str,
    text_of: TextOf,
    *,
    exists: Exists = lambda _: False,
    same: Same = lambda *_: False,
) -> Edit | None:
    """Return the edit that renames the agent, or another named thing, at `offset` of an open file.

    None if nothing is. Raises RenameError.
    """
    named = named_at(snapshot, file, offset)
    if named is None:
        in_test = named_in_test(file, offset)
        if in_test is None:
            return None
        return rename_in_test(snapshot, file, in_test, new_name, text_of, exists=exists, same=same)
    _check_is_defined(named.meaning)
    if named.meaning.kind is Kind.INLINE_TYPE:
        return tuple(_type_changes(snapshot, file, named.meaning, new_name))
    agent = snapshot.file(named.meaning.uri)
    return rename_agent(snapshot, agent, new_name, text_of) if agent is not None else None


def rename_agent(snapshot: Snapshot, agent: AgentFile, new_name: str, text_of: TextOf) -> Edit:
    """Return the edit that gives another name to an agent. Raises RenameError."""
    if agent.place.kind.syntax is not None:
        return _renamed_in_markdown(snapshot, agent, new_name, text_of)
    if agent.place.dialect.has_names:
        return _named_anew(snapshot, agent, new_name, text_of)
    _check_name(new_name)
    old = agent.place
    if old.scope is Scope.LOOSE:
        return tuple(_name_change(agent, new_name, text_of))  # Nobody finds it by its file.
    new = snapshot.places.locate(f"{old.folder}/{quote(new_name)}{SUFFIX}")
    name = tuple(_name_change(agent, new_name, text_of))
    if new.uri == old.uri:
        return name
    _check_is_free(snapshot, old, new)
    changes = _mention_changes(snapshot, agent, new, text_of)
    return (*name, *changes, MovedFile(old.uri, new.uri))


def _named_anew(snapshot: Snapshot, agent: AgentFile, new_name: str, text_of: TextOf) -> Edit:
    """Return the edit for a new name in the file and in the settings that declare the agent. The file keeps its own name."""
    if not new_name.strip() or _CONTROL.search(new_name):
        raise RenameError("a name must not be blank, nor contain control characters")
    layers = snapshot.layers
    program = agent.schema.program
    for uri in layers.names.get((program, new_name.strip()), ()):
        other = snapshot.file(uri)
        if uri != agent.uri and other is not None and other.place.layer == agent.place.layer:
            raise RenameError(f"there is an agent {quoted(new_name)} already; choose another name")
    old_name = layers.name_of(agent)
    changes = list(_name_change(agent, new_name, text_of))
    meant = agent_meaning(agent)
    for uri, caller in {each.file.uri: each.file for each in mentions(snapshot, meant)}.items():
        text = text_of(uri)
        for _, reference in mentions_in(snapshot, _as_it_is_now(caller, text), meant):
            if caller.place.kind is AXE.agent:
                changes.append(
                    _renamed_in_toml(snapshot, caller, text, reference, new_name.strip())
                )
            elif reference.name == old_name:
                changes.append(_rewritten(uri, text, reference.range, new_name))
    return tuple(changes)


def _renamed_in_markdown(
    snapshot: Snapshot, agent: AgentFile, new_name: str, text_of: TextOf
) -> Edit:
    """Return the edit for a new name in the file, or of a file without a name, and in all references of its program."""
    _check_is_read(snapshot)
    fault = _fault_of_markdown(new_name)
    if fault:
        raise RenameError(f"an agent's name {fault}")
    if snapshot.layers.names.get((agent.schema.program, new_name)) and new_name != agent.called:
        raise RenameError(f"there is an agent {quoted(new_name)} already; choose another name")
    changes: list[TextChange | MovedFile] = []
    meant = agent_meaning(agent)
    for uri, caller in {each.file.uri: each.file for each in mentions(snapshot, meant)}.items():
        text = text_of(uri)
        for _, reference in mentions_in(snapshot, _as_it_is_now(caller, text), meant):
            if caller.place.kind.syntax is None:
                changes.append(_renamed_in_toml(snapshot, caller, text, reference, new_name))
                continue
            new = _in_yaml(reference.range.of(text), new_name)
            changes.append(TextChange(uri, reference.range, new))
    text = text_of(agent.uri)
    name = _as_it_is_now(agent, text).name
    if name is not None:
        return (
            TextChange(agent.uri, name.range, _in_yaml(name.range.of(text), new_name)),
            *changes,
        )
    return (*changes, MovedFile(agent.uri, _moved_by_name(agent, new_name)))


def _renamed_in_toml(
    snapshot: Snapshot, caller: AgentFile, text: str, reference: Reference, new_name: str
) -> TextChange:
    """Return the change of a name in a list of axe of an agent of another program. Raises RenameError for a taken name."""
    name = _like(reference.name, new_name)
    if name == new_name and snapshot.agents(new_name, caller):
        raise RenameError(f"there is an agent {quoted(new_name)} already; choose another name")
    return _rewritten(caller.uri, text, reference.range, name)


def _like(old: str, new_name: str) -> str:
    """Return the new name with the program in front of it that the old one has."""
    return f"{old.removesuffix(without_program(old))}{new_name}"


_MARKS = frozenset("(),[]{}:#&*!|>'\"%@`\\")


def _fault_of_markdown(name: str) -> str:
    """Return why a name can't stand in all places where programs read names of agents, or ""."""
    if not name.strip() or name != name.strip() or _CONTROL.search(name):
        return (
            "must not be blank, nor begin or end with white space, nor contain control characters"
        )
    if _MARKS & set(name) or name.startswith(("-", "?")):
        return "must not contain marks of YAML or of lists of tools, nor begin with a hyphen"
    return ""


def _in_yaml(token: str, name: str) -> str:
    """Return a name in the quotes of the old one. Names without marks of YAML need none, numbers and the like do."""
    quote = token[:1] if token[:1] in ("'", '"') else ""
    is_text = is_plain_text(name)
    return f"{quote}{name}{quote}" if quote or is_text else f'"{name}"'


def _moved_by_name(agent: AgentFile, new_name: str) -> str:
    """Return the URI of a file that has its agent's name. Raises RenameError for another folder."""
    folder, _, last = new_name.rpartition("/")
    if folder != agent.called.rpartition("/")[0]:
        raise RenameError("the name is the path of the file; move the file to another folder")
    ending = ".agent.md" if agent.uri.endswith(".agent.md") else ".md"
    return f"{agent.place.folder}/{quote(last)}{ending}"


def follow_move(
    snapshot: Snapshot,
    old_uri: str,
    new_uri: str,
    text_of: TextOf,
    exists: Exists = lambda _: False,
    *,
    same: Same = lambda *_: False,
    moving: Collection[str] = (),
) -> Edit:
    """Return the changes that go with a file's move, which the user makes. Raises RenameError.

    `moving` are the URIs of all files that move at the same time: they leave their names free.

    A `name` that was another one than the file's stays what it is. A file that moves out of the
    folders of agents is no agent any more, so its name is left where it is missed.
    """
    agent, new = snapshot.file(old_uri), snapshot.places.locate(new_uri)
    if agent is None:
        return follow_recording(snapshot, old_uri, new_uri, text_of)
    if agent.place.dialect is AGENT_TESTS:
        return follow_tests(snapshot, agent, new, text_of, exists, same=same)
    if agent.uri in snapshot.layers.declared:
        return tuple(_declared_elsewhere(snapshot, agent, new_uri, text_of))
    old_name = agent.place.stem
    has_left = Scope.LOOSE in (agent.place.scope, new.scope)
    # With a name of its own, the agent keeps it wherever its file goes.
    if (
        has_left
        or agent.place.dialect.has_names
        or new.stem == old_name
        or agent.place.kind.syntax is not None
    ):
        return ()
    _check_name(new.stem)
    agrees = agent.name is not None and agent.name.value == old_name
    name = tuple(_name_change(agent, new.stem, text_of)) if agrees else ()
    return (*name, *_mention_changes(snapshot, agent, new, text_of, moving))


def _declared_elsewhere(
    snapshot: Snapshot, agent: AgentFile, new_uri: str, text_of: TextOf
) -> Iterator[TextChange]:
    """Yield the changes of the paths by which settings declare an agent, relative to the settings unless they are absolute."""
    for uri in dict.fromkeys(each.settings for each in snapshot.layers.declared[agent.uri]):
        settings = snapshot.file(uri)
        if settings is None:
            continue
        text = text_of(uri)
        settings = _as_it_is_now(settings, text)
        path = unquote(urlsplit(new_uri).path)
        folder = unquote(urlsplit(settings.place.folder).path)
        for each in settings.declarations:
            if each.file_range is not None and file_of(settings, each) == agent.uri:
                new = path if each.file.startswith("/") else relpath(path, folder)
                yield _rewritten(uri, text, each.file_range, new)


# -- what may be renamed, and how


def _check_is_defined(meant: Meaning) -> None:
    if meant.kind is Kind.MISSING:
        raise RenameError(
            f"no agent file defines {quoted(meant.name)}, so there is nothing to rename; "
            "correct the name, or create the agent first"
        )
    if meant.kind is Kind.BUILT_IN_TYPE:
        raise RenameError(f"{quoted(meant.name)} is a built-in type, which has no other name")


def _check_name(name: str) -> None:
    if reason := objection(name):
        raise RenameError(reason)
    if _CONTROL.search(name) or name != name.strip():
        raise RenameError(
            f"agent name {quoted(name)} must not contain line breaks or other control characters, "
            "nor begin or end with white space"
        )
    if name.endswith(SUFFIX):
        raise RenameError(f"leave out {quoted(SUFFIX)}: the file of the agent gets it by itself")


def _check_is_free(snapshot: Snapshot, old: Place, new: Place) -> None:
    for place in (file.place for file in snapshot.files() if file.uri != old.uri):
        # Many file systems ignore case, and projects are moved between them.
        if place.folder == new.folder and place.stem.casefold() == new.stem.casefold():
            raise RenameError(
                f"there is an agent {quoted(place.stem)} in this folder; choose another name"
            )


def _check_means_the_same(
    snapshot: Snapshot, agent: AgentFile, new: Place, moving: Collection[str]
) -> None:
    """Raise RenameError unless exactly the references to `agent` resolve to it by the new name.

    References to agents that are `moving` get other names at the same time.
    """
    for caller, reference in mentions(snapshot, agent_meaning(agent)):
        taken = meaning(snapshot, caller, replace(reference, value=_like(reference.name, new.stem)))
        if taken.uri in moving:
            continue
        if taken.kind is not Kind.MISSING and not _counts(snapshot, new, taken, caller):
            raise RenameError(_taken(new.stem, taken, caller))
    for uri in snapshot.callers(new.stem):
        if (other := snapshot.file(uri)) is not None:
            for reference in other.references:
                taken = meaning(snapshot, other, reference)
                if taken.uri in moving:
                    continue
                if reference.name == new.stem and _counts(snapshot, new, taken, other):
                    raise RenameError(_taken(new.stem, taken, other))


def _counts(snapshot: Snapshot, new: Place, taken: Meaning, caller: AgentFile) -> bool:
    """Return whether an agent at `new` would be meant instead of another one that is meant now."""
    rival = snapshot.file(taken.uri) if taken.kind is Kind.AGENT else None
    if rival is None:
        return False
    own, other = (_order(each.dialect.program) for each in (new, rival.place))
    if own != other:
        return own < other
    places = snapshot.places
    seen_from = places.caller(caller.place, caller.workdir)
    return places.precedence(new, seen_from) < places.precedence(rival.place, seen_from)


def _order(program: Program | None) -> int:
    """Return the place of a program in the order in which names of axe are looked up."""
    return PROGRAMS.index(program) if program is not None and program in PROGRAMS else -1


def _taken(name: str, taken: Meaning, caller: AgentFile) -> str:
    what = "another agent" if taken.kind is Kind.AGENT else "a type of `Task`"
    return f"{quoted(name)} means {what} in {quoted(caller.place.stem)}; choose another name"


# -- the changes


def _name_change(agent: AgentFile, new_name: str, text_of: TextOf) -> Iterator[TextChange]:
    text = text_of(agent.uri)
    name = _as_it_is_now(agent, text).name
    if name is not None and name.value != new_name:
        yield _rewritten(agent.uri, text, name.range, new_name)


def _mention_changes(
    snapshot: Snapshot,
    agent: AgentFile,
    new: Place,
    text_of: TextOf,
    moving: Collection[str] = (),
) -> list[TextChange]:
    _check_is_read(snapshot)
    _check_means_the_same(snapshot, agent, new, moving)
    meant = agent_meaning(agent)
    callers = {each.file.uri: each.file for each in mentions(snapshot, meant)}
    changes = []
    for uri, caller in callers.items():
        text = text_of(uri)
        for _, reference in mentions_in(snapshot, _as_it_is_now(caller, text), meant):
            changes.append(_rewritten(uri, text, reference.range, _like(reference.name, new.stem)))
    return changes


def _check_is_read(snapshot: Snapshot) -> None:
    if not snapshot.complete or snapshot.unread:
        raise RenameError("the agent files are still being read; try again in a moment")


def _type_changes(
    snapshot: Snapshot, file: AgentFile, meant: Meaning, new_name: str
) -> Iterator[TextChange]:
    if not new_name.strip():
        raise RenameError("the name of a type must not be empty")
    listed = {each.name for each in file.references if each.key == TASK_TYPES}
    if new_name != meant.name and new_name in file.inline_types | listed:
        raise RenameError(f"this file has a type {quoted(new_name)} already; choose another name")
    if file.open is None:
        return
    text = file.open.parse.text
    listings = [each.reference.range for each in mentions_in(snapshot, file, meant)]
    for where in sorted([*type_keys(file, meant.name), *listings]):
        yield _rewritten(file.uri, text, where, new_name)


def _rewritten(uri: str, text: str, where: TextRange, name: str) -> TextChange:
    """Return a string or a key that says `name`, in the quotes of the old one as far as they will do."""
    token = where.of(text)
    if _quotes(token):
        return TextChange(uri, where, requoted(token, name))
    return TextChange(uri, where, name if _BARE_KEY.fullmatch(name) else literal(name))


def _inside(text: str, where: TextRange) -> TextRange:
    quotes = _quotes(where.of(text))
    return TextRange(where.start + quotes, where.end - quotes)


def _quotes(token: str) -> int:
    """Return how many quotes a string or a key begins with."""
    if token.startswith(('"""', "'''")):
        return 3
    return 1 if token.startswith(('"', "'")) else 0


def _as_it_is_now(file: AgentFile, text: str) -> AgentFile:
    """Return the file by its text, which may have changed on the disk since it was read."""
    return file if file.is_placed_in(text) else read_agent_file(file.place, text)
