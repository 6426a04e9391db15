"""`write_file`, as models use it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from support.tools import refusal, use


async def test_a_file_is_made_with_its_folders(tmp_path: Path) -> None:
    told = await use("write_file", tmp_path, path="a/b/c.txt", content="grün\n")
    assert told == "wrote 6 bytes to a/b/c.txt"
    assert (tmp_path / "a/b/c.txt").read_text("utf-8") == "grün\n"


async def test_a_file_is_overwritten_and_keeps_its_mode(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("old and longer")
    script.chmod(0o750)
    await use("write_file", tmp_path, path="run.sh", content="new")
    assert script.read_text() == "new"
    assert script.stat().st_mode & 0o777 == 0o750
    assert [each.name for each in os.scandir(tmp_path)] == ["run.sh"]


async def test_written_file_keeps_line_endings_and_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    await use("write_file", tmp_path, path="a.txt", content="one\nthree\n")
    assert (tmp_path / "a.txt").read_bytes() == b"\xef\xbb\xbfone\r\nthree\r\n"


@pytest.mark.parametrize("tool", ["write_file", "edit_file"])
@pytest.mark.skipif(sys.platform == "win32", reason="Windows says 1 for each file")
async def test_hard_links_of_changed_file_stay_one_file(tmp_path: Path, tool: str) -> None:
    (tmp_path / "a.txt").write_text("old and longer")
    (tmp_path / "b.txt").hardlink_to(tmp_path / "a.txt")
    change = (
        {"content": "new"}
        if tool == "write_file"
        else {"old_string": "old and", "new_string": "now"}
    )
    await use(tool, tmp_path, path="a.txt", **change)
    assert (tmp_path / "b.txt").read_text() in ("new", "now longer")
    assert (tmp_path / "b.txt").samefile(tmp_path / "a.txt")


async def test_no_content_makes_an_empty_file(tmp_path: Path) -> None:
    assert await use("write_file", tmp_path, path="a") == "wrote 0 bytes to a"
    assert (tmp_path / "a").read_bytes() == b""


async def test_content_that_is_no_text_is_written_as_json(tmp_path: Path) -> None:
    await use("write_file", tmp_path, path="a.json", content={"a": [1, True]})
    assert (tmp_path / "a.json").read_text() == '{"a":[1,true]}'


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("", "path is required"),
        ("/tmp/x", "absolute paths are not allowed"),
        ("../x", "path escapes workdir"),
        ("out/x", "path escapes workdir"),
        ("out/new/x", "path escapes workdir"),
        ("file-link", "path escapes workdir"),
        ("dangling", "path escapes workdir"),
        ("sub", "path is a directory, not a file"),
        ("pipe", "path is not a regular file"),
        ("a/x", "a/x: not a directory"),
    ],
)
async def test_what_it_refuses(tmp_path: Path, path: str, told: str) -> None:
    folder, outside = tmp_path / "work", tmp_path / "outside"
    (folder / "sub").mkdir(parents=True)
    outside.mkdir()
    (outside / "file").write_text("kept")
    (folder / "a").touch()
    (folder / "out").symlink_to(outside)
    (folder / "file-link").symlink_to(outside / "file")
    (folder / "dangling").symlink_to(outside / "absent")
    os.mkfifo(folder / "pipe")
    assert (await refusal("write_file", folder, path=path, content="x")).lower() == told
    assert list(outside.iterdir()) == [outside / "file"]
    assert (outside / "file").read_text() == "kept"
