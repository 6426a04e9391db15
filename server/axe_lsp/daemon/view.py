"""All agent files as one client sees them: with its folders, its settings and the texts that it has open.

A client has a view of its own, so nothing that another one sets or types is to be seen in it. What files on
the disk say comes from the index that all views share. Lives on one event loop.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from axe_lsp.agentfile.dialects import LAYERED, usual_folders
from axe_lsp.agentfile.lookup_order import SUFFIX, AgentPlaces
from axe_lsp.agentfile.other_programs import AGENTS, SETTINGS_FILE
from axe_lsp.agentfile.text.ranges import LineIndex
from axe_lsp.daemon import disk
from axe_lsp.daemon.disk_queries import Queries
from axe_lsp.daemon.index import Index, Indexer
from axe_lsp.daemon.links import LinkedFolders, real_uris
from axe_lsp.daemon.outside_watcher import OutsideWatcher
from axe_lsp.daemon.projects import layers_around, projects_of
from axe_lsp.daemon.uris import folder_of, path_of, uri_of
from axe_lsp.daemon.watch import watch
from axe_lsp.runtime.files.folders import Environment, homes_of_dialects
from axe_lsp.runtime.files.user_config import usable_config
from axe_lsp.runtime.files.workspace_folders import is_entered, workplace
from axe_lsp.settings import Settings
from axe_lsp.tasks import Tasks
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.facts import Facts
from axe_lsp.workspace.linked_agents import LinkedAgents, linked_agents
from axe_lsp.workspace.places import Places, Scope
from axe_lsp.workspace.snapshot import Snapshot
from axe_lsp.workspace.workspace import Change, Update, Workspace

if TYPE_CHECKING:
    from axe_lsp.daemon.run_log import RunLog

Listener = Callable[[Update], None]

_SUFFIXES = frozenset({SUFFIX, *(each.suffix for each in LAYERED)})
"""How the names of agent files end."""


class View:
    """One per client.

    Folders of agents are looked for below the roots (the workspace folders), named by the settings,
    and the user's own; the folder of every agent file that is opened counts too.
    """

    def __init__(self, environment: Environment, index: Index | None = None) -> None:
        self.settings = Settings()
        self.roots: tuple[Path, ...] = ()
        self.user_folder = disk.user_folder(environment)
        self._homes = homes_of_dialects(environment)
        self._environment = environment
        self._workspace = Workspace(self._places())
        self._folders: dict[Path, None] = {}
        self._linked_folders = LinkedFolders()
        self._buffers: dict[str, str] = {}
        self._background = Tasks()
        self._is_watching = False
        self._indexer = Indexer(index, self._take, self._background)
        self.queries = Queries(
            environment,
            self.workspace_of,
            self._open_config,
            lambda: (*self.settings.tools_allow, *usable_config(environment).allow),
        )
        self._outside_watcher = OutsideWatcher(
            lambda: self.snapshot, self.queries.facts, self._learn, self._background
        )
        self._listeners: list[Listener] = []
        self._ready = False
        self._scans = 0

    @property
    def snapshot(self) -> Snapshot:
        """All agent files as they are now."""
        return self._workspace.snapshot

    @property
    def folders(self) -> tuple[Path, ...]:
        """The known folders of axe's agents, the user's own last."""
        user = [self.user_folder] if self.user_folder is not None else []
        places = self.snapshot.places
        axe = (each for each in self._folders if not places.is_in_layer(uri_of(each)))
        return tuple(dict.fromkeys([*axe, *user]))

    @property
    def agent_places(self) -> AgentPlaces:
        """The folders that determine the lookup order of names, as paths."""
        user = self.user_folder.as_posix() if self.user_folder is not None else ""
        roots, extra = self.roots, self.extra_folders
        return AgentPlaces((), _as_posix(roots), _as_posix(extra), user, self._homes)

    @property
    def extra_folders(self) -> tuple[Path, ...]:
        """The folders that the settings add; relative ones start at each root.

        `..` is worked out, as editors do it in the URIs of the files that they open there.
        """
        return tuple(
            Path(os.path.normpath(folder))
            for text in self.settings.agent_paths
            if (path := disk.path_in_settings(text)) is not None
            for folder in ([path] if path.is_absolute() else [root / path for root in self.roots])
        )

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Tell `listener` of every update; returns what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # -- what the client has open

    def edit(self, uri: str, text: str) -> Update:
        """Take a buffer that was opened or changed. Its folder counts, wherever it lies."""
        self._indexer.give_way()
        self._buffers[uri] = text
        return self._show(uri, text)

    def close_buffer(self, uri: str) -> Update:
        """Give up a buffer that was closed: the file on the disk counts again."""
        self._buffers.pop(uri, None)
        return self._apply([Change(uri, None, in_buffer=True)])

    def lines(self, uri: str) -> LineIndex:
        """Return the lines of a file, open or not; of an empty text if it has gone."""
        file = self.snapshot.file(uri)
        if file is not None and file.open is not None:
            return file.open.parse.lines
        path = path_of(uri)
        content = disk.read(path) if path is not None else None
        return LineIndex(content.text if content is not None else "")

    def workspace_of(self, folder: Path | None) -> Path:
        """Return where runs of the agents in `folder` start."""
        return workplace(folder, self.roots, self._user_folders)

    @property
    def _user_folders(self) -> tuple[Path, ...]:
        """The folders of the user's own agents, of all dialects."""
        own = (self.user_folder,) if self.user_folder is not None else ()
        return (*own, *(Path(home, AGENTS) for _, home in self._homes))

    def linked_agents(self) -> LinkedAgents:
        """Return the agent files that are links to others, which stand for them."""
        return linked_agents(self.snapshot, lambda file: self.workspace_of(folder_of(file.uri)))

    # -- what lies on the disk

    def add_roots(self, roots: Iterable[Path]) -> None:
        """Look for agents below further folders."""
        new = [root for root in roots if root not in self.roots]
        self.roots = (*self.roots, *new)
        self._ready = True
        self._outside_watcher.look_again()
        if not self._start_over():
            self._apply([], roots=self._places().roots)
            self._scan(new)

    def remove_roots(self, roots: Sequence[Path]) -> None:
        """Forget the agents below folders that have left the workspace."""
        self.roots = tuple(root for root in self.roots if root not in roots)
        self._outside_watcher.look_again()
        if self._start_over():
            return
        self._apply([], roots=self._places().roots)
        opened = {path.parent for uri in self.snapshot.buffers if (path := path_of(uri))}
        kept = {*opened, *self.extra_folders}
        gone = [
            folder
            for folder in self._folders
            if folder not in kept and not _is_below(folder, self.roots)
        ]
        for folder in gone:
            del self._folders[folder]
        self._forget_files(gone)
        self._indexer.read(disk.agent_files_below((), self._linked_folders.forget(gone)))

    def configure(self, settings: Settings) -> None:
        """Put settings in force."""
        before, self.settings = self.settings, settings
        self._start_over()
        is_same_log = (before.run_log_sources, before.run_log_days) == (
            settings.run_log_sources,
            settings.run_log_days,
        )
        if "run_log" in vars(self) and not is_same_log:
            self.run_log.look_again()

    def changed_on_disk(self, uris: Iterable[str]) -> None:
        """Read files or folders of agents again that have changed, appeared or gone."""
        paths = [path for uri in uris if (path := path_of(uri)) is not None]
        # Looked up when its turn comes: what is being read now isn't known yet.
        self._indexer.read_again(each for path in paths for each in self._files_at(path))
        self._outside_watcher.look_again()

    def watch_disk(self) -> None:
        """Look for changes ourselves, on behalf of a client that doesn't tell."""
        if not self._is_watching:
            self._is_watching = True
            watching = watch(self._watched, self._indexer.read_again)
            self._background.start_unattended(watching, name="disk watcher")

    async def settled(self) -> None:
        """Wait until everything that is known to lie on the disk has been read."""
        await self._indexer.settled()

    async def close(self, within: float) -> None:
        """End what goes on in the background; a slow disk is waited for no longer than `within` seconds."""
        self._outside_watcher.close()
        await self._background.stop(within)

    # -- inside

    def _show(self, uri: str, text: str) -> Update:
        if uri not in self.snapshot.buffers and (path := path_of(uri)) is not None:
            # From now on the folder has the path with which its files are opened.
            replaced = self._linked_folders.prefer(path.parent) if self._is_agent(uri) else None
            if replaced is not None:
                self._forget_files([replaced])
            if self._meet(uri) or replaced is not None:
                self._read_neighbours(path.parent)
        return self._apply([Change(uri, text, in_buffer=True)])

    def _read_neighbours(self, folder: Path) -> None:
        uri = uri_of(folder)

        def done() -> None:
            self._apply([], unread=self.snapshot.unread - {uri})

        self._apply([], unread=self.snapshot.unread | {uri})
        self._indexer.read(self._unread_files(folder), done)

    def _unread_files(self, folder: Path) -> Iterator[Path]:
        """Yield the files that are still unread. The search below the roots may have read most of them already."""
        uri = uri_of(folder)
        places = (file.place for file in self.snapshot.closed.values())
        # By their names: to work out thousands of URIs takes as long as to read hundreds of files.
        known = {f"{place.stem}{place.suffix}" for place in places if place.folder == uri}
        yield from (folder / name for name in disk.agent_names_in(folder) if name not in known)

    def _apply(
        self,
        changes: Sequence[Change],
        *,
        complete: bool | None = None,
        facts: Mapping[str, Facts] | None = None,
        unread: frozenset[str] | None = None,
        roots: tuple[str, ...] | None = None,
    ) -> Update:
        declared = self.snapshot.places.declared
        uris = [each.uri for each in changes]
        projects = projects_of(self.snapshot, uris)
        update = self._workspace.apply(
            changes,
            complete=complete,
            facts=facts,
            unread=unread,
            roots=roots,
            projects=projects,
        )
        self._tell(update)
        self._read_declared(declared)
        if others := projects_of(self.snapshot, uris):  # The user's settings name other markers.
            self._tell(self._workspace.apply([], projects=others))
        self._read_layers_around(projects)
        if linked := real_uris(self.snapshot, uris):
            self._tell(self._workspace.apply([], real_uris=linked))
        if any(each.uri == self.snapshot.places.config_file for each in changes):
            self._outside_watcher.look_again()  # Whether keys are there depends on it.
        return update

    def _read_declared(self, before: Mapping[str, str]) -> None:
        """Read the files that settings have begun to name: they may lie anywhere."""
        declared = self.snapshot.places.declared
        if declared is before:
            return
        new = [
            path for uri in declared.keys() - before.keys() if (path := path_of(uri)) is not None
        ]
        self._indexer.read_again(path for path in new if path.is_file())

    def _read_layers_around(self, layers: Iterable[str]) -> None:
        """Read the settings of layers outside the workspace over which those of new layers are merged."""
        paths = (path for uri in layers if (path := path_of(uri)) is not None)
        new = [path for path in paths if disk.is_layer(path)]
        around = dict.fromkeys(each for path in new for each in layers_around(path))
        unread = [each for each in around if uri_of(each) not in self.snapshot.projects]
        if unread:
            self._indexer.read(each / SETTINGS_FILE for each in unread)

    def _as_it_is_here(self, change: Change) -> Change:
        """Return the content that was read, as the kind of file that it is for this client."""
        kind = self.snapshot.places.locate(change.uri).kind
        if change.file is None or change.file.place.kind is kind:
            return change
        path = path_of(change.uri)
        content = disk.read(path) if path is not None else None
        if content is None:
            return Change(change.uri, None)
        return Change(change.uri, content.text, fault=content.fault, fault_at=content.fault_at)

    def _tell(self, update: Update) -> None:
        self._outside_watcher.follow(update)
        for listener in tuple(self._listeners):
            listener(update)

    def _take(self, changes: Sequence[Change]) -> Mapping[str, AgentFile]:
        """Take in what was read, as far as it is news."""
        known = self.snapshot.closed
        news = [
            self._as_it_is_here(each)
            for each in changes
            if each.uri in known
            or (each.is_there and self._is_agent(each.uri) and self._counts(each.uri))
        ]
        # One of each folder will do.
        for uri in {each.uri.rpartition("/")[0]: each.uri for each in news}.values():
            self._meet(uri)
        if news:
            self._apply(news)
        return self.snapshot.closed

    def _open_config(self) -> str | None:
        file = self.snapshot.buffers.get(self.snapshot.places.config_file)
        return file.open.parse.text if file is not None and file.open is not None else None

    @cached_property
    def run_log(self) -> RunLog:
        """What the runs of agents were like. Imported with the first lens or hover."""
        from axe_lsp.daemon.run_log import RunLog

        return RunLog(
            lambda: self.roots,
            lambda facts: self._tell(self._workspace.apply([], run_log=facts)),
            lambda: self.settings,
            self._environment,
            self._background,
        )

    def _learn(self, facts: Mapping[str, Facts]) -> None:
        self._apply([], facts=facts)

    def _is_agent(self, uri: str) -> bool:
        return self.snapshot.places.is_agent(uri)

    def _counts(self, uri: str) -> bool:
        """Return whether the file's folder is known by this path, and not by a link that leads to it."""
        folder = folder_of(uri)
        return folder is not None and self._linked_folders.name(folder) == folder

    def _forget_files(self, folders: Sequence[Path]) -> None:
        closed = self.snapshot.closed
        uris = [uri for uri in closed if (path := path_of(uri)) and path.parent in folders]
        self._apply([Change(uri, None) for uri in uris])

    def _meet(self, uri: str) -> bool:
        """Remember the folder of an agent file; whether it was new."""
        folder = folder_of(uri)
        if folder is None or self.snapshot.places.locate(uri).scope is not Scope.WORKSPACE:
            return False
        is_new = folder not in self._folders
        self._folders[folder] = None
        return is_new

    def _start_over(self) -> bool:
        """Build everything anew if other folders count than before; whether that was so."""
        places = self._places()
        now = self.snapshot.places
        if replace(places, roots=(), declared={}) == replace(now, roots=(), declared={}):
            return False
        run_log = self.snapshot.run_log
        self._workspace = Workspace(places)
        self._workspace.apply([], run_log=run_log)
        self._folders.clear()
        self._linked_folders = LinkedFolders()
        for uri, text in self._buffers.items():
            self._show(uri, text)
        if self._ready:
            self._scan(self.roots)
        return True

    def _scan(self, roots: Sequence[Path]) -> None:
        folders = (*self.extra_folders, *([self.user_folder] if self.user_folder else []))
        self._scans += 1
        done = partial(self._scanned, self._scans)
        users = disk.user_layer_folders(self._environment)
        layers = chain.from_iterable(disk.agent_files_in(each) for each in users)
        self._indexer.read(chain(disk.agent_files_below(roots, folders), layers), done)

    def _scanned(self, number: int) -> None:
        """Complete the snapshot if the scan was the last that was asked for."""
        if number == self._scans and not self.snapshot.complete:
            self._apply([], complete=True)

    def _watched(self) -> tuple[Path, ...]:
        """Return the known folders, and those where a first agent would be put."""
        usual = (root / each for root in self.roots for each in usual_folders())
        return tuple(dict.fromkeys([*self.folders, *self._folders, *self.extra_folders, *usual]))

    def _files_at(self, path: Path) -> list[Path]:
        """Return the agent files that a change of `path` is about, those that have gone included."""
        if path.suffix in _SUFFIXES:
            return [self._linked_folders.name(path.parent) / path.name]
        path = self._linked_folders.name(path)
        known = [each for uri in self.snapshot.closed if (each := path_of(uri)) is not None]
        below = [each for each in known if path in each.parents]
        is_searched = any(is_entered(path, root) for root in self.roots)
        # What is found in a folder that is none of agents is left out when it is taken in.
        found = disk.agent_files_below([path] if is_searched else [], [path, path / "agents"])
        return sorted({*below, *found})

    def _places(self) -> Places:
        user = uri_of(self.user_folder) if self.user_folder is not None else ""
        return Places(
            user,
            _uris(self.extra_folders),
            _uris(self.roots),
            homes=tuple((name, uri_of(Path(folder))) for name, folder in self._homes),
        )


def _as_posix(folders: Sequence[Path]) -> tuple[str, ...]:
    return tuple(folder.as_posix() for folder in folders)


def _uris(folders: Sequence[Path]) -> tuple[str, ...]:
    return tuple(map(uri_of, folders))


def _is_below(folder: Path, roots: Sequence[Path]) -> bool:
    return any(root == folder or root in folder.parents for root in roots)
