"""`edit_file`, as models use it."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from support.tools import refusal, use


async def test_one_occurrence_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\r\ntwo\xff\n")
    told = await use("edit_file", tmp_path, path="a", old_string="two", new_string="zwei")
    assert told == "replaced 1 occurrence(s) in a"
    assert (tmp_path / "a").read_bytes() == b"one\r\nzwei\xff\n"


async def test_edited_file_keeps_line_endings(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\r\ntwo\r\n")
    await use("edit_file", tmp_path, path="a", old_string="one\ntwo", new_string="1\n2\n3")
    assert (tmp_path / "a").read_bytes() == b"1\r\n2\r\n3\r\n"


@pytest.mark.parametrize("everywhere", ["true", "1", True])
async def test_all_occurrences_are_replaced(tmp_path: Path, everywhere: object) -> None:
    (tmp_path / "a").write_text("x x x")
    arguments = {"path": "a", "old_string": "x", "new_string": "", "replace_all": everywhere}
    assert await use("edit_file", tmp_path, **arguments) == "replaced 3 occurrence(s) in a"
    assert (tmp_path / "a").read_text() == "  "


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"path": ""}, "path is required"),
        ({"path": "../a"}, "path escapes workdir"),
        ({"path": "absent"}, "absent: no such file or directory"),
        ({"path": "sub"}, "path is a directory, not a file"),
        ({"old_string": ""}, "old_string is required"),
        ({"old_string": "z"}, "old_string not found in file"),
        (
            {"old_string": "x"},
            "old_string found 2 times; set replace_all to true or provide a more unique string",
        ),
        (
            {"replace_all": "maybe"},
            'invalid replace_all value "maybe": must be true or false',
        ),
    ],
)
async def test_what_it_refuses(tmp_path: Path, arguments: dict[str, str], told: str) -> None:
    (tmp_path / "a").write_text("x x y")
    (tmp_path / "sub").mkdir()
    arguments = {"path": "a", "old_string": "y", "new_string": "n", **arguments}
    assert await refusal("edit_file", tmp_path, **arguments) == told
    assert (tmp_path / "a").read_text() == "x x y"


async def test_edits_at_the_same_time_are_all_there_in_the_end(tmp_path: Path) -> None:
    numbers = range(30)
    (tmp_path / "a").write_text("".join(f"<{number}>" for number in numbers))

    async def edit(number: int) -> None:
        old, new = f"<{number}>", f"[{number}]"
        await use("edit_file", tmp_path, path="a", old_string=old, new_string=new)

    async with anyio.create_task_group() as tasks:
        for number in numbers:
            tasks.start_soon(edit, number)
    assert (tmp_path / "a").read_text() == "".join(f"[{number}]" for number in numbers)
