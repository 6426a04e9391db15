"""The copy of a folder in which one called agent works, from its making to its end. All calls block.

In git a copy is a worktree of the same repository, elsewhere a folder with a git folder of ours beside
it. It lies in the folder of axe for state:

    copies/<run id>/lock     locked by the process that uses the copy
    copies/<run id>/about    what is said of it here, as JSON
    copies/<run id>/ready    exists once all files are there
    copies/<run id>/git/     our git folder
    copies/<run id>/index    ours
    copies/<run id>/tree/    the copy

The work of the agent is kept as a commit, `refs/axe/<run id>`, whose parent is what the copy began with.
A copy whose process has died is brought to that state when the next one is made. If its work can't be made a
commit, as with a full disk, its files stay, and the next copy that is made tries again.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path, PurePosixPath

import msgspec
from msgspec import Struct

from axe_lsp.runtime.copies.git import (
    GitError,
    OwnGit,
    Repository,
    add_worktree,
    commit,
    contents,
    diff_entries,
    files_in_copy,
    files_in_repository,
    git_folder_of_worktree,
    kept_commits,
    make_own,
    repository_of,
    set_ref,
    tree_of,
    write_tree,
)
from axe_lsp.runtime.copies.mirror import Mirror, TrackedFiles
from axe_lsp.runtime.files.folders import Environment, cache_folder, state_folder
from axe_lsp.runtime.plain_text import digest_of

MOST_FILES = 200_000
"""Files of a folder of which a copy is made."""

MOST_COPIED = 4 * 2**30
"""Bytes of these files together, as their sizes say: a sparse file would fill the disk."""


class CopyError(Exception):
    """A copy can't be made."""


class Snapshot(Struct, frozen=True):
    """The state of a folder with which copies begin. Of one in no repository each copy finds it by itself.

    `base` is a commit of it, and `tree` its tree. `kept` are the commits of agents that have worked in copies of the
    repository, by their refs.
    """

    repository: Repository | None
    base: str = ""
    tree: str = ""
    kept: Mapping[str, str] = {}


class About(Struct, frozen=True):
    """The description of a copy: that of `top`, made for an agent that works in the folder `prefix` below it.

    `base` is the commit that it began with, and `tree` the tree of that.
    """

    run_id: str
    agent: str
    top: str
    prefix: str
    base: str
    own: OwnGit
    repository: Repository | None = None
    tree: str = ""


class Change(Struct, frozen=True):
    """A file that the agent has changed, by its path from the top. An entry is None where there is no file."""

    path: bytes
    before: Entry | None
    after: Entry | None


class Entry(Struct, frozen=True):
    """A file as git knows it: mode, such as `100755`, and content. That of a link is where it leads."""

    mode: str
    content: bytes


