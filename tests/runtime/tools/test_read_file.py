"""`read_file`, as models use it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.tools import refusal, use


@pytest.mark.req("003-13")
async def test_lines_are_numbered(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\n\nthree\r\nf\xffur")
    assert await use("read_file", tmp_path, path="a.txt") == "1: one\n2: \n3: three\r\n4: f\ufffdur"


@pytest.mark.parametrize("limit", ["2", 2])
async def test_a_part_of_a_file(tmp_path: Path, limit: object) -> None:
    (tmp_path / "a.txt").write_text("1\n2\n3\n4\n5\n")
    part = await use("read_file", tmp_path, path="a.txt", offset="3", limit=limit)
    assert part == "3: 3\n4: 4"


async def test_two_thousand_lines_at_most(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n" * 3000)
    assert (await use("read_file", tmp_path, path="a.txt")).splitlines()[-1] == "2000: x"


async def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    assert await use("read_file", tmp_path, path="a.txt") == ""
    told = await refusal("read_file", tmp_path, path="a.txt", offset="2")
    assert told == "offset 2 exceeds file length of 0 lines"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "path is required"),
        ({"path": ""}, "path is required"),
        ({"path": "/etc/passwd"}, "absolute paths are not allowed"),
        ({"path": "../x"}, "path escapes workdir"),
        ({"path": "sub/../../x"}, "path escapes workdir"),
        ({"path": "link/passwd"}, "path escapes workdir"),
        ({"path": "dangling"}, "path escapes workdir"),
        ({"path": "away/../a.txt"}, "path escapes workdir"),
        ({"path": "absent.txt"}, "absent.txt: no such file or directory"),
        ({"path": "circle"}, "circle: too many levels of symbolic links"),
        ({"path": "a.txt/b"}, "a.txt/b: not a directory"),
        ({"path": "nul\0"}, "invalid path: embedded null byte"),
        ({"path": "sub"}, "path is a directory, not a file"),
        ({"path": "pipe"}, "path is not a regular file"),
        ({"path": "binary"}, "binary file detected"),
        ({"path": "a.txt", "offset": "0"}, "offset must be >= 1"),
        ({"path": "a.txt", "limit": "-1"}, "limit must be >= 1"),
        ({"path": "a.txt", "offset": "x"}, 'invalid offset "x": not a whole number'),
        ({"path": "a.txt", "limit": 1.5}, 'invalid limit "1.5": not a whole number'),
        ({"path": "a.txt", "offset": "9"}, "offset 9 exceeds file length of 1 lines"),
    ],
)
async def test_what_it_refuses(tmp_path: Path, arguments: dict[str, object], told: str) -> None:
    folder = tmp_path / "work"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("a\n")
    (folder / "binary").write_bytes(b"PK\0\1")
    (folder / "link").symlink_to("/etc")
    (folder / "dangling").symlink_to("../absent")
    (folder / "away").symlink_to("/usr/bin")
    (folder / "circle").symlink_to("circle")
    os.mkfifo(folder / "pipe")
    assert await refusal("read_file", folder, **arguments) == told


async def test_links_inside_the_folder_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.txt").write_text("a")
    folder = tmp_path / "folder"
    folder.symlink_to("real")
    (tmp_path / "real" / "b.txt").symlink_to("a.txt")
    assert await use("read_file", folder, path="b.txt") == "1: a"


async def test_a_result_has_a_limit_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "wide.txt").write_text(("x" * 1000 + "\n") * 200)
    result = await use("read_file", tmp_path, path="wide.txt")
    assert len(result) < 103_000
    assert result.endswith(
        "... [output truncated, exceeded 100KB; use offset and limit to read on]"
    )


async def test_of_an_endless_line_the_beginning_is_shown(tmp_path: Path) -> None:
    (tmp_path / "one-line.js").write_text("x" * 1_000_000 + "\nnext\n")
    first, second = (await use("read_file", tmp_path, path="one-line.js")).split("\n")
    assert first.startswith("1: xxx")
    assert first.endswith("xxx ... [line truncated]")
    assert second == "2: next"
