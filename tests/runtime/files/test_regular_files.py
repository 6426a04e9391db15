"""Nobody waits for a pipe that is in the place of a file."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.context_files import find_context_files
from axe_lsp.runtime.files.regular_files import read_file, refuse_pipe
from axe_lsp.runtime.files.user_config import load_user_config
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
    for use in (read_file, refuse_pipe):
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
