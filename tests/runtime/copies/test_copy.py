"""Copies of folders: what they begin with, what is kept of them, and what they leave alone."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from axe_lsp.runtime.copies.copy import Copy, CopyError, copies_folder
from support.repositories import Repository, git, write

FILES: dict[str, str | bytes] = {
    "a.txt": "one\ntwo\nthree\n",
    "gone.txt": "gone\n",
    "src/b.py": "b = 1\n",
    "picture.png": b"\x89PNG\0\xff\r\n",
    "run.sh": "#!/bin/sh\n",
    ".gitignore": "build/\n*.log\n",
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "home"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "project", FILES)
    (made.folder / "run.sh").chmod(0o755)
    made.git("commit", "-q", "-am", "mode")
    return made


@contextmanager
def copied(folder: Path, environment: dict[str, str], run_id: str = "r1") -> Iterator[Copy]:
    copy = Copy(run_id, "helper", environment)
    try:
        copy.open(folder)
        yield copy
    finally:
        copy.close()


def names(folder: Path) -> set[str]:
    """Return the files below a folder, without git's own."""
    found = (each for each in folder.rglob("*") if each.is_symlink() or each.is_file())
    return {each.relative_to(folder).as_posix() for each in found} - {".git"}


def changes(copy: Copy) -> dict[str, str]:
    """Return the changed files, with the letter of what has happened to them."""
    kept = copy.collect()
    if not kept:
        return {}
    letters = {(False, True): "A", (True, False): "D", (True, True): "M"}
    return {
        os.fsdecode(each.path): letters[each.before is not None, each.after is not None]
        for each in copy.changes(kept)
    }


def test_a_copy_begins_with_the_folder_as_it_is(
    repository: Repository, environment: dict[str, str]
) -> None:
    repository.write({"a.txt": "dirty\n", "new.txt": "untracked\n", "build/x": "x", "y.log": "y"})
    repository.write({"staged.txt": "staged\n"})
    repository.git("add", "staged.txt")
    repository.write({"staged.txt": "and changed\n"})
    (repository.folder / "gone.txt").unlink()
    (repository.folder / "link").symlink_to("src/b.py")

    with copied(repository.folder, environment) as copy:
        expected = {*FILES, "new.txt", "staged.txt", "link"} - {"gone.txt"}
        assert names(copy.folder) == expected
        for name in expected:
            assert (copy.folder / name).read_bytes() == (repository.folder / name).read_bytes()
        assert (copy.folder / "link").readlink() == Path("src/b.py")
        assert (copy.folder / "run.sh").stat().st_mode & stat.S_IXUSR
        assert changes(copy) == {}
        assert git(copy.folder, "status", "--porcelain") == ""
    assert not copy.tree.exists()


def test_index_head_branches_stash_and_configuration_stay_as_they_are(
    repository: Repository, environment: dict[str, str]
) -> None:
    repository.write({"a.txt": "stashed\n"})
    repository.git("stash")
    repository.write({"src/b.py": "b = 2\n", "staged.txt": "staged\n"})
    repository.git("add", "staged.txt")
    before = repository.state

    with copied(repository.folder, environment) as copy:
        write(copy.folder, {"a.txt": "changed\n"})
        assert changes(copy) == {"a.txt": "M"}

    assert repository.state == before
    assert repository.refs == ["refs/axe/r1"]
    assert repository.git("status", "--porcelain") == "A  staged.txt\n M src/b.py" or (
        repository.git("status", "--porcelain").split("\n") == [" M src/b.py", "A  staged.txt"]
    )
    assert repository.git("show", "refs/axe/r1:a.txt") == "changed"
    assert repository.git("diff", "--stat", "refs/axe/r1^", "refs/axe/r1").count("|") == 1


def test_all_kinds_of_changes_are_kept(repository: Repository, environment: dict[str, str]) -> None:
    with copied(repository.folder, environment) as copy:
        folder = copy.folder
        (folder / "gone.txt").unlink()
        (folder / "src/b.py").rename(folder / "src/c.py")
        (folder / "a.txt").chmod(0o755)
        write(folder, {"picture.png": b"\0\1", "new/deep.txt": "x", "build/out": "o", "v.log": "v"})
        (folder / "link").symlink_to("a.txt")
        write(folder, {"ümlaut \n.txt": "strange\n"})
        assert changes(copy) == {
            "gone.txt": "D",
            "src/b.py": "D",
            "src/c.py": "A",
            "a.txt": "M",
            "picture.png": "M",
            "new/deep.txt": "A",
            "link": "A",
            "ümlaut \n.txt": "A",
        }


