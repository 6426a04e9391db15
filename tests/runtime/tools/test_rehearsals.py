"""What people see before they agree: the exact change or command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from axe_lsp.runtime.messages import ToolCall
from axe_lsp.runtime.safety.approval import Rehearsal
from axe_lsp.runtime.safety.questions import Change
from axe_lsp.runtime.tools.tool import ToolError, Workplace
from axe_lsp.runtime.tools.tool_table import BUILTIN_TOOLS

NO_END = "\\ No newline at end of file"


async def rehearsed(tool: str, folder: Path, **arguments: Any) -> Rehearsal:
    rehearse = BUILTIN_TOOLS[tool].rehearse
    assert rehearse is not None
    return await rehearse(ToolCall("1", tool, arguments), Workplace(folder, {}))


async def test_an_edit_is_a_diff_and_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    seen = await rehearsed(
        "edit_file", tmp_path, path="a.txt", old_string="two", new_string="2\n2b"
    )
    assert seen == Rehearsal(
        "change a.txt",
        "--- a.txt\n+++ a.txt\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2b\n three",
        Change("a.txt", "one\ntwo\nthree\n", "one\n2\n2b\nthree\n"),
        str(tmp_path / "a.txt"),
        "this file",
    )
    assert (tmp_path / "a.txt").read_text() == "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("old", "expected"),
    [
        (None, "--- /dev/null\n+++ a.txt\n@@ -0,0 +1 @@\n+new"),
        ("old\n", "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-old\n+new"),
        ("new", f"--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-new\n{NO_END}\n+new"),
        ("new\n", "a.txt would stay as it is"),
    ],
)
async def test_what_would_be_written_is_a_diff_too(
    tmp_path: Path, old: str | None, expected: str
) -> None:
    if old is not None:
        (tmp_path / "a.txt").write_text(old)
    seen = await rehearsed("write_file", tmp_path, path="a.txt", content="new\n")
    change = None if old == "new\n" else Change("a.txt", old or "", "new\n")
    subject = str(tmp_path / "a.txt")
    assert seen == Rehearsal("write a.txt", expected, change, subject, "this file")


async def test_what_is_long_is_shown_whole(tmp_path: Path) -> None:
    seen = await rehearsed("write_file", tmp_path, path="a.txt", content="x" * 300_000)
    assert f"+{'x' * 300_000}\n" in seen.details


async def test_what_is_too_large_to_compare_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n" * 300_000)
    seen = await rehearsed("write_file", tmp_path, path="a.txt", content="new")
    expected = "a.txt is too large to compare; all of it would be replaced by\n+new"
    assert seen.details == expected
    assert seen.change is None


async def test_of_a_file_that_is_too_large_to_compare_the_edit_itself_is_shown(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.txt").write_text("x\n" * 300_000)
    (tmp_path / "b.txt").write_text("x\n" * 300_000 + "end\n")
    edit = {"old_string": "x\nx", "new_string": "y"}
    seen = await rehearsed("edit_file", tmp_path, path="a.txt", replace_all="true", **edit)
    assert seen.details == (
        "a.txt is too large to compare; "
        "this text, which it has 150,000 times, would be replaced:\n-x\n-x\n+y"
    )
    once = await rehearsed("edit_file", tmp_path, path="b.txt", old_string="end", new_string="+")
    assert once.details.endswith("compare; this text would be replaced:\n-end\n++")


async def test_a_command_is_shown_as_it_is(tmp_path: Path) -> None:
    seen = await rehearsed("run_command", tmp_path, command="make\ntest")
    assert seen == Rehearsal(
        "run a command", "make\ntest", None, f"{tmp_path}\nmake\ntest", "this command"
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("write_file", {"path": "/x", "content": ""}, "absolute paths are not allowed"),
        ("write_file", {"path": ".", "content": ""}, "path is a directory, not a file"),
        ("edit_file", {"path": "a", "old_string": "y", "new_string": ""}, "old_string not found"),
        ("edit_file", {"path": "../a", "old_string": "y"}, "path escapes workdir"),
        ("run_command", {"command": ""}, "command is required"),
        ("run_command", {"command": "ls ~"}, "command rejected"),
    ],
)
async def test_what_would_fail_fails_before_anybody_is_asked(
    tmp_path: Path, tool: str, arguments: dict[str, str], reason: str
) -> None:
    (tmp_path / "a").write_text("x")
    with pytest.raises(ToolError, match=reason):
        await rehearsed(tool, tmp_path, **arguments)


def test_what_only_reads_needs_nobodys_agreement() -> None:
    asks = {name for name, tool in BUILTIN_TOOLS.items() if tool.rehearse}
    assert asks == {"write_file", "edit_file", "run_command"}


async def test_a_link_is_not_taken_for_the_file_that_it_is_named_like(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "hook").write_text("old\n")
    (tmp_path / "notes.txt").symlink_to(tmp_path / ".git" / "hook")
    (tmp_path / "docs").symlink_to(tmp_path / ".git")
    real = await rehearsed("write_file", tmp_path, path=".git/hook", content="new\n")
    edit = {"old_string": "old", "new_string": "new"}
    for path in ("notes.txt", "docs/hook"):
        written = await rehearsed("write_file", tmp_path, path=path, content="new\n")
        changed = await rehearsed("edit_file", tmp_path, path=path, **edit)
        assert written.purpose == f"write .git/hook (through the link {path})"
        assert changed.purpose == f"change .git/hook (through the link {path})"
        assert written.details == changed.details == real.details
        assert written.change == changed.change == real.change
        assert written.subject == changed.subject == real.subject
    assert real.purpose == "write .git/hook"
