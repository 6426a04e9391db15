"""git, as copies use it: nothing that a repository says makes it execute a program or open a connection.

Two kinds of calls. Those in the user's repository list files, add a worktree and set a ref; they run
without hooks, file system monitor and protocols. Everything that reads or writes contents has a git
folder of our own (`OwnGit`), which shares only the objects: no configuration of the repository is read,
and no attribute has an effect, so contents are bytes, without filters and conversions of line ends.
All calls block, except `in_thread`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from itertools import chain
from pathlib import Path
from typing import TypeVar

import anyio
from msgspec import Struct

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.git_files import LARGEST_TEXT_OF_GIT, GitWaitsError, output_of_git
from axe_lsp.runtime.files.regular_files import read_file
from axe_lsp.runtime.files.search_path import find_program, with_search_path
from axe_lsp.runtime.plain_text import decode, shown_path

_LIMIT = 600.0
"""Seconds for one call."""

_INHERITED = (
    "PATH",
    "HOME",
    "XDG_CONFIG_HOME",
    "USERPROFILE",
    "SYSTEMROOT",
    "GIT_CEILING_DIRECTORIES",
)
"""Hardly a variable of git: inside a hook they lead to another index."""

_HARMLESS = (
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "core.fsmonitor=false",
)

_CONFIG = """\
[core]
	repositoryformatversion = 1
	bare = false
	looseCompression = 1
[extensions]
	objectFormat = {object_format}