def test_an_agent_that_commits_in_its_copy_has_changed_the_same_files(
    repository: Repository, environment: dict[str, str]
) -> None:
    before = repository.state
    with copied(repository.folder, environment) as copy:
        write(copy.folder, {"a.txt": "changed\n", "new.txt": "n\n"})
        git(copy.folder, "add", "-A")
        git(copy.folder, "commit", "-q", "-m", "work")
        assert changes(copy) == {"a.txt": "M", "new.txt": "A"}
    assert repository.state == before


def test_no_change_leaves_nothing(
    repository: Repository, environment: dict[str, str], tmp_path: Path
) -> None:
    with copied(repository.folder, environment) as copy:
        assert copy.collect() == ""
    assert repository.refs == []
    assert not [each for each in copies_folder(environment).iterdir() if each.is_dir()]
    assert not (repository.folder / ".git" / "worktrees").exists() or not list(
        (repository.folder / ".git" / "worktrees").iterdir()
    )


def test_a_repository_without_a_commit(tmp_path: Path, environment: dict[str, str]) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    git(folder, "init", "-q")
    write(folder, {"a.txt": "a\n"})
    with copied(folder, environment) as copy:
        assert names(copy.folder) == {"a.txt"}
        write(copy.folder, {"a.txt": "b\n"})
        assert changes(copy) == {"a.txt": "M"}


def test_a_folder_below_the_top_of_a_repository(
    repository: Repository, environment: dict[str, str]
) -> None:
    with copied(repository.folder / "src", environment) as copy:
        assert copy.folder == copy.tree / "src"
        assert names(copy.folder) == {"b.py"}
        assert (copy.tree / "a.txt").exists()


def test_an_ignored_folder_is_copied_by_itself(
    repository: Repository, environment: dict[str, str]
) -> None:
    repository.write({"build/x.txt": "x\n"})
    with copied(repository.folder / "build", environment) as copy:
        assert names(copy.folder) == {"x.txt"}
        assert copy.folder == copy.tree


