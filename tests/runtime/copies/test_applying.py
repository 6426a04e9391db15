"""Applying the changes of a copy: merged with what has happened meanwhile, all of them or none."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from axe_lsp.runtime.copies.applying import ApplyError, Plan, apply, plan
from axe_lsp.runtime.copies.copy import Copy
from support.repositories import Repository, write

LINES = "".join(f"{number}\n" for number in range(20))


class Work:
    """An agent's changes in a copy, and those of others in its folder meanwhile."""

    def __init__(self, tmp_path: Path, *, in_git: bool) -> None:
        self.home = tmp_path / "project"
        files = {"a.txt": LINES, "b.txt": "b\n", "c/d.txt": "d\n", "p.bin": b"\0\1"}
        if in_git:
            Repository(self.home, files)
        else:
            write(self.home, files)
        self._copy = Copy(
            "r1",
            "helper",
            {
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path / "home"),
                "XDG_STATE_HOME": str(tmp_path / "state"),
                "XDG_CACHE_HOME": str(tmp_path / "cache"),
            },
        )
        self._copy.open(self.home)
        self.there = self._copy.folder

    def plan(self) -> Plan:
        kept = self._copy.collect()
        own = self._copy.about.own
        return plan(self._copy.changes(kept), self.home, ".", own) if kept else Plan((), ())

    def apply(self) -> None:
        planned = self.plan()
        assert planned.conflicts == ()
        apply(planned.files)


@pytest.fixture(params=[True, False], ids=["in git", "outside git"])
def work(tmp_path: Path, request: pytest.FixtureRequest) -> Work:
    return Work(tmp_path, in_git=request.param)


def test_changes_are_made_in_the_folder(work: Work) -> None:
    write(work.there, {"a.txt": "new\n", "new/deep.txt": "x\n", "p.bin": b"\0\2"})
    (work.there / "b.txt").rename(work.there / "renamed.txt")
    (work.there / "c/d.txt").unlink()
    (work.there / "link").symlink_to("a.txt")
    (work.there / "tool.sh").write_text("#!/bin/sh\n")
    (work.there / "tool.sh").chmod(0o755)
    work.apply()
    assert (work.home / "a.txt").read_text() == "new\n"
    assert (work.home / "new/deep.txt").read_text() == "x\n"
    assert (work.home / "p.bin").read_bytes() == b"\0\2"
    assert (work.home / "renamed.txt").read_text() == "b\n"
    assert not (work.home / "b.txt").exists()
    assert not (work.home / "c").exists()
    assert (work.home / "link").readlink() == Path("a.txt")
    assert os.access(work.home / "tool.sh", os.X_OK)
    assert work.plan().files == ()


def test_a_mode_alone_is_a_change(work: Work) -> None:
    (work.there / "b.txt").chmod(0o755)
    (work.home / "b.txt").chmod(0o640)
    work.apply()
    assert stat.S_IMODE((work.home / "b.txt").stat().st_mode) == 0o750


def test_changes_of_other_lines_are_merged(work: Work) -> None:
    write(work.there, {"a.txt": LINES.replace("2\n", "two\n", 1)})
    write(work.home, {"a.txt": LINES.replace("18\n", "eighteen\n"), "mine.txt": "mine\n"})
    work.apply()
    text = (work.home / "a.txt").read_text()
    assert "two\n" in text
    assert "eighteen\n" in text
    assert (work.home / "mine.txt").exists()


@pytest.mark.parametrize(
    ("there", "here", "reason"),
    [
        ("there\n", "here\n", "b.txt has been changed since in the same lines"),
        ("there\n", None, "b.txt has been deleted since"),
        (None, "here\n", "b.txt has been changed since, and is deleted in the copy"),
    ],
)
def test_a_conflict_is_said(work: Work, there: str | None, here: str | None, reason: str) -> None:
    for folder, content in ((work.there, there), (work.home, here)):
        if content is None:
            (folder / "b.txt").unlink()
        else:
            write(folder, {"b.txt": content})
    assert work.plan().conflicts == (reason,)


def test_two_new_files_of_one_name_conflict_unless_they_are_the_same(work: Work) -> None:
    write(work.there, {"new.txt": "there\n", "same.txt": "same\n"})
    write(work.home, {"new.txt": "here\n", "same.txt": "same\n"})
    assert work.plan().conflicts == ("new.txt has been added since, with another content",)
    assert work.plan().files == ()


def test_a_folder_that_has_become_a_link_is_not_followed(work: Work, tmp_path: Path) -> None:
    write(work.there, {"c/d.txt": "evil\n"})
    outside = tmp_path / "outside"
    write(outside, {"d.txt": "d\n"})
    (work.home / "c/d.txt").unlink()
    (work.home / "c").rmdir()
    (work.home / "c").symlink_to(outside)
    assert work.plan().conflicts == ("c/d.txt is in a folder that is a link now",)


def test_a_file_that_has_become_a_link_is_not_written_through(work: Work, tmp_path: Path) -> None:
    write(work.there, {"b.txt": "evil\n"})
    write(tmp_path, {"outside.txt": "b\n"})
    (work.home / "b.txt").unlink()
    (work.home / "b.txt").symlink_to(tmp_path / "outside.txt")
    assert work.plan().conflicts == ("b.txt has been changed since, and is a link",)


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "c/../../outside"])
def test_a_link_out_of_the_folder_is_not_made(work: Work, target: str) -> None:
    (work.there / "out").symlink_to(target)
    assert work.plan().conflicts == ("out is a link that leads out of the working directory",)


def test_a_link_in_place_of_a_file_and_the_other_way_round(work: Work) -> None:
    (work.there / "b.txt").unlink()
    (work.there / "b.txt").symlink_to("a.txt")
    work.apply()
    assert (work.home / "b.txt").readlink() == Path("a.txt")
    assert (work.home / "a.txt").read_text() == LINES


def test_a_git_folder_is_never_written(work: Work) -> None:
    write(work.there, {"sub/.git/hooks/post-checkout": "evil", "b.txt": "changed\n"})
    assert [each.path for each in work.plan().files] == ["b.txt"]


def test_nothing_has_changed_if_one_file_can_not_be_written(work: Work) -> None:
    write(work.there, {"a.txt": "new\n", "c/d.txt": "new\n", "x/y.txt": "new\n"})
    (work.there / "b.txt").unlink()
    planned = work.plan()
    write(work.home, {"x": "a file where a folder has to be"})
    with pytest.raises(ApplyError, match=r"x/y\.txt"):
        apply(planned.files)
    assert (work.home / "a.txt").read_text() == LINES
    assert (work.home / "c/d.txt").read_text() == "d\n"
    assert (work.home / "b.txt").read_text() == "b\n"


def test_a_change_is_shown_as_that_of_a_tool(work: Work) -> None:
    write(work.there, {"b.txt": "changed\n", "p.bin": b"\0\3\4"})
    (work.there / "c/d.txt").unlink()
    shown = {each.path: each.rehearsal for each in work.plan().files}
    assert "-b\n+changed" in shown["b.txt"].details
    assert shown["b.txt"].change is not None
    assert shown["c/d.txt"].purpose == "delete c/d.txt"
    assert shown["p.bin"].details == "p.bin is a binary file: 2 bytes now, 3 bytes then"
    assert shown["p.bin"].change is None
