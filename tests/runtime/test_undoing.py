"""Undo: which files of a run are put back, and which are left."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.messages import ToolCall
from axe_lsp.runtime.resuming.file_history import MAX_STATE
from axe_lsp.runtime.resuming.saved_files import (
    FileUndo,
    keep_after,
    keep_before,
    plan_undo,
    undo,
)
from axe_lsp.runtime.run_log import Known, Log
from axe_lsp.runtime.run_steps import Step
from axe_lsp.runtime.tools.tool import Workplace
from support.secrets import ANTHROPIC_KEY


class Steps:
    """Keeps steps in memory."""

    def __init__(self) -> None:
        self.kept: list[Step] = []

    def keep(self, step: Step) -> None:
        self.kept.append(step)

    async def committed(self, root: str) -> None:
        """They are where they belong."""

    @property
    def known(self) -> Known:
        return Known(
            {(each.run_id, each.turn, each.call, each.kind): each.data for each in self.kept}
        )


class Changes:
    """Changes files as tools of a run do."""

    def __init__(self, folder: Path) -> None:
        self.steps = Steps()
        self.folder = folder
        self._log = Log(self.steps)
        self._number = 0

    def write(self, name: str, content: bytes, *, is_interrupted: bool = False) -> None:
        self._number += 1
        log = self._log.of(RunIds(f"run{self._number % 2}", "root", None, "agent", 0))
        call = ToolCall(f"c{self._number}", "write_file", {"path": name, "content": ""})
        workplace = Workplace(self.folder, os.environ)

        async def work() -> None:
            await keep_before(log, self._number, call, workplace, ())
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_bytes(content)
            if not is_interrupted:
                await keep_after(log, self._number, call, workplace)

        anyio.run(work)

    def keep_after(self, name: str) -> None:
        """Keep how a call has left a file."""
        log = self._log.of(RunIds("run0", "root", None, "agent", 0))
        call = ToolCall("after", "write_file", {"path": name, "content": ""})
        anyio.run(keep_after, log, 0, call, Workplace(self.folder, os.environ))

    @property
    def plan(self) -> list[FileUndo]:
        return plan_undo(self.steps.known)

    def undo(self) -> list[str]:
        """Undo; gives the reasons of the files that were left."""
        return [each.reason for each in undo(self.plan) if each.reason]


@pytest.fixture
def changes(tmp_path: Path) -> Changes:
    return Changes(tmp_path.resolve())


def test_undo_removes_empty_folders_that_the_run_has_made(changes: Changes) -> None:
    (changes.folder / "there").mkdir()
    changes.write("there/a/b/one.txt", b"one")
    changes.write("there/a/two.txt", b"two")
    changes.write("other/three.txt", b"three")
    (changes.folder / "other/mine.txt").write_bytes(b"")
    assert changes.undo() == []
    assert sorted(path.name for path in changes.folder.rglob("*")) == ["mine.txt", "other", "there"]


def test_the_state_before_the_first_change_comes_back(changes: Changes) -> None:
    file = changes.folder / "a.txt"
    file.write_bytes(b"before\r\n\xff")
    file.chmod(0o640)
    for content in (b"one", b"two", b"three"):
        changes.write("a.txt", content)
    assert changes.undo() == []
    assert file.read_bytes() == b"before\r\n\xff"
    assert file.stat().st_mode & 0o777 == 0o640
    assert changes.plan == []


def test_many_changes_of_a_file_take_the_room_of_one(changes: Changes) -> None:
    (changes.folder / "a.txt").write_bytes(b"x" * 100_000)
    for number in range(5):
        changes.write("a.txt", f"{number}".encode() * 100_000)
    assert sum(len(step.data) for step in changes.steps.kept) < 200_000
    assert changes.undo() == []
    assert (changes.folder / "a.txt").read_bytes() == b"x" * 100_000


def test_a_file_that_the_run_has_made_is_deleted(changes: Changes) -> None:
    changes.write("new/a.txt", b"new")
    assert changes.undo() == []
    assert not (changes.folder / "new" / "a.txt").exists()


def _change(file: Path) -> None:
    file.write_text("mine")


def _delete(file: Path) -> None:
    file.unlink()


def _replace_by_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _replace_by_link(file: Path) -> None:
    other = file.with_name("other.txt")
    file.rename(other)
    file.symlink_to(other)


@pytest.mark.parametrize("later", [_change, _delete, _replace_by_folder, _replace_by_link])
def test_a_file_that_has_changed_since_is_left(
    changes: Changes, later: Callable[[Path], None]
) -> None:
    file = changes.folder / "a.txt"
    file.write_text("before")
    changes.write("a.txt", b"after")
    later(file)
    assert len(changes.undo()) == 1
    assert not file.is_file() or file.read_text() != "before"


def test_a_change_between_the_plan_and_undo_is_left(changes: Changes) -> None:
    changes.write("a.txt", b"after")
    plan = changes.plan
    (changes.folder / "a.txt").write_text("mine")
    assert [each.reason for each in undo(plan)] == ["it has changed since"]
    assert (changes.folder / "a.txt").read_text() == "mine"


def test_a_file_whose_last_change_is_not_known_is_left(changes: Changes) -> None:
    (changes.folder / "a.txt").write_text("before")
    changes.write("a.txt", b"one")
    changes.write("a.txt", b"two", is_interrupted=True)
    assert changes.undo() == ["it is not known how the run has left it"]


def test_a_call_that_has_failed_is_no_obstacle(changes: Changes) -> None:
    file = changes.folder / "a.txt"
    file.write_text("before")
    changes.write("a.txt", b"one")
    changes.write("a.txt", b"one", is_interrupted=True)
    assert changes.undo() == []
    assert file.read_text() == "before"


def test_a_file_that_can_not_be_read_after_a_change_is_left(changes: Changes) -> None:
    file = changes.folder / "a.txt"
    file.write_text("before")
    changes.write("a.txt", b"one", is_interrupted=True)
    file.unlink()
    file.mkdir()
    changes.keep_after("a.txt")
    assert [kept.kind for kept in changes.steps.kept] == ["saved"]


def test_a_file_whose_first_state_is_not_stored_is_left(changes: Changes) -> None:
    (changes.folder / "a.txt").write_text("before")
    changes.write("a.txt", b"one")
    changes.write("a.txt", b"two")
    del changes.steps.kept[0]
    assert changes.undo() == ["its content before the run is not stored"]


def test_a_path_that_looks_like_a_key_is_named_as_the_reason(changes: Changes) -> None:
    changes.write("sk-learn-experiments-2024/a.txt", b"new")
    assert changes.undo() == ["its path has something that looks like a key"]


def test_a_content_that_is_stored_like_a_key_is_not_put_back_torn(changes: Changes) -> None:
    file = changes.folder / "a.bin"
    file.write_bytes(base64.b64decode("AAA+AIza" + "QUFB" * 10 + "AAAA"))
    changes.write("a.bin", b"after")
    (left,) = changes.undo()
    assert "looks like a key" in left
    assert file.read_bytes() == b"after"


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"x" * (MAX_STATE + 1), "5 MB"), (ANTHROPIC_KEY.encode(), "looks like a key")],
)
def test_what_is_not_kept_is_left_and_named(changes: Changes, content: bytes, reason: str) -> None:
    (changes.folder / "a.txt").write_bytes(content)
    changes.write("a.txt", b"after")
    assert ANTHROPIC_KEY not in str(changes.steps.kept)
    (left,) = changes.undo()
    assert reason in left
    assert (changes.folder / "a.txt").read_bytes() == b"after"