"""

_NO_ATTRIBUTES = "* -text !eol -ident -filter -working-tree-encoding !merge !diff\n"
"""In `info/attributes`, which comes before every other file of attributes."""

_NOT_COPIED = (".hg/", ".svn/", "node_modules/", "__pycache__/", ".venv/")
"""Outside git, where no ignore file may name them."""

_AUTHOR = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "axe-lsp"), ("EMAIL", "axe-lsp@localhost"))
}

_SHA256_DIGITS = 64

_LINK_TO_REPOSITORY = "160000"
"""The mode of a submodule."""


STOPPED: ContextVar[threading.Event | None] = ContextVar("STOPPED", default=None)
"""Set when the caller no longer waits for a thread that works with git."""


class GitError(Exception):
    """git has failed, or there is none."""


class UnreadableFileError(GitError):
    """A file that git has to read is a pipe, a device, a socket or too large."""


class Repository(Struct, frozen=True):
    """The user's repository. All paths are absolute.

    `git` is the git folder of the worktree with the folder `top`, `common` the one of all its worktrees.
    `head` is the current commit, "" if there is none. `ignored` is the user's file of ignored names.
    """

    top: str
    git: str
    common: str
    object_format: str
    head: str
    ignored: str


class OwnGit(Struct, frozen=True):
    """A git folder of our own. `objects` is where the contents are."""

    folder: str
    objects: str
    environment: Mapping[str, str]
    ignored: str = ""

    def __call__(
        self,
        *arguments: str,
        tree: Path | None = None,
        index: Path | None = None,
        stdin: bytes = b"",
    ) -> bytes:
        """Return the output of a command of git about a folder and an index. Raises GitError."""
        variables = {
            **_inherited(self.environment),
            **_AUTHOR,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_DIR": self.folder,
            "GIT_OBJECT_DIRECTORY": self.objects,
        }
        if tree is not None:
            variables["GIT_WORK_TREE"] = str(tree)
        if index is not None:
            variables["GIT_INDEX_FILE"] = str(index)
        ignored = ("-c", f"core.excludesFile={self.ignored}") if self.ignored else ()
        return _git((*ignored, *arguments), variables, tree, stdin, Path(self.objects))


def repository_of(
    folder: Path, environment: Environment, ceiling: Path | None = None
) -> Repository | None:
    """Return the repository of which a folder is a part; None if it is none, or the repository ignores it.

    That of a folder below `ceiling` is not looked for above it. Raises GitError if there is no git.
    """
    if ceiling is not None:
        environment = {**environment, "GIT_CEILING_DIRECTORIES": str(ceiling)}
    asked = ("--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--show-object-format")
    try:
        found = _in_folder(folder, environment, "rev-parse", "--path-format=absolute", *asked)
    except (_NoGitError, UnreadableFileError):
        raise
    except GitError:  # It is not a repository, is bare, or belongs to another user.
        return None
    told = os.fsdecode(found).rstrip("\n").split("\n")
    if len(told) != len(asked):  # A line end in the path of a folder.
        return None
    top, git, common, object_format = told
    # The configuration names any folder as its worktree.
    if not os.path.lexists(Path(top, ".git")):
        return None
    if Path(top) != folder and _is_said(folder, environment, "check-ignore", "-q", str(folder)):
        return None
    head = _said(folder, environment, "rev-parse", "-q", "--verify", "HEAD^{commit}")
    ignored = _said(folder, environment, "config", "--type=path", "--get", "core.excludesFile")
    return Repository(top, git, common, object_format, head, ignored)


def make_own(
    folder: Path,
    repository: Repository | None,
    environment: Environment,
    object_format: str = "sha1",
) -> OwnGit:
    """Return a new git folder of our own, with the object format of the repository if there is one.

    Raises GitError or OSError.
    """
    for each in ("refs", "objects", "info"):
        (folder / each).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/none\n")
    if repository is not None:
        object_format = repository.object_format
    (folder / "config").write_text(_CONFIG.format(object_format=object_format))
    (folder / "info" / "attributes").write_text(_NO_ATTRIBUTES)
    exclude = folder / "info" / "exclude"
    if repository is None:
        exclude.write_text("\n".join(_NOT_COPIED))
        return OwnGit(str(folder), str(folder / "objects"), _inherited(environment))
    users = Path(repository.common, "info", "exclude")
    exclude.write_bytes(_excluded(users))
    objects = str(Path(repository.common, "objects"))
    return OwnGit(str(folder), objects, _inherited(environment), repository.ignored)


def _excluded(file: Path) -> bytes:
    """Return the content of a file of ignored names, b"" if there is none. Raises UnreadableFileError."""
    try:
        return read_file(file, LARGEST_TEXT_OF_GIT) if file.is_file() else b""
    except OSError as error:
        raise UnreadableFileError(f"{shown_path(file)}: {error.strerror}") from error


def files_in_repository(repository: Repository, environment: Environment) -> set[bytes]:
    """Return the paths of the files of a repository, tracked and untracked, without those that it ignores.

    Those of submodules and of other repositories inside are among them.
    """
    found = set[bytes]()
    left = [(b"", repository)]
    while left:
        prefix, each = left.pop()
        files, inside = _listed(each, environment)
        found |= _below(prefix, files)
        left += [(prefix + path + b"/", nested) for path, nested in inside.items()]
    return found


def _listed(
    repository: Repository, environment: Environment
) -> tuple[set[bytes], dict[bytes, Repository]]:
    """Return the files of a repository, and the repositories inside it, by their paths in it."""
    tracked = _in_worktree(repository, environment, "ls-files", "-z", "--stage")
    files, inside = set[bytes](), set[bytes]()
    for line in filter(None, tracked.split(b"\0")):
        about, _, path = line.partition(b"\t")
        is_submodule = about.startswith(_LINK_TO_REPOSITORY.encode())
        (inside if is_submodule else files).add(path)
    others = _in_worktree(
        repository, environment, "ls-files", "-z", "--others", "--exclude-standard"
    )
    untracked, repositories = _told_apart(others)
    files |= untracked
    top = Path(repository.top).resolve()  # No link below it is followed.
    found: dict[bytes, Repository] = {}
    for path in inside | repositories:
        folder = Path(repository.top, os.fsdecode(path))
        if folder.is_symlink():  # In the place of a submodule.
            files.add(path)
            continue
        nested = repository_of(folder, environment) if folder.is_dir() else None
        # One that is not checked out is an empty folder of the repository around it, and other worktrees of this one
        # are no part of it.
        if nested is None or Path(nested.top) != top / os.fsdecode(path):
            continue
        if nested.common != repository.common:
            found[path] = nested
    return files, found


def files_in_copy(own: OwnGit, tree: Path, index: Path) -> set[bytes]:
    """Return the paths of the files of a copy, those of the index and others, without ignored ones.

    Those of repositories inside are among them, and no configuration of these is read.
    """
    found = set[bytes]()
    left = [b""]
    while left:
        prefix = left.pop()
        cached = ("--cached",) if not prefix and index.exists() else ()
        listed = own(
            *("ls-files", "-z", *cached, "--others", "--exclude-standard"),
            tree=tree / os.fsdecode(prefix),
            index=index if not prefix else index.with_name("no-index"),
        )
        files, repositories = _told_apart(listed)
        found |= _below(prefix, files)
        for path in repositories:
            if not (tree / os.fsdecode(prefix + path)).is_symlink():
                left.append(prefix + path + b"/")
    return found


def changed_files(own: OwnGit, tree: Path, index: Path) -> set[bytes] | None:
    """Return the paths of the files of a copy that are not as the index has them, without ignored ones.

    None if there is a repository inside whose files the index lacks: `files_in_copy` finds them.
    """
    listed = own(
        *("ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard"),
        tree=tree,
        index=index,
    )
    files, repositories = _told_apart(listed)
    return None if repositories else files


def write_tree(own: OwnGit, tree: Path, index: Path, files: Iterable[bytes]) -> str:
    """Store the state of these files below a folder; returns the id of the tree.

    `index` is ours, and remembers the state of the files, so that only changed ones are read.
    """
    wanted = {*files}
    known = own("ls-files", "-z", tree=tree, index=index) if index.exists() else b""
    gone = [path for path in known.split(b"\0") if path and path not in wanted]
    if gone:
        own(
            *("update-index", "--force-remove", "-z", "--stdin"),
            tree=tree,
            index=index,
            stdin=b"\0".join(gone),
        )
    return write_changes(own, tree, index, wanted)


def write_changes(own: OwnGit, tree: Path, index: Path, changed: Iterable[bytes]) -> str:
    """Store these files, which have changed since the index was written; returns the id of the tree of all files."""
    own(
        *("update-index", "--add", "--remove", "--replace", "-z", "--stdin"),
        tree=tree,
        index=index,
        stdin=b"\0".join(sorted(changed)),
    )
    return own("write-tree", tree=tree, index=index).decode().strip()


class DiffEntry(Struct, frozen=True):
    """A path in which two trees differ, with mode and id of its file in each; of zeros where there is none."""

    path: bytes
    old_mode: str
    new_mode: str
    old: str
    new: str


def diff_entries(own: OwnGit, before: str, after: str) -> list[DiffEntry]:
    """Return the differences between two trees or commits."""
    raw = own("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", before, after)
    parts = raw.split(b"\0")
    pairs = (
        (parts[i].decode().lstrip(":").split(), parts[i + 1]) for i in range(0, len(parts) - 1, 2)
    )
    return [DiffEntry(path, *about[:4]) for about, path in pairs]


def contents(own: OwnGit, ids: Sequence[str]) -> dict[str, bytes]:
    """Return the contents of these ids."""
    if not ids:
        return {}
    answer = own("cat-file", "--batch", stdin="".join(f"{each}\n" for each in ids).encode())
    found: dict[str, bytes] = {}
    at = 0
    while at < len(answer):
        end = answer.index(b"\n", at)
        name, _, size = answer[at:end].decode().split()
        found[name] = answer[end + 1 : end + 1 + int(size)]
        at = end + 1 + int(size) + 1
    return found


def timeless_commit(own: OwnGit, tree: str, parent: str = "") -> str:
    """Store a commit that has the same id wherever and whenever it is made of the same tree; returns that."""
    who = "axe-lsp <axe-lsp@localhost> 0 +0000"
    parents = f"parent {parent}\n" if parent else ""
    text = f"tree {tree}\n{parents}author {who}\ncommitter {who}\n\nThe folder as agents found it\n"
    return store(own, "commit", text.encode(), len(tree))


def store(own: OwnGit, kind: str, content: bytes, digits: int) -> str:
    """Store an object as git does, without a process; returns its id of so many digits. Raises GitError."""
    import hashlib

    data = f"{kind} {len(content)}\0".encode() + content
    name = hashlib.new("sha256" if digits == _SHA256_DIGITS else "sha1", data).hexdigest()
    place = Path(own.objects, name[:2], name[2:])
    try:
        if not place.exists():
            place.parent.mkdir(exist_ok=True)
            # git deletes files of this name that a killed process has left.
            file, new = tempfile.mkstemp(prefix="tmp_obj_", dir=place.parent)
            with os.fdopen(file, "wb") as opened:
                opened.write(zlib.compress(data, 1))
                opened.flush()
                os.fsync(opened.fileno())  # As git does: another commit may need the same object.
            Path(new).chmod(0o444)
            Path(new).replace(place)
    except OSError as error:
        raise GitError(f"nothing can be stored in {own.objects}: {error.strerror}") from error
    return name


def tree_of(own: OwnGit, commit_id: str) -> str:
    """Return the tree of a commit."""
    return own("rev-parse", "--verify", f"{commit_id}^{{tree}}").decode().strip()


def pack_of(own: OwnGit, wanted: Sequence[str], known: Sequence[str]) -> bytes:
    """Return a pack of commits, without the objects of the `known` commits."""
    revisions = [*wanted, *(f"^{each}" for each in _existing(own, known))]
    pack = ("pack-objects", "--revs", "--thin", "--stdout", "-q", "--delta-base-offset")
    try:
        return own(*pack, stdin="".join(f"{each}\n" for each in revisions).encode())
    except GitError:
        if len(revisions) == len(wanted):
            raise
        return pack_of(own, wanted, ())  # A part of what is known is lost here.


def _existing(own: OwnGit, ids: Sequence[str]) -> list[str]:
    """Return those that are commits here."""
    if not ids:
        return []
    asked = "".join(f"{each}\n" for each in ids).encode()
    told = own("cat-file", "--batch-check=%(objecttype) %(objectname)", stdin=asked).decode()
    found = (line.split() for line in told.splitlines())
    return [name for kind, name in found if kind == "commit"]


def commit(own: OwnGit, tree: str, parent: str, message: str) -> str:
    """Store a commit; returns its id."""
    parents = ("-p", parent) if parent else ()
    return own("commit-tree", *parents, tree, stdin=message.encode()).decode().strip()


def add_worktree(
    repository: Repository, folder: Path, commit_id: str, environment: Environment
) -> Path:
    """Add an empty worktree whose HEAD is a commit; returns where git keeps what it knows of it.

    No other worktree may be added or deleted at the same time.
    """
    if _is_plain(repository):
        return _made_worktree(repository, folder, commit_id)
    add = ("worktree", "add", "--detach", "--no-checkout", str(folder), commit_id)
    _in_worktree(repository, environment, *add)
    made = git_folder_of_worktree(repository, folder)
    if made is None:
        raise GitError("git does not know the worktree that it has made")
    return made


def _is_plain(repository: Repository) -> bool:
    """Return whether worktrees of a repository are only the files that every version of git knows."""
    common = Path(repository.common)
    special = (
        common / "reftable",
        common / "config.worktree",
        Path(repository.git, "config.worktree"),
    )
    return not any(each.exists() for each in special)


def _made_worktree(repository: Repository, folder: Path, commit_id: str) -> Path:
    """Return the same as git's own command, which starts three processes (gitrepository-layout(5))."""
    folder.mkdir()
    git = Path(repository.common, "worktrees", folder.parent.name)
    shutil.rmtree(git, ignore_errors=True)  # Of a killed process.
    git.mkdir(parents=True)
    # `git worktree prune` leaves it alone while it is made.
    (git / "locked").write_text("initializing")
    (folder / ".git").write_bytes(b"gitdir: " + os.fsencode(git) + b"\n")
    (git / "gitdir").write_bytes(os.fsencode(folder / ".git") + b"\n")
    (git / "commondir").write_text("../..\n")
    (git / "HEAD").write_text(f"{commit_id}\n")
    (git / "refs").mkdir()
    (git / "locked").unlink()
    return git


