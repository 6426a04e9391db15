"""What a repository's own configuration makes git start, as a remark for the user."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from axe_lsp.runtime.tools import git_configuration
from axe_lsp.runtime.tools.git_configuration import configured_programs
from axe_lsp.runtime.tools.tool import Workplace
from support.repositories import Repository

pytestmark = pytest.mark.process


def git(folder: Path, *words: str) -> None:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", *words], cwd=folder, env=environment, check=True)


async def remark(folder: Path, command: str = "git status") -> str:
    return await configured_programs(command, Workplace(folder, dict(os.environ)))


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("core.fsmonitor", "./evil", "core.fsmonitor"),
        ("core.fsmonitor", "true", ""),
        ("diff.evil.textconv", "x", "diff.evil.textconv"),
        ("core.editor", "x", "core.editor"),
        ("core.worktree", "..", "core.worktree"),
        ("url.https://user:secret@host/.insteadOf", "x", "url.….insteadof"),
        ("remote.origin.url", "https://example.com", ""),
        ("remote.origin.uploadpack", "x", "remote.origin.uploadpack"),
        ("branch.a/b.c.merge", "refs/heads/x", ""),
        ("user.name", "x", ""),
        ("lfs.extension.evil.clean", "./evil", "lfs.….clean"),
        ("lfs.customtransfer.evil.path", "./evil", "lfs.….path"),
        ("lfs.repositoryformatversion", "0", ""),
        ("lfs.https://example.com/a.git/info/lfs.access", "basic", ""),
        ("unknown.key", "x", "unknown.key"),
    ],
)
async def test_key_that_may_start_a_program_is_named(
    tmp_path: Path, key: str, value: str, shown: str
) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", key, value)
    told = await remark(tmp_path)
    assert told == (
        shown and f'the repository\'s configuration has "{shown}", by which git may start a program'
    )


async def test_repository_is_the_one_of_the_options_of_the_command(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "sub")
    git(tmp_path / "sub", "config", "core.pager", "./evil")
    assert await remark(tmp_path) == ""
    assert "core.pager" in await remark(tmp_path, "git -C sub log")
    assert "core.pager" in await remark(tmp_path / "sub", "time git -P log")
    assert await remark(tmp_path / "sub", "ls") == ""


async def test_hook_is_an_obstacle_only_for_commands_that_do_not_run_hooks_anyway(
    tmp_path: Path,
) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / ".git" / "hooks").mkdir(exist_ok=True)
    (tmp_path / ".git" / "hooks" / "post-index-change").touch()
    assert "post-index-change" in await remark(tmp_path)
    assert await remark(tmp_path, "git commit -m x") == ""
    assert await remark(tmp_path, "git push origin main") == ""


async def test_folder_without_a_repository_has_no_obstacle(tmp_path: Path) -> None:
    assert await remark(tmp_path) == ""


@pytest.mark.parametrize("name", ["config", "HEAD", "index", "modules/sub/config"])
async def test_pipe_in_place_of_a_file_of_git_is_named_without_a_wait_for_git(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_configuration, "_SECONDS", 10_000.0)
    repository = Repository(tmp_path / "top", {"a.txt": "a\n"})
    other = Repository(tmp_path / "other", {"x.txt": "x\n"})
    repository.git("submodule", "add", "-q", str(other.folder), "sub")
    path = repository.folder / ".git" / name
    path.unlink()
    os.mkfifo(path)
    assert f"{path} is not a file" in await remark(repository.folder)
