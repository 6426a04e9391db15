"""Files are written as a whole or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from axe_lsp.runtime.files.opening import temporary_name
from axe_lsp.runtime.files.regular_files import write_whole_file


def test_a_new_file_is_like_any_other_new_file(tmp_path: Path) -> None:
    usual = tmp_path / "usual"
    usual.touch()
    write_whole_file(tmp_path / "new", b"text")
    assert (tmp_path / "new").read_bytes() == b"text"
    assert (tmp_path / "new").stat().st_mode == usual.stat().st_mode


def test_a_file_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_whole_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("is_there", [True, False])
def test_a_file_gets_the_mode_that_is_wanted(tmp_path: Path, is_there: bool) -> None:
    path = tmp_path / "f"
    if is_there:
        path.write_bytes(b"old")
        path.chmod(0o644)
    write_whole_file(path, b"new", mode=0o600)
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_only_the_user_may_read_is_never_open_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda file: modes.append(os.fstat(file).st_mode & 0o777))
    path = tmp_path / "f"
    write_whole_file(path, b"new", mode=0o600)
    path.chmod(0o640)
    write_whole_file(path, b"newer")
    assert modes[0] == 0o600
    assert modes[1] & ~0o640 == 0


def test_a_link_leads_to_the_file_that_changes(tmp_path: Path) -> None:
    path, link = tmp_path / "f", tmp_path / "link"
    path.write_bytes(b"old")
    link.symlink_to(path)
    write_whole_file(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_whole_file(pipe, b"text")
    reader.join()
    assert read == [b"text"]
    assert pipe.is_fifo()


def test_what_fails_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_temporary_file_of_a_living_writer_is_left_alone(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl", reason="Windows does not let an open file be removed")
    file = tmp_path / "a.txt"
    temporary = tmp_path / temporary_name("a.txt")
    with temporary.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        write_whole_file(file, b"new")
        assert temporary.exists()
    assert file.read_bytes() == b"new"

    write_whole_file(file, b"newer")
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]


def test_link_in_place_of_a_temporary_file_is_not_followed(tmp_path: Path) -> None:
    users = tmp_path / "users"
    users.write_text("the user's")
    (tmp_path / temporary_name("a.txt")).symlink_to(users)
    write_whole_file(tmp_path / "a.txt", b"new")
    assert users.read_text() == "the user's"
    assert (tmp_path / "a.txt").read_bytes() == b"new"