def test_outside_git_a_folder_is_copied_without_what_it_ignores(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    folder = tmp_path / "plain"
    write(folder, {**FILES, "build/x": "x", "node_modules/y/z.js": "z", ".hidden": "h"})
    with copied(folder, environment) as copy:
        assert names(copy.folder) == {*FILES, ".hidden"}
        write(copy.folder, {"a.txt": "changed\n"})
        assert changes(copy) == {"a.txt": "M"}
        where = copy.where
    command = where.partition("`git ")[2].rstrip("`)")
    assert "\n+changed" in git(tmp_path, *shlex.split(command))
    assert not copy.tree.exists()
    assert not (folder / ".git").exists()


def test_line_ends_and_contents_are_bytes(
    repository: Repository, environment: dict[str, str]
) -> None:
    repository.write(
        {".gitattributes": "* text=auto eol=crlf\n*.id ident\n*.u working-tree-encoding=UTF-16\n"}
    )
    repository.git("config", "core.autocrlf", "true")
    contents: dict[str, str | bytes] = {
        "lf.txt": "a\nb\n",
        "crlf.txt": b"a\r\nb\r\n",
        "both.txt": b"a\r\nb\n",
        "x.id": "$Id$\n",
        "x.u": "no UTF-16",
    }
    repository.write(contents)
    with copied(repository.folder, environment) as copy:
        for name in contents:
            assert (copy.folder / name).read_bytes() == (repository.folder / name).read_bytes()
        assert changes(copy) == {}


def test_a_copy_of_a_copy(repository: Repository, environment: dict[str, str]) -> None:
    with copied(repository.folder, environment) as outer:
        write(outer.folder, {"outer.txt": "o\n"})
        with copied(outer.folder, environment, "r2") as inner:
            assert "outer.txt" in names(inner.folder)
            write(inner.folder, {"inner.txt": "i\n"})
            assert changes(inner) == {"inner.txt": "A"}
        assert changes(outer) == {"outer.txt": "A"}


def test_the_next_copy_reads_what_has_changed_meanwhile(
    repository: Repository, environment: dict[str, str]
) -> None:
    for number in range(5):
        repository.write({"a.txt": f"{number}\n"})  # The same length, and nearly the same moment.
        with copied(repository.folder, environment, f"r{number}") as copy:
            assert (copy.folder / "a.txt").read_text() == f"{number}\n"


def test_objects_that_git_has_deleted_are_stored_again(
    repository: Repository, environment: dict[str, str]
) -> None:
    repository.write({"new.txt": "untracked\n"})
    with copied(repository.folder, environment):
        pass
    repository.git("reflog", "expire", "--expire=now", "--all")
    repository.git("gc", "--prune=now", "-q")
    with copied(repository.folder, environment, "r2") as copy:
        assert (copy.folder / "new.txt").read_text() == "untracked\n"


@pytest.mark.parametrize("in_repository", [True, False])
def test_folder_with_a_sparse_file_is_refused_with_its_name(
    tmp_path: Path, repository: Repository, environment: dict[str, str], in_repository: bool
) -> None:
    folder = repository.folder if in_repository else tmp_path / "plain"
    folder.mkdir(exist_ok=True)
    (folder / "sparse.bin").touch()
    os.truncate(folder / "sparse.bin", 6 * 2**30)
    refusal = "more than 4,294,967,296, 6,442,450,944 of them sparse.bin; have git ignore"
    with pytest.raises(CopyError, match=refusal), copied(folder, environment):
        pass


@pytest.mark.parametrize("in_repository", [True, False])
def test_pipe_in_a_folder_is_left_out_of_its_copy(
    tmp_path: Path, repository: Repository, environment: dict[str, str], in_repository: bool
) -> None:
    folder = repository.folder if in_repository else tmp_path / "plain"
    folder.mkdir(exist_ok=True)
    (folder / "new.txt").write_text("new")
    os.mkfifo(folder / "pipe")
    with copied(folder, environment) as copy:
        assert "new.txt" in names(copy.folder)
        assert not (copy.folder / "pipe").exists()


_OF_GIT = (
    *(
        ".gitignore",
        "sub/.gitignore",
        ".git/info/exclude",
        ".git/config",
        ".git/HEAD",
        ".git/index",
    ),
    *(".git/packed-refs", ".git/refs/heads/main", ".git/objects/info/alternates", ".git"),
)


@pytest.mark.parametrize("is_link", [False, True], ids=["pipe", "link"])
@pytest.mark.parametrize("name", _OF_GIT)
def test_pipe_in_place_of_a_file_of_git_is_refused_by_name(
    repository: Repository, environment: dict[str, str], tmp_path: Path, name: str, is_link: bool
) -> None:
    path = repository.folder / name
    if name == ".git":
        path.rename(tmp_path / "elsewhere")
    if name == ".git/refs/heads/main":
        (repository.folder / ".git/HEAD").write_text("ref: refs/heads/main\n")
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(tmp_path / "pipe")
    if is_link:
        path.symlink_to(tmp_path / "pipe")
    else:
        (tmp_path / "pipe").rename(path)
    _is_refused_or_left_out(repository.folder, environment, name)


def _is_refused_or_left_out(folder: Path, environment: dict[str, str], name: str) -> None:
    """git itself refuses a `.git` that is a pipe, and ignores some links; nothing waits for the pipe."""
    refusal = ""
    try:
        with copied(folder, environment):
            pass
    except CopyError as error:
        refusal = str(error)
    if refusal:
        assert f"{name} is not a file, and git waits for its content" in refusal
    else:
        assert name.endswith(".git") or (folder / name).is_symlink()


@pytest.mark.parametrize("name", ["objects", ".git", ".git/modules/sub/HEAD", "elsewhere/HEAD"])
def test_pipe_in_place_of_an_object_or_a_file_of_a_submodule_is_refused_by_name(
    repository: Repository, environment: dict[str, str], tmp_path: Path, name: str
) -> None:
    top = repository.folder
    path = top / name if name != ".git" else top / "sub/.git"
    if name == "objects":
        head = git(top, "rev-parse", "HEAD")
        path = top / ".git/objects" / head[:2] / head[2:]
    else:
        other = Repository(tmp_path / "other", {"x.txt": "x\n"})
        repository.git("submodule", "add", "-q", str(other.folder), "sub")
    if name == "elsewhere/HEAD":
        path = tmp_path / name
        (top / ".git/modules/sub").rename(path.parent)
        (top / "sub/.git").write_text(f"gitdir: {path.parent}\n")
    path.unlink()
    os.mkfifo(path)
    _is_refused_or_left_out(top, environment, "/".join(path.parts[-2:]))


@pytest.mark.parametrize("file", ["HEAD", "commondir", "gitdir", "index"])
def test_pipe_in_place_of_a_file_of_a_worktree_is_refused_by_name(
    repository: Repository, environment: dict[str, str], tmp_path: Path, file: str
) -> None:
    git(repository.folder, "worktree", "add", "-q", str(tmp_path / "tree"))
    path = repository.folder / ".git/worktrees/tree" / file
    path.unlink()
    os.mkfifo(path)
    if file == "gitdir":  # Nothing reads it; only where git is slow, all pipes are searched for.
        with suppress(CopyError), copied(tmp_path / "tree", environment):
            pass
        return
    with (
        pytest.raises(CopyError, match=f"worktrees/tree/{file} is not a file, and git waits"),
        copied(tmp_path / "tree", environment),
    ):
        pass


def test_huge_file_in_place_of_a_file_of_git_is_refused_by_name(
    repository: Repository, environment: dict[str, str]
) -> None:
    with (repository.folder / ".git/packed-refs").open("wb") as file:
        file.truncate(6 * 2**30)
    with (
        pytest.raises(
            CopyError,
            match=r"\.git/packed-refs has 6,442,450,944 bytes, .*; at most 16 MB are accepted",
        ),
        copied(repository.folder, environment),
    ):
        pass


@pytest.fixture
def shared_clone(repository: Repository, tmp_path: Path) -> Path:
    """A clone whose objects are those of `repository`."""
    git(tmp_path, "clone", "-q", "--shared", str(repository.folder), "clone")
    return tmp_path / "clone"


@pytest.mark.parametrize("form", ["as git writes it", "relative", "quoted"])
def test_copy_of_a_shared_clone_has_the_files_of_its_alternate(
    repository: Repository, environment: dict[str, str], shared_clone: Path, form: str
) -> None:
    if form != "as git writes it":
        alternate = os.path.relpath(
            repository.folder / ".git/objects", shared_clone / ".git/objects"
        )
        line = alternate if form == "relative" else f'"{alternate}"'
        (shared_clone / ".git/objects/info/alternates").write_text(f"# one\n{line}\n")
    with copied(shared_clone, environment) as copy:
        assert names(copy.folder) == {*FILES}
        write(copy.folder, {"a.txt": "changed\n"})
        assert changes(copy) == {"a.txt": "M"}


@pytest.mark.parametrize(
    "name", ["head", "pack/multi-pack-index", "info/commit-graph", "info/alternates"]
)
@pytest.mark.parametrize("is_quoted", [False, True], ids=["plain", "quoted"])
def test_pipe_among_the_objects_of_an_alternate_is_refused_by_name(
    repository: Repository,
    environment: dict[str, str],
    shared_clone: Path,
    name: str,
    is_quoted: bool,
) -> None:
    objects = repository.folder / ".git/objects"
    if name == "head":
        head = repository.git("rev-parse", "HEAD")
        name = f"{head[:2]}/{head[2:]}"
    if is_quoted:
        escaped = str(objects).replace("o", r"\157")
        (shared_clone / ".git/objects/info/alternates").write_text(f'"{escaped}"\n')
    path = objects / name
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    refusal = f"{path} is not a file, and git waits for its content"
    with pytest.raises(CopyError, match=refusal), copied(shared_clone, environment):
        pass


@pytest.mark.parametrize(
    "key", ["[include] path", '[includeIf "gitdir:/"] path', "[core] excludesFile"]
)
def test_pipe_that_the_configuration_of_git_names_is_refused_by_name(
    repository: Repository, environment: dict[str, str], key: str
) -> None:
    section, _, name = key.rpartition(" ")
    path = repository.folder / "pipe"
    os.mkfifo(path)
    (repository.folder / ".git/more").write_text(f"{section}\n{name} = {path}\n")
    with (repository.folder / ".git/config").open("a") as config:
        config.write("[include]\npath = \\\nmore\n")
    refusal = f"{path} is not a file, and git waits for its content"
    with pytest.raises(CopyError, match=refusal), copied(repository.folder, environment):
        pass


def test_many_files(tmp_path: Path, environment: dict[str, str]) -> None:
    """More names than a pipe takes at once, and more work than git does in a moment."""
    many = {
        f"{number // 100:03}/{'x' * 40}{number:05}.txt": f"{number}\n" for number in range(5000)
    }
    repository = Repository(tmp_path / "many", many)
    with copied(repository.folder, environment) as copy:
        assert len(names(copy.folder)) == len(many)
        for name in list(many)[:500]:
            (copy.folder / name).write_text("changed\n")
        assert len(changes(copy)) == 500


def test_files_of_submodules_and_of_repositories_inside_are_copied_and_come_back(
    repository: Repository, environment: dict[str, str], tmp_path: Path
) -> None:
    other = Repository(tmp_path / "other", {"x.txt": "x\n", "built.o": "tracked\n"})
    repository.git("submodule", "add", "-q", str(other.folder), "sub")
    repository.git("submodule", "add", "-q", str(other.folder), "not-checked-out")
    repository.git("commit", "-q", "-m", "submodules")
    repository.git("submodule", "deinit", "-q", "-f", "not-checked-out")
    sub = repository.folder / "sub"
    write(sub, {".gitignore": "*.o\n", "new.o": "ignored\n", "x.txt": "dirty\n", "n.txt": "n\n"})
    nested = Repository(repository.folder / "nested", {"y.txt": "y\n", "in/side/.keep": ""})
    Repository(nested.folder / "deep", {"z.txt": "z\n"})
    repository.git("worktree", "add", "-q", "--detach", "other-worktree")
    states = repository.state, git(sub, "status", "-s"), nested.state
    with copied(repository.folder, environment) as copy:
        inside = {"sub/x.txt", "sub/n.txt", "sub/.gitignore", "sub/built.o"}
        inside |= {"nested/y.txt", "nested/in/side/.keep", "nested/deep/z.txt"}
        assert names(copy.folder) == {*FILES, ".gitmodules", *inside}
        assert (copy.folder / "sub" / "x.txt").read_text() == "dirty\n"
        write(copy.folder, {"sub/x.txt": "changed\n", "nested/deep/new.txt": "new\n"})
        (copy.folder / "nested" / "y.txt").unlink()
        expected = {"sub/x.txt": "M", "nested/deep/new.txt": "A", "nested/y.txt": "D"}
        assert changes(copy) == expected
    assert states == (repository.state, git(sub, "status", "-s"), nested.state)


def test_a_link_in_the_place_of_a_submodule_is_copied_and_not_followed(
    repository: Repository, environment: dict[str, str], tmp_path: Path
) -> None:
    other = Repository(tmp_path / "other", {"x.txt": "x\n"})
    for name in ("sub", "in/sub"):
        repository.git("submodule", "add", "-q", str(other.folder), name)
    repository.git("commit", "-q", "-m", "submodules")
    for name in ("sub", "in"):
        shutil.rmtree(repository.folder / name)
    Repository(tmp_path / "around" / "sub", {"y.txt": "y\n"})
    (repository.folder / "sub").symlink_to(other.folder)
    (repository.folder / "in").symlink_to(tmp_path / "around")
    with copied(repository.folder, environment) as copy:
        assert names(copy.folder) == {*FILES, ".gitmodules", "sub", "in"}
        assert (copy.folder / "sub").readlink() == other.folder
        assert changes(copy) == {}


@pytest.mark.parametrize("is_repository", [True, False])
def test_files_of_a_repository_that_the_agent_makes_are_not_lost(
    repository: Repository, environment: dict[str, str], tmp_path: Path, is_repository: bool
) -> None:
    folder = repository.folder if is_repository else tmp_path / "plain"
    write(folder, {"a.txt": "a\n"})
    with copied(folder, environment) as copy:
        made = Repository(copy.folder / "made", {"m.txt": "m\n", ".gitignore": "*.log\n"})
        made.write({"untracked.txt": "u\n", "x.log": "ignored\n"})
        made.git("config", "core.fsmonitor", "touch fsmonitor-was-here")
        expected = {"made/m.txt": "A", "made/.gitignore": "A", "made/untracked.txt": "A"}
        assert changes(copy) == expected
        assert not list(copy.tree.rglob("fsmonitor-was-here"))


def test_the_copy_of_a_process_that_has_died_is_kept_as_a_commit(
    repository: Repository, environment: dict[str, str]
) -> None:
    before = repository.state
    dead = Copy("dead", "helper", environment)
    dead.open(repository.folder)
    write(dead.folder, {"a.txt": "unfinished\n"})
    dead._unlock()  # As the system does when a process ends.

    with copied(repository.folder, environment, "next"):
        assert not dead.tree.exists()
    assert repository.git("show", "refs/axe/dead:a.txt") == "unfinished"
    assert repository.state == before

    with copied(repository.folder, environment, "dead") as again:
        assert (again.folder / "a.txt").read_text() == "unfinished\n"
        assert changes(again) == {"a.txt": "M"}


def test_a_copy_whose_work_cannot_be_kept_stays_until_it_can(
    repository: Repository, environment: dict[str, str]
) -> None:
    copy = Copy("stuck", "helper", environment)
    copy.open(repository.folder)
    write(copy.folder, {"a.txt": "changed\n"})
    index = copies_folder(environment) / "stuck" / "index"
    aside = index.rename(index.with_name("aside"))
    index.mkdir()

    assert copy.leave() == ""
    assert copy.is_stuck
    assert (copy.folder / "a.txt").read_text() == "changed\n"
    assert repository.refs == []

    index.rmdir()
    aside.rename(index)
    with copied(repository.folder, environment, "next"):
        assert not copy.tree.exists()
    assert repository.git("show", "refs/axe/stuck:a.txt") == "changed"


def test_a_lock_that_a_killed_git_has_left_keeps_no_work_back(
    repository: Repository, environment: dict[str, str]
) -> None:
    with copied(repository.folder, environment) as copy:
        write(copy.folder, {"a.txt": "changed\n"})
        (copies_folder(environment) / "r1" / "index.lock").touch()
        assert changes(copy) == {"a.txt": "M"}


def test_work_that_is_kept_outside_git_outlives_a_copy_that_is_not_made(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    write(folder, {"a.txt": "one\n"})
    with copied(folder, environment) as copy:
        write(copy.folder, {"a.txt": "changed\n"})
        assert copy.collect()

    stopped = Copy("r1", "helper", environment)
    stopped.claim(folder)
    stopped.close()
    with pytest.raises(CopyError), copied(folder, {**environment, "PATH": str(tmp_path)}):
        pass

    with copied(folder, environment) as again:
        assert (again.folder / "a.txt").read_text() == "changed\n"


def test_a_copy_that_was_not_whole_keeps_nothing(
    repository: Repository, environment: dict[str, str]
) -> None:
    dead = Copy("dead", "helper", environment)
    dead.open(repository.folder)
    (dead.tree.parent / "ready").unlink()
    (dead.folder / "a.txt").unlink()
    dead._unlock()
    with copied(repository.folder, environment, "next"):
        pass
    assert repository.refs == []
    assert not dead.tree.parent.exists()


def test_a_copy_in_use_is_left_alone(repository: Repository, environment: dict[str, str]) -> None:
    with copied(repository.folder, environment, "first") as first:
        with copied(repository.folder, environment, "second"):
            assert (first.folder / "a.txt").exists()
        assert (first.folder / "a.txt").exists()


def test_what_an_agent_has_made_unwritable_is_deleted_and_nothing_else(
    repository: Repository, environment: dict[str, str], tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o500)
    with copied(repository.folder, environment) as copy:
        locked = copy.folder / "locked"
        locked.mkdir()
        (locked / "x").write_text("x")
        (locked / "out").symlink_to(outside)
        locked.chmod(0o500)
    assert not copy.tree.exists()
    assert stat.S_IMODE(outside.stat().st_mode) == 0o500


def test_without_git_there_is_no_copy(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "plain").mkdir()
    copy = Copy("r1", "helper", {**environment, "PATH": str(tmp_path)})
    with pytest.raises(CopyError, match="git is not installed"):
        copy.open(tmp_path / "plain")
    copy.close()
    assert not copy.tree.parent.exists()


# -- repositories of strangers


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """Return a file that exists once a program of the stranger's has been executed."""
    return tmp_path / "executed"


@pytest.fixture
def program(tmp_path: Path, mark: Path) -> str:
    """Return a program of the stranger's."""
    path = tmp_path / "program"
    path.write_text(f"#!/bin/sh\necho $0 >> {mark}\ncat\n")
    path.chmod(0o755)
    return str(path)


def work_in_a_copy(repository: Repository, environment: dict[str, str]) -> None:
    with copied(repository.folder, environment) as copy:
        write(copy.folder, {"a.txt": "changed\n", "new.txt": "new\n"})
        kept = copy.collect()
        assert len(copy.changes(kept)) == 2
        copy.drop()


def test_no_hook_is_executed(
    repository: Repository, environment: dict[str, str], program: str, mark: Path
) -> None:
    hooks = repository.folder / ".git" / "hooks"
    elsewhere = repository.folder / "hooks"
    for folder in (hooks, elsewhere):
        folder.mkdir(exist_ok=True)
        for name in ("post-checkout", "reference-transaction", "post-index-change", "pre-commit"):
            (folder / name).write_text(Path(program).read_text())
            (folder / name).chmod(0o755)
    work_in_a_copy(repository, environment)
    repository.git("config", "core.hooksPath", str(elsewhere))
    work_in_a_copy(repository, environment)
    assert not mark.exists()
    repository.git("update-ref", "refs/heads/x", "HEAD")  # It would have been executed.
    assert mark.exists()


def test_no_filter_no_merge_driver_and_no_diff_of_a_repository_is_executed(
    repository: Repository, environment: dict[str, str], program: str, mark: Path
) -> None:
    for key in (
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.evil.command",
        "merge.evil.driver",
    ):
        repository.git("config", key, program)
    repository.write({".gitattributes": "* filter=evil diff=evil merge=evil\n"})
    (repository.folder / ".git" / "info" / "attributes").write_text("* filter=evil\n")
    work_in_a_copy(repository, environment)
    assert not mark.exists()


def test_no_file_system_monitor_is_executed(
    repository: Repository, environment: dict[str, str], program: str, mark: Path
) -> None:
    repository.git("config", "core.fsmonitor", program)
    for key in ("core.sshCommand", "core.pager", "core.editor", "core.askPass", "gpg.program"):
        repository.git("config", key, program)
    repository.git("config", "commit.gpgSign", "true")
    work_in_a_copy(repository, environment)
    assert not mark.exists()
    repository.git("status")
    assert mark.exists()


def test_a_configuration_that_names_another_folder_gets_no_copy_of_that(
    repository: Repository, environment: dict[str, str], tmp_path: Path
) -> None:
    write(tmp_path, {"secret.txt": "s\n"})
    repository.git("config", "core.worktree", str(tmp_path))
    with copied(repository.folder, environment) as copy:
        assert names(copy.tree) == set(FILES)


def test_a_link_is_copied_as_a_link(
    repository: Repository, environment: dict[str, str], tmp_path: Path
) -> None:
    write(tmp_path / "outside", {"secret.txt": "s\n"})
    (repository.folder / "out").symlink_to(tmp_path / "outside")
    with copied(repository.folder, environment) as copy:
        assert (copy.folder / "out").is_symlink()
        assert not any("secret" in each.name for each in copy.tree.rglob("*"))


def test_variables_of_git_lead_nowhere_else(
    repository: Repository,
    environment: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = Repository(tmp_path / "other", {"x.txt": "x\n"})
    for name, value in {
        "GIT_DIR": str(other.folder / ".git"),
        "GIT_WORK_TREE": str(other.folder),
        "GIT_INDEX_FILE": str(tmp_path / "index"),
    }.items():
        environment[name] = value
        monkeypatch.setenv(name, value)
    with copied(repository.folder, environment) as copy:
        assert names(copy.folder) == set(FILES)
    assert other.refs == []


def test_many_copies_of_one_repository_are_made_and_deleted_at_the_same_time(
    repository: Repository, environment: dict[str, str]
) -> None:
    def use(number: int) -> None:
        for turn in range(3):
            with copied(repository.folder, environment, f"r{number}-{turn}"):
                pass

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(use, range(16)))
    assert len(repository.git("worktree", "list").splitlines()) == 1


@pytest.fixture
def calls(tmp_path: Path, environment: dict[str, str]) -> Path:
    """Return a file with all calls of git, one a line."""
    log, real = tmp_path / "calls", shutil.which("git")
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {real} "$@"\n')
    program.chmod(0o755)
    environment["PATH"] = f"{program.parent}:{environment['PATH']}"
    return log


def test_copies_with_a_common_beginning_cost_two_calls_of_git_each(
    repository: Repository, environment: dict[str, str], calls: Path
) -> None:
    repository.write({"a.txt": "dirty\n", "new.txt": "n\n"})
    first, second = (Copy(each, "helper", environment) for each in ("r1", "r2"))
    for each in (first, second):
        each.claim(repository.folder)
    snapshot = first.snapshot(repository.folder)
    calls.write_text("")
    for each in (first, second):
        each.make(repository.folder, snapshot)
        assert (each.folder / "a.txt").read_text() == "dirty\n"
        assert each.collect() == ""
        each.close()
    assert [line.split()[0] for line in calls.read_text().splitlines()] == [
        "read-tree",
        "ls-files",
    ] * 2
    assert repository.refs == []


def test_what_is_kept_is_read_once(
    repository: Repository, environment: dict[str, str], calls: Path
) -> None:
    with copied(repository.folder, environment) as copy:
        write(copy.folder, {"a.txt": "changed\n"})
        kept = copy.collect()
        calls.write_text("")
        assert copy.changes(kept) == copy.changes(kept)
        assert len(calls.read_text().splitlines()) == 2


def test_a_copy_costs_as_many_calls_with_a_history_as_without(
    repository: Repository, environment: dict[str, str], calls: Path
) -> None:
    counts = []
    for number in range(3):  # The first one has no index of the folder.
        calls.write_text("")
        with copied(repository.folder, environment) as copy:
            assert copy.collect() == ""
        counts.append(len(calls.read_text().splitlines()))
        for commit in range(30):
            repository.write({"a.txt": f"{number} {commit}\n"})
            repository.git("commit", "-q", "-am", "more")
    assert counts[2] == counts[1]


def test_a_worktree_is_one_as_git_makes_it(
    repository: Repository, environment: dict[str, str]
) -> None:
    with copied(repository.folder, environment) as copy:
        repository.git("worktree", "prune")
        assert len(repository.git("worktree", "list").splitlines()) == 2
        assert git(copy.folder, "status", "--porcelain") == ""
        assert git(copy.folder, "rev-parse", "--abbrev-ref", "HEAD") == "HEAD"
        git(copy.folder, "switch", "-q", "-c", "work")
        write(copy.folder, {"a.txt": "b\n"})
        git(copy.folder, "stash")
        git(copy.folder, "stash", "pop")
        git(copy.folder, "commit", "-q", "-am", "work")
        assert changes(copy) == {"a.txt": "M"}
    assert len(repository.git("worktree", "list").splitlines()) == 1
    assert repository.git("log", "--format=%s", "-1", "work") == "work"
    repository.git("fsck", "--strict")


def test_a_repository_whose_worktrees_have_configurations_of_their_own(
    repository: Repository, environment: dict[str, str]
) -> None:
    repository.git("config", "extensions.worktreeConfig", "true")
    repository.git("config", "--worktree", "core.sparseCheckout", "true")
    with copied(repository.folder, environment) as copy:
        assert git(copy.folder, "config", "--worktree", "--list") != ""
        write(copy.folder, {"a.txt": "changed\n"})
        assert changes(copy) == {"a.txt": "M"}
    assert len(repository.git("worktree", "list").splitlines()) == 1


def test_a_linked_worktree_with_a_configuration_of_its_own(
    repository: Repository, environment: dict[str, str], tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    repository.git("config", "extensions.worktreeConfig", "true")
    repository.git("worktree", "add", "-q", "--detach", str(linked))
    git(linked, "config", "--worktree", "core.sparseCheckout", "true")
    with copied(linked, environment) as copy:
        assert git(copy.folder, "config", "--worktree", "--list") != ""


def test_a_worktree_that_a_killed_process_has_half_made_is_deleted(
    repository: Repository, environment: dict[str, str]
) -> None:
    dead = Copy("dead", "helper", environment)
    dead.open(repository.folder)
    kept = repository.folder / ".git" / "worktrees" / "dead"
    (kept / "gitdir").unlink()
    (kept / "locked").touch()
    (dead.tree.parent / "ready").unlink()
    dead._unlock()
    with copied(repository.folder, environment, "next"):
        assert not kept.exists()


@pytest.mark.parametrize("is_repository", [True, False])
def test_links_and_folders_that_take_each_others_place(
    repository: Repository, environment: dict[str, str], tmp_path: Path, is_repository: bool
) -> None:
    """Also to a folder with the very files that were there: nothing is read through the link."""
    folder = repository.folder if is_repository else tmp_path / "plain"
    write(folder, {"dir/x.txt": "x\n", "dir/y/z.txt": "z\n", "a.txt": "a\n"})
    outside = tmp_path / "outside"
    with copied(folder, environment) as copy:
        (copy.folder / "dir").rename(outside)
        (copy.folder / "dir").symlink_to(outside)
        (copy.folder / "a.txt").unlink()
        write(copy.folder, {"a.txt/deep.txt": "d\n"})
        assert changes(copy) == {
            "dir": "A",
            "dir/x.txt": "D",
            "dir/y/z.txt": "D",
            "a.txt": "D",
            "a.txt/deep.txt": "A",
        }


def test_repositories_deep_inside_each_other(
    repository: Repository, environment: dict[str, str]
) -> None:
    deepest = 60
    with copied(repository.folder, environment) as copy:
        folder = copy.folder
        for _ in range(deepest):
            folder = folder / "d"
            write(folder, {".git/HEAD": "ref: refs/heads/x\n", "f": "f\n"})
            for name in ("refs", "objects"):
                (folder / ".git" / name).mkdir()
        found = changes(copy)
        assert len(found) == deepest
        write(folder, {"late.txt": "l\n"})
        assert len(changes(copy)) == deepest + 1


def test_a_repository_in_a_folder_with_a_line_end_in_its_name(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    made = Repository(tmp_path / "line\nend", {"a.txt": "a\n"})
    with copied(made.folder, environment) as copy:
        assert names(copy.folder) == {"a.txt"}
        write(copy.folder, {"a.txt": "b\n"})
        assert changes(copy) == {"a.txt": "M"}
