"""The files that an update of the workspace may affect directly; `graph.py` has those that it affects through calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from axe_lsp.agentfile.dialects import AGENT_TESTS
from axe_lsp.agentfile.other_programs import without_program
from axe_lsp.agentfile.schema.key_spec import KeyPath
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.places import Place
from axe_lsp.workspace.snapshot import Snapshot


class FileChange(Struct, frozen=True):
    """A file before and after; None where it does not exist."""

    uri: str
    old: AgentFile | None
    new: AgentFile | None

    @property
    def place(self) -> Place:
        there = self.new or self.old
        assert there is not None
        return there.place

    @property
    def appears_or_goes(self) -> bool:
        return (self.old is None) != (self.new is None)

    @property
    def means_others(self) -> bool:
        """Whether its lists may mean other agents: they, or the folder where it works, are others."""
        return _lists(self.old) != _lists(self.new) or _workdir(self.old) != _workdir(self.new)

    @property
    def has_other_tools(self) -> bool:
        """Whether its model is offered other tools, which tests expect to be called."""
        return _tools(self.old) != _tools(self.new)

    @property
    def renamed(self) -> frozenset[str]:
        """The names that a list has now and had not before, or the other way round."""
        return frozenset(name for name, _ in {*_lists(self.old)} ^ {*_lists(self.new)})

    @property
    def limits_others(self) -> bool:
        """Whether its limit of depth is another one."""
        return (
            self.old is not None
            and self.new is not None
            and self.old.depth_limit != self.new.depth_limit
        )

    @property
    def changes_files_otherwise(self) -> bool:
        """Whether its tools are others, or whether it works in a copy, which concerns those that start it as a side run."""
        if self.old is None or self.new is None:
            return False
        return self.has_other_tools or self.old.has_copy != self.new.has_copy

    @property
    def has_another_timeout(self) -> bool:
        """Whether its own timeout is another one, which concerns those that call it."""
        return (
            self.old is not None and self.new is not None and self.old.timeout != self.new.timeout
        )


def directly_affected(
    before: Snapshot, after: Snapshot, touched: Sequence[FileChange]
) -> frozenset[str]:
    """Return the files that changed, and those that name them, share their name or call them."""
    affected = {each.uri for each in touched}
    for each in touched:
        if each.appears_or_goes:  # Who has the same name is told of before all folders are read.
            stem = each.place.stem
            affected.update(before.names.get(stem, ()), after.names.get(stem, ()))
    if before.complete != after.complete or before.places != after.places:
        return frozenset(affected.union(_unsettled(after)))
    if before.unread != after.unread:
        affected.update(_unsettled(after, before.unread ^ after.unread))
    if not after.complete:
        return frozenset(affected)
    if after.names is not before.names:
        affected.update(_naming_nobody(after))
    for each in touched:
        affected.update(_affected_twins(before, after, each))
        affected.update(_affected_callers(after, each))
        plain = {without_program(name) for name in each.renamed}
        affected.update(uri for name in plain for uri in after.names.get(name, ()))
        if each.means_others or each.has_other_tools:
            affected.update(_tests_naming(after, each.place.stem))
    return frozenset(affected)


def _affected_callers(snapshot: Snapshot, change: FileChange) -> Iterator[str]:
    """Yield the files that call the agent and whose diagnostics depend on the change."""
    is_for_all = change.appears_or_goes or change.has_another_timeout
    if not (is_for_all or change.changes_files_otherwise):
        return
    for uri in _callers(snapshot, change):
        file = snapshot.file(uri)
        if is_for_all or (file is not None and file.starts_side_runs):
            yield uri


def _callers(snapshot: Snapshot, change: FileChange) -> Iterator[str]:
    there = change.new or change.old
    if there is not None:
        for each in there.listings(there.place.stem):
            yield from snapshot.callers(each)


def _affected_twins(before: Snapshot, after: Snapshot, change: FileChange) -> Iterator[str]:
    """Yield the agents of the same name of other programs, which say whether they differ from this one."""
    old, new = change.old, change.new
    if old is not None and new is not None and _identity(old) == _identity(new):
        return
    for snapshot, file in ((before, old), (after, new)):
        if file is not None:
            yield from (each.uri for each in snapshot.twins(file))


def _identity(file: AgentFile) -> tuple[str, str, int]:
    return file.called, file.description, file.prompt_mark


def named_alike(snapshot: Snapshot, uris: Iterable[str]) -> Iterator[str]:
    """Yield the files that have the names of these, themselves included: one of them may be a link to another."""
    for uri in uris:
        yield from snapshot.names.get(snapshot.places.locate(uri).stem, ())


def deeper(before: Snapshot, after: Snapshot, touched: Sequence[FileChange]) -> frozenset[str]:
    """Return the files below which agents may be called from another depth than before."""
    if not after.complete:
        return frozenset()
    found: set[str] = set()
    for each in touched:
        names = each.renamed
        if each.appears_or_goes:
            names |= {each.place.stem}
            found.add(each.uri)
        elif each.limits_others and after.calls.roots_in(frozenset([each.uri])):
            found.add(each.uri)  # For all others, only the limits of their callers count.
        found.update(uri for name in names for uri in after.names.get(name, ()))
    return frozenset(found)


def _unsettled(snapshot: Snapshot, folders: frozenset[str] | None = None) -> Iterator[str]:
    """Yield the files in the folders, or all, about which more can be said once everything has been read.

    What had to wait is what names mean, and most files name nobody.
    """
    for file in snapshot.files():
        if (file.references or file.typed) and (folders is None or file.place.folder in folders):
            yield file.uri


def _naming_nobody(snapshot: Snapshot) -> Iterator[str]:
    """Yield the files with names that no file defines: they might mean one that is new, or has gone."""
    for name in {*snapshot.closed_callers, *snapshot.buffer_callers} - snapshot.names.keys():
        yield from snapshot.callers(name)


def _tests_naming(snapshot: Snapshot, name: str) -> Iterator[str]:
    """Yield the files of tests with an agent, which say whom it is expected to call."""
    for uri in snapshot.callers(name):
        file = snapshot.file(uri)
        if file is not None and file.place.dialect is AGENT_TESTS:
            yield uri


def _lists(file: AgentFile | None) -> tuple[tuple[str, KeyPath], ...]:
    """Return the names of agents that a file has, each with the key of its list."""
    return tuple((each.name, each.key) for each in file.references) if file is not None else ()


def _tools(file: AgentFile | None) -> tuple[tuple[str, ...], bool]:
    return (file.offered, bool(file.outside.servers)) if file is not None else ((), False)


def _workdir(file: AgentFile | None) -> str:
    return file.workdir if file is not None else ""
