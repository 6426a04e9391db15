"""A link that takes the place of a file or of a folder above it, after a path was checked and before it is opened."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.agentfile.agent_definition import AgentDefinition, MemoryConfig, Source
from axe_lsp.agentfile.rights import Reach
from axe_lsp.runtime import prompt
from axe_lsp.runtime.copies import applying
from axe_lsp.runtime.copies.copy import Entry
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files import context_files, opening
from axe_lsp.runtime.memory import append_memory
from axe_lsp.runtime.prepare import root_order
from axe_lsp.runtime.recordings.file import load_recording
from axe_lsp.runtime.recordings.named_replays import find_recording
from axe_lsp.runtime.resuming import saved_files
from axe_lsp.runtime.runs import RunRequest
from axe_lsp.runtime.safety.reach import Admitted
from axe_lsp.runtime.tools import edit_file, editor_files, list_directory, read_file, write_file
from axe_lsp.runtime.tools.tool import ToolError
from support.tools import refusal, use

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs links")

SECRET = "what nobody may see\n"
NO_LINKS = "too many levels of symbolic links"

Swap = Callable[[], None]


@pytest.fixture(params=["the file", "its folder"])
def swap(request: pytest.FixtureRequest, tmp_path: Path) -> Swap:
    """Puts a link out of the workspace in place of `sub/notes.txt` or of `sub`, once."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "notes.txt").write_text(SECRET)
    folder = tmp_path / "work" / "sub"
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("old\n")

    def put_link() -> None:
        if folder.is_symlink() or (folder / "notes.txt").is_symlink():
            return
        if request.param == "the file":
            (folder / "notes.txt").unlink(missing_ok=True)
            (folder / "notes.txt").symlink_to(tmp_path / "outside" / "notes.txt")
        else:
            shutil.rmtree(folder)
            folder.symlink_to(tmp_path / "outside")

    return put_link


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


@pytest.fixture(autouse=True)
def _nothing_outside_changes(tmp_path: Path, swap: Swap) -> Any:
    yield
    swap()  # It is the same outside if the test had no reason to look.
    outside = tmp_path / "outside"
    assert [each.name for each in outside.iterdir()] == ["notes.txt"]
    assert (outside / "notes.txt").read_text() == SECRET


def then(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, swap: Swap) -> None:
    """Swap right after a function of a module has returned."""
    checked = getattr(module, name)

    def check_and_swap(*arguments: Any, **more: Any) -> Any:
        result = checked(*arguments, **more)
        swap()
        return result

    monkeypatch.setattr(module, name, check_and_swap)


def environment(tmp_path: Path) -> dict[str, str]:
    names = {"XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "data", "HOME": "home"}
    return {name: str(tmp_path / folder) for name, folder in names.items()}


def definition(work: Path, **values: Any) -> AgentDefinition:
    """Return an agent of a stranger."""
    return AgentDefinition("a", "openai/m", source=Source(str(work / "a.toml"), ""), **values)


def prompt_of(stranger: AgentDefinition, work: Path, tmp_path: Path) -> prompt.Prompt:
    """Its prompt, after it was let in without any reach."""
    order = root_order(RunRequest("a"), work, environment(tmp_path))
    here = environment(tmp_path)
    admitted = Admitted((), stranger, work, here)
    return prompt.build_prompt(order, stranger, work, here, admitted=admitted)


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        (read_file, {}),
        (write_file, {"content": "new\n"}),
        (edit_file, {"old_string": "old", "new_string": "new"}),
    ],
)
async def test_tools(
    monkeypatch: pytest.MonkeyPatch, work: Path, swap: Swap, module: Any, arguments: dict[str, str]
) -> None:
    then(monkeypatch, module, "place", swap)
    tool = module.__name__.rpartition(".")[2]
    told = await refusal(tool, work, path="sub/notes.txt", **arguments)
    assert told in (f"sub/notes.txt: {NO_LINKS}", "path escapes workdir")


@pytest.mark.parametrize("module", [write_file, edit_file])
async def test_tools_that_are_about_to_write(
    monkeypatch: pytest.MonkeyPatch, work: Path, swap: Swap, module: Any
) -> None:
    then(monkeypatch, module, "opened", swap)
    arguments = {"content": "new\n", "old_string": "old", "new_string": "new"}
    with suppress(ToolError):
        await use(module.__name__.rpartition(".")[2], work, path="sub/notes.txt", **arguments)
    if not (work / "sub").is_symlink():
        place = work / "sub" / "notes.txt"
        assert place.is_symlink() or place.read_text() == "new\n", "no link is followed"


async def test_lists_of_names(
    monkeypatch: pytest.MonkeyPatch, work: Path, swap: Swap, tmp_path: Path
) -> None:
    (tmp_path / "outside" / "notes.txt").rename(tmp_path / "outside" / "private")
    then(monkeypatch, list_directory, "place", swap)
    told = ""
    with suppress(ToolError):
        told = await use("list_directory", work, path="sub")
    assert "private" not in str(told)
    (tmp_path / "outside" / "private").rename(tmp_path / "outside" / "notes.txt")


