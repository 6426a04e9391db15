"""Nobody waits for a pipe, a device or an endless file that is in the place of a file."""

from __future__ import annotations

import os
import threading
import tracemalloc
from pathlib import Path

import pytest

from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.context_files import find_context_files
from axe_lsp.runtime.files.regular_files import LARGEST_FILE, read_file
from axe_lsp.runtime.files.user_config import load_user_config
from axe_lsp.runtime.memory import append_memory
from axe_lsp.runtime.prompt import load_skill
from axe_lsp.runtime.recordings.file import load_recording

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    os.mkfifo(path)
    return path


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "axe").symlink_to(tmp_path)
    return {"XDG_CONFIG_HOME": str(tmp_path)}


def test_a_pipe_is_no_file_to_be_read_or_added_to(pipe: Path) -> None:
    for use in (read_file, lambda path: append_memory(path, "task", "result")):
        with pytest.raises(OSError, match="it is not a regular file") as caught:
            use(pipe)
        assert caught.value.filename == str(pipe)


def test_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"text")
    assert read_file(tmp_path / "a") == b"text"
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "b")


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="there is no /dev/fd")
def test_what_a_shell_hands_over_is_read() -> None:
    read, write = os.pipe()
    writer = threading.Thread(target=lambda: (os.write(write, b"text"), os.close(write)))
    writer.start()
    assert read_file(Path(f"/dev/fd/{read}")) == b"text"
    writer.join()
    os.close(read)


def test_skills_recordings_and_settings_that_are_pipes_are_refused(
    pipe: Path, environment: dict[str, str]
) -> None:
    reason = f"{pipe.parent}.*config.toml: it is not a regular file"
    with pytest.raises(ConfigError, match=f"failed to read skill: {reason}"):
        load_skill(str(pipe), environment)
    with pytest.raises(ConfigError, match=f"failed to read recording: {reason}"):
        load_recording(pipe)
    with pytest.raises(ConfigError, match=f"failed to read config file: {reason}"):
        load_user_config(environment)


def test_a_context_file_that_is_a_pipe_is_left_out_with_a_note(pipe: Path) -> None:
    found = find_context_files([pipe.name], pipe.parent)
    assert found.files == ()
    assert found.notes == ('context file "config.toml" is not a regular file',)


def test_devices_and_folders_are_no_files_and_the_null_device_is_an_empty_one(
    tmp_path: Path,
) -> None:
    with pytest.raises(OSError, match="it is not a regular file"):
        read_file(Path("/dev/zero"))
    with pytest.raises(IsADirectoryError):
        read_file(tmp_path)
    assert read_file(Path(os.devnull)) == b""


def test_a_file_of_two_gigabytes_that_holds_nothing_costs_nothing(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    huge = tmp_path / "config.toml"
    with huge.open("wb") as file:
        file.truncate(2 * 2**30)
    tracemalloc.start()
    reason = f"{tmp_path}.*config.toml: it is larger than 32 MB"
    with pytest.raises(ConfigError, match=f"failed to read skill: {reason}"):
        load_skill(str(huge), environment)
    with pytest.raises(ConfigError, match=f"failed to read recording: {reason}"):
        load_recording(huge)
    with pytest.raises(ConfigError, match=f"failed to read config file: {reason}"):
        load_user_config(environment)
    assert find_context_files(["*"], tmp_path).files == ()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2**25, "the file has been read"


def test_a_file_may_have_as_much_as_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert read_file(tmp_path / "a", 5) == b"12345"
    with pytest.raises(OSError, match="it is larger than 0 MB"):
        read_file(tmp_path / "a", 4)


def test_what_a_pipe_of_a_shell_has_beyond_the_limit_is_refused() -> None:
    read, write = os.pipe()
    os.write(write, b"12345")
    with pytest.raises(OSError, match="it is larger than"):
        read_file(Path(f"/dev/fd/{read}"), 4)
    os.close(read)
    os.close(write)


def test_context_files_have_a_limit_together(tmp_path: Path) -> None:
    for name in "abcd":
        (tmp_path / name).write_bytes(b"x" * (LARGEST_FILE // 2))
    (tmp_path / "large").write_bytes(b"x" * (LARGEST_FILE + 1))
    found = find_context_files(["?"], tmp_path)
    assert [file.path for file in found.files] == ["a", "b"]
    assert found.notes == (
        'context files have more than 32 MB together; "c" and what follows, 2 in all, are left out',
    )
    (note,) = find_context_files(["large"], tmp_path).notes
    assert note.endswith("it is larger than 32 MB")