class Copy:
    """A copy for the run of this id."""

    def __init__(self, run_id: str, agent: str, environment: Environment) -> None:
        self._home = copies_folder(environment) / run_id
        self._run_id = run_id
        self._agent = agent
        self._environment = environment
        self._lock: int | None = None
        self._about: About | None = None
        self._files: TrackedFiles | None = None
        self._changes: tuple[str, list[Change]] = ("", [])
        self._may_have_ref = True
        self._has_failed = False

    @property
    def tree(self) -> Path:
        """The folder that is the copy."""
        return self._home / "tree"

    @property
    def about(self) -> About:
        """The description of the copy, which has to be open."""
        assert self._about is not None
        return self._about

    @property
    def folder(self) -> Path:
        """Where in the copy the agent works."""
        return self.tree / self.about.prefix

    @property
    def ref(self) -> str:
        """The name of the commit that keeps the work."""
        return f"refs/axe/{self._run_id}"

    @property
    def where(self) -> str:
        """The same for a person, with the command that shows it."""
        from shlex import quote

        own = self.about.own
        folder = "" if self.about.repository is not None else f"--git-dir={quote(own.folder)} "
        return f"{self.ref} (`git {folder}show {self.ref}`)"

    def mirror(self) -> Mirror:
        """Return the copy as one of two that are kept alike. Raises GitError."""
        return Mirror(self._tracked)

    @property
    def base_tree(self) -> str:
        """The tree of the commit that it began with. Raises GitError."""
        return self.about.tree or tree_of(self.about.own, self.about.base)

    @property
    def ignored(self) -> str:
        """The ignored names beside those of its own files of them."""
        own = self.about.own
        files = (Path(own.folder, "info", "exclude"), Path(own.ignored or os.devnull))
        return "\n".join(each.read_text("utf-8", "replace") for each in files if each.exists())

    def open(self, folder: Path) -> None:
        """Make a copy of a folder as it is, or with the work that a former process has left.

        Raises CopyError.
        """
        self.claim(folder)
        self.make(folder, self.snapshot(folder))

    # The three steps of that. The second one can be made for several copies at once. Each raises CopyError.

    def claim(self, folder: Path) -> None:
        """Keep other processes from using it."""
        with _told(folder):
            folders = self._home.parent
            folders.mkdir(parents=True, exist_ok=True, mode=0o700)
            with locked(folders / "lock"):
                for each in _left_behind(folders):
                    Copy(each, "", self._environment).rescue()
                self._home.mkdir(exist_ok=True, mode=0o700)
                if not self._take():
                    raise OSError("another process uses the copy of this run")

    def snapshot(self, folder: Path) -> Snapshot:
        """Return the state of a folder."""
        with _told(folder):
            folder = Path(os.path.realpath(folder))
            repository = repository_of(folder, self._environment, self._home.parent)
            if repository is None:
                return Snapshot(None)
            top = Path(repository.top)
            own = self._new_own(repository)
            files = self._checked(top, files_in_repository(repository, self._environment))
            tree = self._tree_of(top, own, files, repository)
            base = commit(own, tree, repository.head, _message(top))
            return Snapshot(repository, base, tree, kept_commits(repository, self._environment))

    def make(self, folder: Path, snapshot: Snapshot) -> None:
        """Make a copy of a folder with that state, or with the work that a former process has left."""
        with _told(folder):
            folder = Path(os.path.realpath(folder))
            repository = snapshot.repository
            if repository is None:
                own, kept, base, tree = self._plain(folder)
                top = folder
            else:
                own, top = self._new_own(repository), Path(repository.top)
                kept, base, tree = snapshot.kept.get(self.ref, ""), snapshot.base, snapshot.tree
            if kept:
                base = own("rev-parse", "--verify", f"{kept}^").decode().strip()
                tree = ""
            self._may_have_ref = bool(kept)
            prefix = os.path.relpath(folder, top)
            self._about = About(
                self._run_id, self._agent, str(top), prefix, base, own, repository, tree
            )
            (self._home / "about").write_bytes(msgspec.json.encode(self._about))
            self._check_out(kept or base)
            self._files = TrackedFiles(
                own, self.tree, self._index, tree_of(own, kept) if kept else tree
            )

    def collect(self) -> str:
        """Keep the work of the agent as a commit; returns its id, "" if nothing has changed.

        Raises GitError or OSError. Then the copy is not deleted when it is closed.
        """
        about = self.about
        self._has_failed = True
        # Of a call of git that was killed: nobody else uses our index.
        self._index.with_name("index.lock").unlink(missing_ok=True)
        tree = self._tracked.now()
        if tree == self.base_tree:
            self.drop()
            kept = ""
        else:
            message = f"Changes of agent {about.agent}\n\nRun {about.run_id}\n"
            kept = commit(about.own, tree, about.base, message)
            self._set_ref(kept)
        self._has_failed = False
        return kept

    @property
    def is_stuck(self) -> bool:
        """Whether its work could not be kept as a commit, so that its files are all that there is of it."""
        return self._has_failed and Path(self.about.own.objects).is_dir()

    def changes(self, kept: str) -> list[Change]:
        """Return the changes that a commit keeps, which are read once. Raises GitError."""
        if self._changes[0] != kept:
            self._changes = kept, self._read_changes(kept)
        return self._changes[1]

    def _read_changes(self, kept: str) -> list[Change]:
        own = self.about.own
        found = diff_entries(own, self.about.base, kept)
        ids = [name for each in found for name in (each.old, each.new) if name.strip("0")]
        of = contents(own, ids)

        def entry(mode: str, name: str) -> Entry | None:
            return Entry(mode, of[name]) if name.strip("0") else None

        return [
            Change(each.path, entry(each.old_mode, each.old), entry(each.new_mode, each.new))
            for each in found
        ]

    def repositories(self, changes: Iterable[Change]) -> list[str]:
        """Return the repositories of the agent in the copy in which there are changes, by their paths from the top."""
        folders = {
            above for each in changes for above in PurePosixPath(os.fsdecode(each.path)).parents
        }
        inside = (each for each in folders if each.name)  # The top is that of the copy.
        return sorted(str(each) for each in inside if (self.tree / each / ".git").exists())

    def drop(self) -> None:
        """Delete the ref of work that is where it belongs. Raises GitError."""
        self._set_ref("")

    def leave(self) -> str:
        """Delete the copy of a run that has ended early; returns the commit that keeps its work, or ""."""
        kept = ""
        if self._is_ready:
            with suppress(GitError, OSError):  # The repository may be gone.
                kept = self.collect()
        self.close()
        return kept

    def close(self) -> None:
        """Delete the copy. What is kept as a commit stays, and so does a copy that is stuck."""
        if self._about is not None:
            if not self.is_stuck:
                self._remove_tree()
                is_kept = self._about.repository is None and self._may_have_ref
                if not (is_kept and _has_ref(self._about.own, self.ref)):
                    remove(self._home)
        elif self._lock is not None:
            known = _known_own(self._home)
            if known is None or not _has_ref(known, self.ref):
                remove(self._home)
        self._unlock()

    def rescue(self) -> None:
        """Bring the copy of a dead process to its end, unless another process uses it."""
        try:
            if not self._take():
                return
        except FileNotFoundError:  # Its process has just deleted it.
            return
        try:
            about = self._home / "about"
            if about.exists():
                self._about = msgspec.json.decode(about.read_bytes(), type=About)
        except (OSError, msgspec.DecodeError, msgspec.ValidationError):
            pass  # Its process has died before there was a copy.
        self.leave()

    # Making it.

    @property
    def _is_ready(self) -> bool:
        """Whether all files are there. A copy that is not whole would look as if files were deleted."""
        return self._about is not None and (self._home / "ready").exists() and self.tree.is_dir()

    @property
    def _index(self) -> Path:
        return self._home / "index"

    @property
    def _tracked(self) -> TrackedFiles:
        if self._files is None:
            self._files = TrackedFiles(self.about.own, self.tree, self._index)
        return self._files

    def _plain(self, folder: Path) -> tuple[OwnGit, str, str, str]:
        """Return, for a folder outside a repository, its git folder, the commit of kept work, the commit of the folder, and its tree."""
        known = _known_own(self._home)
        if known is not None and (kept := _commit_in(known, self.ref)):
            return known, kept, "", ""
        own = self._new_own(None)
        files = self._checked(folder, files_in_copy(own, folder, self._index))
        tree = write_tree(own, folder, self._index, files)
        return own, "", commit(own, tree, "", _message(folder)), tree

    def _new_own(self, repository: Repository | None) -> OwnGit:
        git = self._home / "git"
        remove(git)
        return make_own(git, repository, self._environment)

    def _checked(self, top: Path, files: set[bytes]) -> set[bytes]:
        """Return the files of a folder without those of copies. Raises OSError if they are too many or too large."""
        copies = os.fsencode(os.path.relpath(self._home.parent, top)) + b"/"
        if not copies.startswith(b"../"):
            files = {each for each in files if not each.startswith(copies)}
        if len(files) > MOST_FILES:
            raise OSError(f"it has {len(files):,} files, more than {MOST_FILES:,}")
        total, largest = 0, (0, "")
        for each in files:
            name = os.fsdecode(each)
            with suppress(OSError):  # It has been deleted.
                size = os.lstat(top / name).st_size
                total, largest = total + size, max(largest, (size, name))
        if total > MOST_COPIED:
            raise OSError(
                f"its files have {total:,} bytes, more than {MOST_COPIED:,}, {largest[0]:,} of them {largest[1]}; "
                "have git ignore files that the agent does not need"
            )
        return files

    def _tree_of(self, top: Path, own: OwnGit, files: set[bytes], repository: Repository) -> str:
        """Write the tree of the files. Only files that changed since the last copy of the folder are read."""
        name = digest_of(os.fsencode(f"{repository.top}\n{repository.common}"))
        remembered = cache_folder(self._environment) / "copies" / name
        # With the time of its change, by which git tells what may have changed after it was written.
        with suppress(OSError):
            shutil.copy2(remembered, self._index)
        try:
            tree = write_tree(own, top, self._index, files)
        except GitError:  # git may have deleted objects that no commit has.
            if not self._index.exists():
                raise
            self._index.unlink()
            tree = write_tree(own, top, self._index, files)
        with suppress(OSError):
            remembered.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            new = remembered.with_name(f"{name}.{self._run_id}")
            shutil.copy2(self._index, new)
            new.replace(remembered)
        return tree

    def _check_out(self, commit_id: str) -> None:
        about = self.about
        git: Path | None = None
        if about.repository is not None:
            with self._worktrees():
                git = add_worktree(about.repository, self.tree, about.base, self._environment)
        else:
            self.tree.mkdir()
        self._index.unlink(missing_ok=True)
        about.own("read-tree", "--reset", "-u", commit_id, tree=self.tree, index=self._index)
        if git is not None:  # For the agent's own calls of git.
            shutil.copy2(self._index, git / "index")
        self.folder.mkdir(parents=True, exist_ok=True)  # It may have no files.
        (self._home / "ready").touch()

    # Its end.

    def _remove_tree(self) -> None:
        repository = self.about.repository
        git = git_folder_of_worktree(repository, self.tree) if repository is not None else None
        remove(self.tree)
        if git is not None:
            with self._worktrees():
                remove(git)

    def _worktrees(self) -> AbstractContextManager[None]:
        """Lock the worktrees: `git worktree add` looks at all of them, and fails if one is half made or half deleted."""
        return locked(self._home.parent / "worktrees.lock")

    def _set_ref(self, commit_id: str) -> None:
        if not commit_id and not self._may_have_ref:
            return
        self._may_have_ref = True
        about = self.about
        if about.repository is not None:
            set_ref(about.repository, self.ref, commit_id, self._environment)
        elif commit_id:
            about.own("update-ref", self.ref, commit_id)
        else:
            about.own("update-ref", "-d", self.ref)

    # Who uses it.

    def _take(self) -> bool:
        """Lock it for this process; False if another one has it."""
        self._lock = take_lock(self._home / "lock")
        return self._lock is not None

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    """Convert GitError and OSError inside to a CopyError about the folder."""
    try:
        yield
    except (GitError, OSError) as error:
        raise CopyError(f"no copy of {folder} can be made: {error}") from error


