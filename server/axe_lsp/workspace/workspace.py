"""The one writer of snapshots."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.dialects import program_titled
from axe_lsp.agentfile.lookup_order import nested_repository
from axe_lsp.agentfile.other_programs import OF_AXE
from axe_lsp.agentfile.text.nearest import Spelling
from axe_lsp.workspace.affected import FileChange, deeper, directly_affected, named_alike
from axe_lsp.workspace.agent_file import AgentFile, read_agent_file
from axe_lsp.workspace.calls import Calls
from axe_lsp.workspace.facts import Facts
from axe_lsp.workspace.graph import NOTHING_FURTHER, Indirect, all_calls, calls_after, rewired
from axe_lsp.workspace.layers import (
    affected_by,
    changed_names,
    layers_after,
    settings_changed,
    settings_over,
    with_declared,
)
from axe_lsp.workspace.places import Place, Places, Scope
from axe_lsp.workspace.run_facts import RunLogFacts
from axe_lsp.workspace.snapshot import Callers, Files, Snapshot


class Change(Struct, frozen=True):
    """A file's new text, or None if it is gone: deleted from the disk, or its buffer closed.

    A `fault` says why an existing file can't be used as text, and `fault_at` from which position. If the
    text was already parsed, `file` is the result, in place of the text.
    """

    uri: str
    text: str | None
    in_buffer: bool = False
    fault: str = ""
    fault_at: int = 0
    file: AgentFile | None = None

    @property
    def is_there(self) -> bool:
        """Whether there is a file, on the disk or in a buffer."""
        return self.text is not None or self.file is not None


class Update(Struct, frozen=True):
    """A new snapshot, and the URIs of the files about which it may say something new.

    `affected` files come first; those that have gone are among them. The files that are `indirectly`
    affected are looked for later, since there may be thousands.
    """

    snapshot: Snapshot
    affected: frozenset[str]
    indirectly: Indirect = NOTHING_FURTHER


class Workspace:
    """Holds the current snapshot and replaces it with every change.

    A change of one file costs work on that file and on those that name it, whatever else there is:
    the maps of names are copied only when the file's own names have changed.
    """

    def __init__(self, places: Places | None = None) -> None:
        self.snapshot = Snapshot(places=places or Places())

    def apply(
        self,
        changes: Sequence[Change],
        *,
        complete: bool | None = None,
        facts: Mapping[str, Facts] | None = None,
        real_uris: Mapping[str, str] | None = None,
        projects: Mapping[str, str] | None = None,
        unread: frozenset[str] | None = None,
        roots: tuple[str, ...] | None = None,
        run_log: RunLogFacts | None = None,
    ) -> Update:
        """Take in changes. `complete` tells that all folders have been read but those in `unread`.

        New `facts` and `real_uris`, by URI, take the place of what was known of these files, and `projects` of
        what was known of these layers and folders, and a new `run_log` that of all files. `roots` are
        the workspace folders, on which it depends which of several agents a name means.
        """
        before = self.snapshot
        maps = _with_files(before, changes)
        touched = tuple(_touched(before, maps, changes))
        names = _with_names(before, touched)
        files = (
            {**maps.closed, **maps.buffers}
            if any(settings_changed(each.old, each.new) for each in touched)
            else {}
        )
        layers = layers_after(
            before.layers, ((each.old, each.new) for each in touched), files.values()
        )
        places = before.places if roots is None else replace(before.places, roots=roots)
        if layers.declared is not before.layers.declared:
            places = with_declared(places, layers, files)
        known = {**before.projects, **projects} if projects else before.projects
        after = replace(
            maps,
            places=places,
            layers=layers,
            names=names,
            spelling=before.spelling if names is before.names else Spelling(names),
            facts=_with_facts(before.facts, changes, facts or {}),
            real_uris={**before.real_uris, **real_uris} if real_uris else before.real_uris,
            projects=known,
            repositories=(
                before.repositories
                if known is before.projects and places.roots == before.places.roots
                else _nested_repositories(known, places)
            ),
            run_log=before.run_log if run_log is None else run_log,
            complete=before.complete if complete is None else complete,
            unread=before.unread if unread is None else unread,
            revision=before.revision + 1,
        )
        renamed = changed_names(before.layers, layers)
        naming = frozenset(_naming(after, renamed))
        self.snapshot, ways = _with_calls(before, after, touched, naming)
        affected = directly_affected(before, self.snapshot, touched) | naming
        affected = affected.union(affected_by(before.layers, layers, renamed))
        for each in touched:
            affected = affected.union(
                *(settings_over(layers, file) for file in (each.old, each.new) if file)
            )
        if projects:
            affected |= {each.uri for each in self.snapshot.files() if each.place.unit in projects}
        if run_log is not None:
            affected |= {each for each in after.buffers if _differs(before.run_log, run_log, each)}
        looked_at = {*(facts or ()), *named_alike(after, real_uris or ())}
        indirectly = replace(ways, deeper=deeper(before, self.snapshot, touched))
        return Update(self.snapshot, affected | looked_at, indirectly)


def _nested_repositories(projects: Mapping[str, str], places: Places) -> Mapping[str, str]:
    """Return the folders of axe's agents in repositories below the workspace folders, each with its repository."""
    return {
        folder: nested
        for folder, root in projects.items()
        if root and (nested := nested_repository(root, places.roots))
    }


