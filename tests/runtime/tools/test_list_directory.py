"""`list_directory`, as models use it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.tools import refusal, use


@pytest.mark.req("003-13")
async def test_names_in_order_with_folders_marked(tmp_path: Path) -> None:
    (tmp_path / "sub" / "inner").mkdir(parents=True)
    (tmp_path / "b.txt").touch()
    (tmp_path / ".hidden").touch()
    (tmp_path / "A").touch()
    (tmp_path / "link").symlink_to("sub")
    assert await use("list_directory", tmp_path, path=".") == ".hidden\nA\nb.txt\nlink\nsub/"
    assert await use("list_directory", tmp_path, path="sub/") == "inner/"
    assert await use("list_directory", tmp_path, path="link") == "inner/"


async def test_an_empty_folder(tmp_path: Path) -> None:
    assert await use("list_directory", tmp_path, path=".") == ""


async def test_a_name_that_is_no_text_can_be_shown(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff")).touch()
    assert await use("list_directory", tmp_path, path=".") == "\ufffd"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("", "path is required"),
        ("/", "absolute paths are not allowed"),
        ("..", "path escapes workdir"),
        ("absent", "absent: no such file or directory"),
        ("file", "file: not a directory"),
    ],
)
async def test_what_it_refuses(tmp_path: Path, path: str, told: str) -> None:
    (tmp_path / "file").touch()
    assert await refusal("list_directory", tmp_path, path=path) == told


async def test_a_result_has_a_limit_and_says_so(tmp_path: Path) -> None:
    for number in range(600):
        (tmp_path / f"{number:0200}").touch()
    listing = await use("list_directory", tmp_path, path=".")
    assert listing.endswith("\n... [output truncated, exceeded 100KB]")