def _message(top: Path) -> str:
    return f"{top.name} as agents found it\n"


def copies_folder(environment: Environment) -> Path:
    """Return where copies are. Raises ConfigError."""
    return state_folder(environment) / "copies"


def _has_ref(own: OwnGit, ref: str) -> bool:
    """Return whether our git folder has a ref. It has each in a file of its own."""
    return Path(own.folder, ref).exists()


def _commit_in(own: OwnGit, ref: str) -> str:
    """Return the commit of a ref in our git folder, "" if there is none. Raises GitError."""
    if not _has_ref(own, ref):
        return ""
    return own("rev-parse", "-q", "--verify", ref).decode().strip()


def _known_own(home: Path) -> OwnGit | None:
    """Return the git folder that was made for a copy outside a repository, None if there is none."""
    try:
        return msgspec.json.decode((home / "about").read_bytes(), type=About).own
    except (OSError, msgspec.DecodeError, msgspec.ValidationError):
        return None


def _left_behind(folders: Path) -> list[str]:
    """Return the copies that may have lost their processes. What is kept on purpose has no `tree`."""
    if sys.platform == "win32":  # Nothing says there whether a process uses them.
        return []
    found = (each for each in sorted(folders.iterdir()) if each.is_dir())
    return [
        each.name for each in found if (each / "tree").exists() or not (each / "about").exists()
    ]