def _with_files(before: Snapshot, changes: Sequence[Change]) -> Snapshot:
    on_disk = [change for change in changes if not change.in_buffer]
    in_buffers = [change for change in changes if change.in_buffer]
    buffers = _put(before.places, before.buffers, in_buffers)
    closed = _put(before.places, before.closed, on_disk, known=buffers)
    return replace(
        before,
        closed=closed,
        buffers=buffers,
        closed_callers=_with_callers(before.closed_callers, before.closed, closed, on_disk),
        buffer_callers=_with_callers(before.buffer_callers, before.buffers, buffers, in_buffers),
    )


def _put(
    places: Places, files: Files, changes: Sequence[Change], known: Files | None = None
) -> Files:
    """Return the files after the changes. What an editor has in `known`, word for word, isn't read again."""
    if not changes:
        return files
    changed = dict(files)
    for change in changes:
        if change.file is not None:
            changed[change.uri] = _placed(change.file, places.locate(change.uri))
        elif change.text is None:
            changed.pop(change.uri, None)
        else:
            same = _saved(change, (known or {}).get(change.uri))
            old = files.get(change.uri)
            changed[change.uri] = same or read_agent_file(
                places.locate(change.uri),
                change.text,
                is_open=change.in_buffer,
                before=old.open if old is not None else None,
                fault=change.fault,
                fault_at=change.fault_at,
            )
    return changed


def _placed(file: AgentFile, place: Place) -> AgentFile:
    """Return the file where it is known to lie here: who has read it may know less of the folders."""
    if file.place == place or file.place.kind is not place.kind:
        return file  # One of another kind has to be read again.
    return replace(file, place=place)


def _saved(change: Change, buffer: AgentFile | None) -> AgentFile | None:
    """Return the file on the disk, if it holds what the buffer does."""
    if buffer is None or buffer.open is None or change.fault:
        return None
    return replace(buffer, open=None) if buffer.open.parse.text == change.text else None


def _with_facts(
    known: Mapping[str, Facts], changes: Sequence[Change], new: Mapping[str, Facts]
) -> Mapping[str, Facts]:
    """Return the facts after the changes. Nobody keeps those about a buffer true once it is closed."""
    closed = {each.uri for each in changes if each.in_buffer and each.text is None}
    if not new and known.keys().isdisjoint(closed):
        return known
    return {uri: each for uri, each in {**known, **new}.items() if uri not in closed}


def _differs(before: RunLogFacts, after: RunLogFacts, uri: str) -> bool:
    return before.files.get(uri) != after.files.get(uri)


def _touched(before: Snapshot, after: Snapshot, changes: Sequence[Change]) -> Iterator[FileChange]:
    for uri in dict.fromkeys(change.uri for change in changes):
        old, new = before.file(uri), after.file(uri)
        if old is not new:
            yield FileChange(uri, old, new)


def _with_names(before: Snapshot, touched: Sequence[FileChange]) -> Mapping[str, tuple[str, ...]]:
    moved = [each for each in touched if each.appears_or_goes]
    if not moved:
        return before.names
    names = dict(before.names)
    for each in moved:
        place = each.place
        if place.scope is Scope.LOOSE or place.layer:
            continue
        others = tuple(uri for uri in names.pop(place.stem, ()) if uri != each.uri)
        defined = others if each.new is None else (*others, each.uri)
        if defined:
            names[place.stem] = defined
    return names


def _with_callers(
    callers: Callers, before: Files, after: Files, changes: Sequence[Change]
) -> Callers:
    """Return the files that list each name, after these changes of files."""
    lost: dict[str, set[str]] = defaultdict(set)
    won: dict[str, set[str]] = defaultdict(set)
    for uri in [change.uri for change in changes]:
        old, new = _listed(before.get(uri)), _listed(after.get(uri))
        for name in old - new:
            lost[name].add(uri)
        for name in new - old:
            won[name].add(uri)
    if not lost and not won:
        return callers
    changed = dict(callers)
    for name in {*lost, *won}:
        listing = (changed.pop(name, frozenset()) - lost[name]) | won[name]
        if listing:
            changed[name] = listing
    return changed


def _naming(after: Snapshot, changed: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the files that name an agent of a program which has appeared or gone."""
    for title, name in changed:
        for each in (f"{title}\0{name}", name, f"{program_titled(title).name}:{name}"):
            yield from after.callers(each)


def _listed(file: AgentFile | None) -> frozenset[str]:
    if file is None:
        return frozenset()
    return frozenset(file.listed(each.name) for each in file.references)


def _with_calls(
    before: Snapshot, after: Snapshot, touched: Sequence[FileChange], naming: frozenset[str]
) -> tuple[Snapshot, Indirect]:
    """Return `after` with the calls between its agents, and the files that are affected. Empty until all folders have been read.

    `naming` are the files that name agents of other programs which have appeared or gone.
    """
    if not after.complete:
        return replace(after, calls=Calls()), NOTHING_FURTHER
    is_elsewhere = before.places != after.places or before.repositories != after.repositories
    if not before.complete or is_elsewhere:
        return replace(after, calls=all_calls(after)), NOTHING_FURTHER
    uris, names = _relisted(before, after, touched)
    uris |= naming
    if not uris and not names:
        return after, NOTHING_FURTHER
    calls = calls_after(before.calls, after, uris, names)
    return replace(after, calls=calls), rewired(before.calls, calls, uris)


def _relisted(
    before: Snapshot, after: Snapshot, touched: Sequence[FileChange]
) -> tuple[set[str], set[str]]:
    """Return the files whose lists may mean other agents than before, and the names by which that may be so."""
    uris, names = set[str](), set[str]()
    for each in touched:
        if each.means_others:
            uris.add(each.uri)
            names |= each.renamed
        if each.appears_or_goes:
            stem = each.place.stem
            uris.update(after.callers(stem), after.callers(f"{OF_AXE}{stem}"))
            names.add(stem)
    return uris, names
