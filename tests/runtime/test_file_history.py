"""The states of changed files as the steps of a run tell them: by turn, with their lines counted."""

from __future__ import annotations

import zlib
from base64 import b64encode
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.runtime.resuming.file_history import (
    MAX_COMPARED,
    MAX_STATE,
    UNKNOWN,
    ChangedFile,
    LineCounts,
    Patch,
    Selects,
    State,
    changed_files,
    file_histories,
    line_counts,
    patch_between,
)
from axe_lsp.runtime.resuming.saved_files import FileUndo, plan_undo, undo
from runtime.test_undoing import Changes
from support.secrets import ANTHROPIC_KEY


@pytest.fixture
def changes(tmp_path: Path) -> Changes:
    return Changes(tmp_path.resolve())


def turn(*numbers: int) -> Selects:
    """Select the changes of these turns of all runs."""
    return lambda _, number: number in numbers


def files(changes: Changes, selects: Selects | None = None) -> list[ChangedFile]:
    return changed_files(file_histories(changes.steps.known.steps), selects)


def counts(changes: Changes, selects: Selects | None = None) -> dict[str, tuple[int, int] | None]:
    """Return the added and removed lines by the name of the file."""
    found = {file.path.name: file.counts for file in files(changes, selects)}
    return {name: (each.added, each.removed) if each else None for name, each in found.items()}


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_patch_leads_from_one_content_to_the_other(before: bytes, after: bytes) -> None:
    assert patch_between(before, after).applied(before) == after


def test_patch_that_inflates_without_end_stays_within_the_limit() -> None:
    bomb = Patch(0, 0, b64encode(zlib.compress(b"0" * (3 * MAX_STATE))).decode())
    assert len(bomb.applied(b"") or b"") <= MAX_STATE


@pytest.mark.parametrize("inserted", ["no base64", b64encode(b"no zlib").decode()])
def test_unreadable_patch_gives_no_content(inserted: str) -> None:
    assert Patch(0, 0, inserted).applied(b"before") is None


def test_lines_of_the_whole_run_are_the_net_difference(changes: Changes) -> None:
    (changes.folder / "a.txt").write_bytes(b"one\ntwo\nthree\n")
    changes.write("a.txt", b"one\n2\nthree\n")
    changes.write("a.txt", b"one\n2\nthree\nfour\n")
    changes.write("new.txt", b"new\n")
    assert counts(changes) == {"a.txt": (2, 1), "new.txt": (1, 0)}
    assert [file.kind for file in files(changes)] == ["modified", "added"]


def test_lines_of_a_turn_are_those_of_its_own_changes(changes: Changes) -> None:
    (changes.folder / "a.txt").write_bytes(b"one\ntwo\n")
    changes.write("a.txt", b"one\n2\n")
    changes.write("a.txt", b"1\n2\n3\n")
    assert counts(changes, turn(1)) == {"a.txt": (1, 1)}
    assert counts(changes, turn(2)) == {"a.txt": (2, 1)}
    (file,) = files(changes, turn(2))
    assert file.texts == ("one\n2\n", "1\n2\n3\n")


def test_file_that_is_as_before_is_no_changed_file(changes: Changes) -> None:
    (changes.folder / "a.txt").write_bytes(b"one\n")
    changes.write("a.txt", b"two\n")
    changes.write("a.txt", b"one\n")
    assert counts(changes) == {}


def test_states_after_a_change_by_somebody_else_are_not_guessed(changes: Changes) -> None:
    file = changes.folder / "a.txt"
    file.write_bytes(b"one\n")
    changes.write("a.txt", b"two\n")
    file.write_bytes(b"mine\n")
    changes.write("a.txt", b"mine\ntwo\n")
    file.write_bytes(b"mine again\n")
    assert counts(changes, turn(2)) == {"a.txt": None}
    assert counts(changes) == {"a.txt": None}


def test_latest_state_is_read_from_the_disk_if_the_run_has_left_it_so(changes: Changes) -> None:
    file = changes.folder / "a.txt"
    file.write_bytes(b"one\n")
    changes.write("a.txt", b"two\n")
    file.write_bytes(b"mine\n")
    changes.write("a.txt", b"mine\ntwo\n")
    assert counts(changes) == {"a.txt": (2, 1)}


def test_state_with_a_key_is_not_stored(changes: Changes) -> None:
    (changes.folder / "a.txt").write_bytes(b"one\n")
    changes.write("a.txt", ANTHROPIC_KEY.encode())
    changes.write("a.txt", b"two\n")
    stored = str(changes.steps.kept)
    assert b64encode(zlib.compress(ANTHROPIC_KEY.encode())).decode() not in stored
    assert counts(changes, turn(1)) == {"a.txt": None}


@pytest.mark.parametrize(
    ("before", "after"), [(UNKNOWN, b"a"), (b"\0", b"a"), (b"a", b"x" * MAX_COMPARED)]
)
def test_lines_of_unknown_binary_and_large_states_are_not_counted(
    before: State, after: State
) -> None:
    assert line_counts(before, after) is None


def test_lines_of_a_large_rewritten_file_are_counted_as_all_new() -> None:
    before = "".join(f"old {number}\n" for number in range(5_000))
    after = "".join(f"new {number}\n" for number in range(4_000))
    assert line_counts(before.encode(), after.encode()) == LineCounts(4_000, 5_000)


class TestUndoOfATurn:
    """Undo of some of the turns of a run."""

    @staticmethod
    def plan(changes: Changes, *turns: int) -> list[FileUndo]:
        return plan_undo(changes.steps.known, turn(*turns))

    @staticmethod
    def two_turns(changes: Changes) -> Path:
        file = changes.folder / "a.txt"
        file.write_bytes(b"zero")
        changes.write("a.txt", b"one")
        changes.write("a.txt", b"two")
        return file

    def test_last_turn_gives_the_file_of_the_turn_before(self, changes: Changes) -> None:
        file = self.two_turns(changes)
        assert [each.reason for each in undo(self.plan(changes, 2))] == [""]
        assert file.read_bytes() == b"one"

    def test_former_turn_is_refused_until_the_later_one_is_undone(self, changes: Changes) -> None:
        file = self.two_turns(changes)
        (plan,) = self.plan(changes, 1)
        assert plan.reason == "a later turn has changed it; undo that turn first"
        assert [each.reason for each in undo(self.plan(changes, 2))] == [""]
        assert [each.reason for each in undo(self.plan(changes, 1))] == [""]
        assert file.read_bytes() == b"zero"

    def test_turns_from_one_on_give_the_file_before_it(self, changes: Changes) -> None:
        file = self.two_turns(changes)
        changes.write("a.txt", b"three")
        assert [each.reason for each in undo(self.plan(changes, 2, 3))] == [""]
        assert file.read_bytes() == b"one"

    def test_file_that_the_turn_has_not_changed_is_left_out(self, changes: Changes) -> None:
        self.two_turns(changes)
        changes.write("b.txt", b"new")
        assert [each.path.name for each in self.plan(changes, 3)] == ["b.txt"]

    def test_unknown_state_before_the_turn_is_the_reason(self, changes: Changes) -> None:
        file = changes.folder / "a.txt"
        file.write_bytes(b"zero")
        changes.write("a.txt", b"one")
        file.write_bytes(b"mine")
        changes.write("a.txt", b"mine two")
        changes.write("a.txt", b"mine three")
        assert [each.reason for each in self.plan(changes, 3)] == [
            "its content before the turn is not stored"
        ]