def remove(folder: Path) -> None:
    """Delete a folder, also what the agent has made unwritable."""
    if not folder.exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for above, names, _ in os.walk(folder):  # It follows no links.
            for each in (Path(above), *(Path(above, name) for name in names)):
                if not each.is_symlink():
                    each.chmod(stat.S_IRWXU)
        shutil.rmtree(folder, ignore_errors=True)


def take_lock(file: Path, *, is_shared: bool = False, is_made: bool = True) -> int | None:
    """Lock a file for this process, which has it until it closes the descriptor; None if another one has it.

    A file that is not there `is_made`. Raises OSError.
    """
    descriptor = os.open(file, os.O_RDWR | (os.O_CREAT if is_made else 0), 0o600)
    if _is_locked(descriptor, is_shared):
        os.close(descriptor)
        return None
    return descriptor


if sys.platform == "win32":

    def _is_locked(_descriptor: int, _is_shared: bool) -> bool:
        """Return False: Windows has no such locks."""
        return False

    @contextmanager
    def locked(_: Path) -> Iterator[None]:
        """Lock nothing: on Windows, agents in separate processes are not kept apart."""
        yield

else:
    import fcntl

    def _is_locked(descriptor: int, is_shared: bool) -> bool:
        """Return whether another process has the lock, which this one has from now on otherwise."""
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            return True
        return False

    @contextmanager
    def locked(file: Path) -> Iterator[None]:
        """Do something that no other thread or process does at the same time."""
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)
