"""Tools in the folders that a client has named besides the working directory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.runtime.messages import ToolCall
from axe_lsp.runtime.tools.tool import ToolError, Workplace
from axe_lsp.runtime.tools.tool_table import BUILTIN_TOOLS

Arguments = dict[str, Any]


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    """Return a working directory, and a library beside it that the tools may use, under the name of a link."""
    for name in ("main", "library", "library2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(f"needle in {name}\n")
    (tmp_path / "lib").symlink_to("library")
    (tmp_path / "library" / "out").symlink_to(tmp_path / "library2")
    environment = {"PATH": os.environ["PATH"]}
    return Workplace(tmp_path / "main", environment, more_folders=(tmp_path / "lib",))


async def execute(workplace: Workplace, tool: str, arguments: Arguments) -> str:
    told = await BUILTIN_TOOLS[tool].execute(ToolCall("1", tool, arguments), workplace)
    assert isinstance(told, str)
    return told


@pytest.mark.parametrize("way", ["{0}/lib", "{0}/library", "../lib", "../library"])
async def test_files_there_are_read_listed_searched_and_changed(
    workplace: Workplace, tmp_path: Path, way: str
) -> None:
    folder = way.format(tmp_path)
    path = f"{folder}/a.txt"
    assert await execute(workplace, "read_file", {"path": path}) == "1: needle in library"
    assert await execute(workplace, "list_directory", {"path": folder}) == "a.txt\nout"
    found = await execute(workplace, "grep", {"pattern": "needle", "path": folder})
    place, _, rest = found.partition(":")
    assert rest == "1:needle in library"
    assert await execute(workplace, "read_file", {"path": place}) == "1: needle in library"
    change = {"path": path, "old_string": "needle", "new_string": "pin"}
    await execute(workplace, "edit_file", change)
    await execute(workplace, "write_file", {"path": f"{folder}/deep/b.txt", "content": "b"})
    assert (tmp_path / "library" / "a.txt").read_text() == "pin in library\n"
    assert (tmp_path / "library" / "deep" / "b.txt").read_text() == "b"


async def test_an_absolute_glob_finds_files_there(workplace: Workplace, tmp_path: Path) -> None:
    pattern = f"{tmp_path}/lib/**/*.txt"
    found = await execute(workplace, "find_files", {"pattern": pattern})
    assert await execute(workplace, "read_file", {"path": found}) == "1: needle in library"
    assert await execute(workplace, "find_files", {"pattern": "*.txt"}) == "a.txt"


@pytest.mark.parametrize(
    "path",
    ["{0}/library2/a.txt", "{0}/lib/out/a.txt", "{0}/lib/../library2/a.txt", "{0}/other", "/etc"],
)
@pytest.mark.parametrize(
    ("tool", "more"),
    [
        ("read_file", {}),
        ("write_file", {"content": "x"}),
        ("edit_file", {"old_string": "needle", "new_string": "x"}),
        ("grep", {"pattern": "needle"}),
        ("list_directory", {}),
    ],
)
async def test_no_other_folder_is_reached(
    workplace: Workplace, tmp_path: Path, tool: str, more: Arguments, path: str
) -> None:
    with pytest.raises(ToolError, match="path escapes workdir"):
        await execute(workplace, tool, {"path": path.format(tmp_path), **more})


async def test_a_person_is_asked_with_the_whole_path(workplace: Workplace, tmp_path: Path) -> None:
    rehearse = BUILTIN_TOOLS["write_file"].rehearse
    assert rehearse is not None

    async def purpose(path: str) -> str:
        call = ToolCall("1", "write_file", {"path": path, "content": "x"})
        return (await rehearse(call, workplace)).purpose

    real = f"{tmp_path}/library/new.txt"
    assert await purpose(real) == f"write {real}"
    assert await purpose("../library/new.txt") == f"write {real}"
    through = f"{tmp_path}/lib/new.txt"
    assert await purpose(through) == f"write {real} (through the link {through})"
    assert await purpose(f"{tmp_path}/main/new.txt") == "write new.txt"


async def test_commands_may_name_paths_there_and_no_others(
    workplace: Workplace, tmp_path: Path
) -> None:
    told = await execute(workplace, "run_command", {"command": f"cat {tmp_path}/lib/a.txt"})
    assert told == "needle in library\n"
    for other in (f"{tmp_path}/library2/a.txt", "../library2/a.txt"):
        with pytest.raises(ToolError, match="command rejected"):
            await execute(workplace, "run_command", {"command": f"cat {other}"})


async def test_without_such_folders_no_absolute_path_is_taken(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    with pytest.raises(ToolError, match="absolute paths are not allowed"):
        await execute(Workplace(tmp_path, {}), "read_file", {"path": f"{tmp_path}/a.txt"})
