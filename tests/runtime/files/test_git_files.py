"""Files that git reads as a whole have limits, which hold once git has not ended soon."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from axe_lsp.runtime.files.git_files import GitWaitsError, output_of_git
from support.repositories import Repository, git

pytestmark = pytest.mark.process

MB = 2**20

_TEXTS = (
    *("HEAD", "config", "packed-refs", "shallow", "info/exclude", "refs/heads/main"),
    *("objects/info/alternates", "objects/info/commit-graphs/commit-graph-chain"),
    *("../.gitignore", "../sub/.gitignore", "../.gitattributes"),
)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "project", {"a.txt": "a\n", ".gitignore": "x\n"})


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process of git that waits for its input, in no repository."""
    source, sink = os.pipe()
    words = ["git", "hash-object", "--stdin"]
    with subprocess.Popen(words, cwd=tmp_path, stdin=source, stdout=subprocess.PIPE) as process:
        yield process
        process.kill()
    os.close(source)
    os.close(sink)


def enlarge(path: Path, size: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.truncate(path, size)


@pytest.mark.parametrize("name", _TEXTS)
def test_text_of_more_than_16_mb_is_named_with_its_size(
    repository: Repository, waiting: subprocess.Popen[bytes], name: str
) -> None:
    path = Path(os.path.normpath(repository.folder / ".git" / name))
    enlarge(path, 16 * MB + 1)
    refusal = f"{path} has 16,777,217 bytes, and git reads it as a whole; at most 16 MB are"
    with pytest.raises(GitWaitsError, match=refusal):
        output_of_git(waiting, repository.folder, 100)


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("packed-refs", 16 * MB),
        ("index", 1024 * MB),
        ("lfs/objects/ab/cd/abcd", 2048 * MB),
        ("objects/pack/pack-1.pack", 2048 * MB),
    ],
)
def test_file_within_its_limit_is_not_named(
    repository: Repository, waiting: subprocess.Popen[bytes], name: str, size: int
) -> None:
    enlarge(repository.folder / ".git" / name, size)
    assert output_of_git(waiting, repository.folder, 0.5) is None


def test_null_device_in_place_of_a_file_of_git_is_not_named(
    repository: Repository, waiting: subprocess.Popen[bytes]
) -> None:
    exclude = repository.folder / ".git/info/exclude"
    exclude.unlink(missing_ok=True)
    exclude.symlink_to(os.devnull)
    git(repository.folder, "config", "core.excludesFile", os.devnull)
    assert output_of_git(waiting, repository.folder, 0.5) is None


def test_alternates_in_a_circle_are_searched_once(
    repository: Repository, waiting: subprocess.Popen[bytes]
) -> None:
    objects = repository.folder / ".git/objects"
    (objects / "info").mkdir(exist_ok=True)
    (objects / "info/alternates").write_text("../objects\n../../.git/objects\n" * 40)
    assert output_of_git(waiting, repository.folder, 0.5) is None