def test_context_files(monkeypatch: pytest.MonkeyPatch, work: Path, swap: Swap) -> None:
    then(monkeypatch, context_files, "_is_led_out", swap)
    found = context_files.find_context_files(["sub/*.txt"], work)
    assert found.files == ()
    assert context_files.measure_context_file("sub/notes.txt", work / "sub/notes.txt", work) is None


def test_memory(work: Path, swap: Swap) -> None:
    place = (work / "sub" / "notes.txt").resolve()
    swap()
    with pytest.raises(OSError, match="symbolic links"):
        append_memory(place, "task", "result")


@pytest.mark.parametrize("decided", [True, False])
def test_a_skill(
    monkeypatch: pytest.MonkeyPatch, work: Path, tmp_path: Path, swap: Swap, *, decided: bool
) -> None:
    """Whether the link comes after the look at the place or before it, since the agent was let in."""
    stranger = definition(work, skill=str(work / "sub" / "notes.txt"))
    if decided:
        then(monkeypatch, Admitted, "check_skill", swap)
    else:
        swap()
    with pytest.raises(
        ConfigError, match=f"(?i){NO_LINKS}" if decided else "since a link was changed"
    ):
        prompt_of(stranger, work, tmp_path)


@pytest.mark.parametrize("decided", [True, False])
def test_a_memory_that_is_read(
    monkeypatch: pytest.MonkeyPatch, work: Path, tmp_path: Path, swap: Swap, *, decided: bool
) -> None:
    stranger = definition(work, memory=MemoryConfig(enabled=True, path="sub/notes.txt"))
    assert prompt_of(stranger, work, tmp_path).warnings == ()
    if decided:
        then(monkeypatch, Admitted, "check_memory", swap)
    else:
        swap()
    made = prompt_of(stranger, work, tmp_path)
    (warning,) = made.warnings
    assert (NO_LINKS if decided else "a memory is written below the workspace") in warning.lower()
    assert SECRET not in made.system


def test_a_memory_in_the_data_folder_is_not_read_or_written_without_trust(
    work: Path, tmp_path: Path
) -> None:
    other = tmp_path / "data" / "axe" / "memory" / "other.md"
    stranger = definition(work, memory=MemoryConfig(enabled=True, path="sub/notes.txt"))
    asking = (stranger, work, environment(tmp_path))
    with pytest.raises(ConfigError, match="since a link was changed"):
        Admitted((), *asking).check_memory(other)
    Admitted([Reach("memory.path", str(other))], *asking).check_memory(other)


def test_a_recording(
    monkeypatch: pytest.MonkeyPatch, work: Path, tmp_path: Path, swap: Swap
) -> None:
    (work / "axe").mkdir()
    (work / "axe" / "replays").symlink_to(work / "sub")
    (work / "sub" / "r.toml").write_text("version = 1\n")
    place = find_recording("r", work, work, environment(tmp_path))
    assert load_recording(place, is_place=True).runs == ()
    (work / "sub" / "r.toml").rename(work / "sub" / "notes.txt")
    swap()
    with pytest.raises(ConfigError, match=f"(?i){NO_LINKS}"):
        load_recording(place.with_name("notes.txt"), is_place=True)
    (work / "axe" / "replays").unlink()
    (work / "axe" / "replays").mkdir()
    (work / "axe" / "replays" / "r.toml").symlink_to(tmp_path / "outside" / "notes.txt")
    with pytest.raises(ConfigError, match="is a link that leads out of its folder"):
        find_recording("r", work, work, environment(tmp_path))


async def test_a_file_that_an_editor_is_asked_for(work: Path, swap: Swap) -> None:
    place = work / "sub" / "notes.txt"
    assert editor_files._on_disk(place.resolve()) is not None
    swap()
    assert editor_files._on_disk(place) is None


def test_what_is_kept_for_undo(work: Path, swap: Swap) -> None:
    place = work / "sub" / "notes.txt"
    swap()
    assert saved_files._content(place, ()) == (None, "unreadable")
    assert saved_files._left_file(place, None, ()) is None


@pytest.mark.parametrize("before", [b"before\n", None])
def test_undo(
    monkeypatch: pytest.MonkeyPatch, work: Path, swap: Swap, before: bytes | None
) -> None:
    then(monkeypatch, saved_files, "content_of", swap)
    place = work / "sub" / "notes.txt"
    (outcome,) = saved_files.undo([saved_files.FileUndo(place, before, b"old\n")])
    is_replaced = not (work / "sub").is_symlink() and not place.is_symlink()
    assert is_replaced or outcome.reason


def test_changes_of_a_copy(work: Path, swap: Swap) -> None:
    place = work / "sub" / "notes.txt"
    old, new = Entry("100644", b"old\n"), Entry("100755", b"new\n")
    swap()
    is_in_other_folder = (work / "sub").is_symlink()
    expected = pytest.raises(applying.ApplyError, match="(?i)" + NO_LINKS)
    with expected if is_in_other_folder else nullcontext():
        applying.apply([applying.Planned("sub/notes.txt", place, old, new)])
    assert is_in_other_folder or not place.is_symlink()


def test_folders_that_are_made(work: Path, swap: Swap) -> None:
    swap()
    if (work / "sub").is_symlink():
        with (
            pytest.raises(OSError, match="symbolic links"),
            opening.opened_folder(work / "sub" / "new", make=True),
        ):
            pass