def git_folder_of_worktree(repository: Repository, folder: Path) -> Path | None:
    """Return where git keeps what it knows of a worktree, whatever has become of the worktree itself."""
    worktrees = Path(repository.common, "worktrees")
    named = worktrees / folder.parent.name
    if named.is_dir() and not (named / "gitdir").exists():  # Half made.
        return named
    for each in chain((named / "gitdir",), worktrees.glob("*/gitdir")):
        with suppress(OSError):
            if Path(os.fsdecode(each.read_bytes()).strip()) == folder / ".git":
                return each.parent
    return None


def set_ref(repository: Repository, ref: str, commit_id: str, environment: Environment) -> None:
    """Set a ref of the user's repository, or delete it if the commit is ""."""
    change = ("update-ref", ref, commit_id) if commit_id else ("update-ref", "-d", ref)
    _in_worktree(repository, environment, *change)


def common_commit(repository: Repository, revision: str, environment: Environment) -> str:
    """Return the last commit that a revision and HEAD have in common, else that of the revision. Raises GitError."""
    asked = ("rev-parse", "-q", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    try:
        named = _in_worktree(repository, environment, *asked).decode().strip()
    except GitError as error:
        raise GitError(f"git knows no commit {quoted(revision)}") from error
    try:
        base = _in_worktree(repository, environment, "merge-base", named, "HEAD")
    except GitError:  # They have none, as in a clone without its history.
        return named
    return base.decode().strip()


def files_in_commit(
    repository: Repository, commit_id: str, environment: Environment
) -> dict[bytes, str]:
    """Return the ids of the contents of all files of a commit, by path from the repository's folder. Raises GitError."""
    listed = _in_worktree(repository, environment, "ls-tree", "-r", "-z", "--full-tree", commit_id)
    found: dict[bytes, str] = {}
    for line in filter(None, listed.split(b"\0")):
        about, _, path = line.partition(b"\t")
        mode, _, id_ = about.decode().split()
        if mode != _LINK_TO_REPOSITORY:
            found[path] = id_
    return found


def kept_commits(repository: Repository, environment: Environment) -> dict[str, str]:
    """Return the commits of all refs of agents that have worked in copies of a repository."""
    asked = ("for-each-ref", "--format=%(refname) %(objectname)", "refs/axe/")
    listed = _said(Path(repository.top), environment, *asked)
    return dict(line.split() for line in listed.splitlines())


class _NoGitError(GitError):
    """There is no git."""


def _told_apart(listed: bytes) -> tuple[set[bytes], set[bytes]]:
    """Split a listing into files and nested repositories, which are listed as folders."""
    paths = {path for path in listed.split(b"\0") if path}
    repositories = {path for path in paths if path.endswith(b"/")}
    return paths - repositories, {path.rstrip(b"/") for path in repositories}


def _below(prefix: bytes, paths: set[bytes]) -> set[bytes]:
    return {prefix + path for path in paths} if prefix else paths


def _in_worktree(repository: Repository, environment: Environment, *arguments: str) -> bytes:
    # Said twice: the repository could name another folder as its worktree.
    variables = {
        **_inherited(environment),
        "GIT_DIR": repository.git,
        "GIT_WORK_TREE": repository.top,
    }
    return _git((*_HARMLESS, *arguments), variables, Path(repository.top))


def _in_folder(folder: Path, environment: Environment, *arguments: str) -> bytes:
    return _git((*_HARMLESS, *arguments), _inherited(environment), folder)


def _said(folder: Path, environment: Environment, *arguments: str) -> str:
    """Return the output of a command, "" if it fails."""
    try:
        return os.fsdecode(_in_folder(folder, environment, *arguments)).strip("\n")
    except UnreadableFileError:
        raise
    except GitError:
        return ""


def _is_said(folder: Path, environment: Environment, *arguments: str) -> bool:
    """Return whether a command ends with the code 0."""
    try:
        _in_folder(folder, environment, *arguments)
    except UnreadableFileError:
        raise
    except GitError:
        return False
    return True


def _inherited(environment: Mapping[str, str]) -> dict[str, str]:
    outside = with_search_path(environment)
    return {name: outside[name] for name in _INHERITED if outside.get(name)}


def _git(
    arguments: Sequence[str],
    variables: Mapping[str, str],
    folder: Path | None,
    stdin: bytes = b"",
    objects: Path | None = None,
) -> bytes:
    fixed = {
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
    }
    program = find_program("git", variables)
    if program is None:
        raise _NoGitError("git is not installed on this machine")
    try:
        # A file: `communicate` loses what it has not yet written when its time is over.
        with tempfile.TemporaryFile() if stdin else Path(os.devnull).open("rb") as file:
            if stdin:
                file.write(stdin)
                file.seek(0)
            process = subprocess.Popen(
                [program, *arguments],
                cwd=folder,
                env={**fixed, **variables},
                stdin=file,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
    except OSError as error:
        raise GitError(f"git could not be executed: {error}") from error
    with process:
        output, errors = _ended(process, folder, objects)
    if process.returncode:
        said = decode(errors).strip().splitlines()
        raise GitError(said[-1] if said else f"git ended with code {process.returncode}")
    return output


def _ended(
    process: subprocess.Popen[bytes], folder: Path | None, objects: Path | None
) -> tuple[bytes, bytes]:
    """Return the output of git until its end, which comes early if the thread is `STOPPED`."""
    stopped = STOPPED.get()
    is_stopped = stopped.is_set if stopped is not None else lambda: False
    try:
        output = output_of_git(process, folder, _LIMIT, is_stopped, objects)
    except GitWaitsError as error:
        raise UnreadableFileError(str(error)) from error
    if output is None:
        raise GitError("git was ended")
    return output


_Result = TypeVar("_Result")


async def in_thread(work: Callable[[], _Result]) -> _Result:
    """Do work with git in a thread. A cancellation stops git, and waits for the thread."""
    stopped, is_over = threading.Event(), threading.Event()
    has_begun = False

    def stoppable() -> _Result:
        nonlocal has_begun
        has_begun = True
        STOPPED.set(stopped)  # In this thread's own context.
        try:
            return work()
        finally:
            is_over.set()

    try:
        return await anyio.to_thread.run_sync(stoppable, abandon_on_cancel=True)
    except anyio.get_cancelled_exc_class():
        stopped.set()
        if has_begun:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(is_over.wait)
        raise
