"""Files that an editor has: what counts, the editor or the disk, and what is written."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.messages import ToolCall
from axe_lsp.runtime.tools.editor import (
    Ability,
    DiskChanges,
    Editor,
    EditorAnswer,
    EditorOfRun,
    EditorRequest,
    ReadFile,
    WriteFile,
)
from axe_lsp.runtime.tools.tool import ToolError, Workplace
from axe_lsp.runtime.tools.tool_table import BUILTIN_TOOLS

RUN = RunIds(run_id="r", root_run_id="r", agent="lead")


class FakeEditor:
    """An editor with texts, by path. It saves what it writes unless it `keeps` that."""

    def __init__(self, folder: Path, *abilities: Ability) -> None:
        self.folder = folder
        self.texts: dict[str, str] = {}
        self.asked: list[EditorRequest] = []
        self.keeps = False
        self.abilities: tuple[Ability, ...] = abilities or ("read", "write")
        self._disk_changes = DiskChanges()

    async def serve(self, _: RunIds, request: EditorRequest) -> EditorAnswer:
        self.asked.append(request)
        match request:
            case ReadFile(path) if path in self.texts:
                return EditorAnswer(text=self.texts[path])
            case WriteFile(path, text):
                self.texts[path] = text
                self._save(path, text)
                return EditorAnswer()
        return EditorAnswer("failed", "not open")

    def _save(self, path: str, text: str) -> None:
        if not self.keeps:
            Path(path).write_bytes(text.encode())

    def use(self, tool: str, **arguments: Any) -> Any:
        """Return the result of a tool in the folder."""
        editor = EditorOfRun(Editor(self.abilities, self.serve, self._disk_changes), RUN)
        execute: Any = BUILTIN_TOOLS[tool].execute
        workplace = Workplace(self.folder, dict(os.environ), editor=editor)
        return asyncio.run(execute(ToolCall("1", tool, arguments), workplace))

    def edit(self, old: str, new: str) -> Any:
        """Edit the file `a.txt`."""
        return self.use("edit_file", path="a.txt", old_string=old, new_string=new)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.txt"


@pytest.fixture
def editor(tmp_path: Path) -> FakeEditor:
    return FakeEditor(tmp_path)


def test_line_ends_and_the_mark_of_a_file_stay(editor: FakeEditor, file: Path) -> None:
    """Editors give texts without them."""
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    editor.texts[str(file)] = "one\ntwo\nthree\n"
    editor.edit("two", "2")
    assert file.read_bytes() == b"\xef\xbb\xbfone\r\n2\r\nthree\r\n"
    editor.texts[str(file)] = "one\n2\nthree\n"  # Nothing is unsaved.
    assert editor.use("read_file", path="a.txt") == "1: \ufeffone\r\n2: 2\r\n3: three\r"


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"a\0b", b"\x89PNG\r\n\x1a\n" + bytes(40), "é".encode("latin-1")]
)
def test_only_text_in_utf_8_goes_through_an_editor(
    editor: FakeEditor, file: Path, content: bytes
) -> None:
    file.write_bytes(content)
    editor.texts[str(file)] = "�"
    with suppress(ToolError):  # It is binary.
        editor.use("read_file", path="a.txt")
    editor.use("write_file", path="a.txt", content="x")
    assert editor.asked == []
    assert file.read_bytes() == b"x"


def test_a_text_that_is_in_no_file_yet_is_read(editor: FakeEditor, file: Path) -> None:
    editor.texts[str(file)] = "only here"
    assert editor.use("read_file", path="a.txt") == "1: only here"
    editor.texts[str(file)] = ""  # As some editors answer for what is not there.
    with pytest.raises(ToolError, match="no such file"):
        editor.use("read_file", path="a.txt")


def test_an_editor_that_can_only_read_is_no_part_of_a_change(tmp_path: Path, file: Path) -> None:
    """Else the disk would get what its user has not saved."""
    editor = FakeEditor(tmp_path, "read")
    file.write_text("saved")
    editor.texts[str(file)] = "unsaved"
    editor.edit("saved", "new")
    assert file.read_text() == "new"
    assert editor.asked == []


def test_an_editor_that_can_only_write_writes_what_is_made_of_the_disk(
    tmp_path: Path, file: Path
) -> None:
    editor = FakeEditor(tmp_path, "write")
    file.write_text("saved")
    assert editor.edit("saved", "new") == "replaced 1 occurrence(s) in a.txt"
    assert editor.asked == [WriteFile(str(file), "new")]


def test_the_model_hears_that_a_change_is_not_saved(editor: FakeEditor, file: Path) -> None:
    """Commands do not see it."""
    editor.keeps = True
    told = editor.use("write_file", path="a.txt", content="new")
    assert told == "wrote 3 bytes to a.txt in the editor, which has not saved it yet"
    assert not file.exists()


def test_the_editor_hears_of_files_as_it_knows_them(tmp_path: Path) -> None:
    """Its folder may be a link; links below it are followed."""
    real, link = tmp_path / "real", tmp_path / "link"
    (real / "src").mkdir(parents=True)
    (real / "a.txt").symlink_to("src/b.txt")
    (real / "src" / "b.txt").write_text("b")
    link.symlink_to(real)
    editor = FakeEditor(link)
    editor.use("read_file", path="a.txt")
    assert editor.asked == [ReadFile(str(link / "src" / "b.txt"))]


def test_a_file_that_changes_all_the_time_is_not_edited(editor: FakeEditor, file: Path) -> None:
    file.write_text("saved")
    editor.texts[str(file)] = "saved"
    serve = editor.serve

    async def changing(run: RunIds, request: EditorRequest) -> EditorAnswer:
        if isinstance(request, WriteFile):
            return EditorAnswer("changed")
        return await serve(run, request)

    editor.serve = changing  # type: ignore[method-assign]
    with pytest.raises(ToolError, match="is being changed in the editor"):
        editor.edit("saved", "new")


def test_nobody_knows_whether_a_silent_editor_has_written(editor: FakeEditor, file: Path) -> None:
    async def silent(_: RunIds, __: EditorRequest) -> EditorAnswer:
        return EditorAnswer("unknown", "the editor did not answer")

    editor.serve = silent  # type: ignore[method-assign]
    with pytest.raises(ToolError, match="did not answer; it is not known whether the file"):
        editor.use("write_file", path="a.txt", content="new")
    assert not file.exists()


def test_a_name_that_no_file_can_have_is_the_disk_s_to_refuse(editor: FakeEditor) -> None:
    with pytest.raises(ToolError, match="name too long"):
        editor.use("write_file", path="x" * 300, content="")
    assert editor.asked == []


COMMAND = "printf 'import os\\n\\nx = 1\\n' > a.txt"


def formatted(folder: Path) -> FakeEditor:
    """Return an editor that still has the text of a file from before a command has changed it."""
    (folder / "a.txt").write_text("import os\nx=1\n")
    editor = FakeEditor(folder)
    editor.texts[str(folder / "a.txt")] = "import os\nx=1\n"
    editor.use("run_command", command=COMMAND)
    return editor


def test_file_that_command_has_changed_is_read_from_disk(tmp_path: Path, file: Path) -> None:
    assert formatted(tmp_path).use("read_file", path="a.txt") == "1: import os\n2: \n3: x = 1"


def test_edit_keeps_what_command_has_changed(tmp_path: Path, file: Path) -> None:
    editor = formatted(tmp_path)
    editor.edit("import os", "import re")
    editor.edit("x = 1", "x = 2")
    assert file.read_text() == "import re\n\nx = 2\n"


def test_file_that_command_has_put_in_place_is_read_from_disk(tmp_path: Path, file: Path) -> None:
    file.write_text("one\n")
    (tmp_path / "b.txt").write_text("two\n")
    os.utime(tmp_path / "b.txt", (10**9, 10**9))
    editor = FakeEditor(tmp_path)
    editor.texts[str(file)] = "one\n"
    editor.use("run_command", command="mv b.txt a.txt")
    assert editor.use("read_file", path="a.txt") == "1: two"


def test_write_of_file_that_command_has_changed_leaves_unsaved_text(
    tmp_path: Path, file: Path
) -> None:
    editor = formatted(tmp_path)
    editor.texts[str(file)] = "typed meanwhile"
    editor.use("write_file", path="a.txt", content="new\n")
    assert file.read_text() == "new\n"
    assert editor.texts == {str(file): "typed meanwhile"}


def test_unsaved_text_counts_in_file_that_command_has_not_changed(
    tmp_path: Path, file: Path
) -> None:
    editor = formatted(tmp_path)
    editor.texts[str(file)] = file.read_text()
    os.utime(file, ns=(time.time_ns(), time.time_ns() + 10**9))  # The user has saved it since.
    editor.texts[str(file)] += "typed"
    assert editor.use("read_file", path="a.txt").endswith("typed")
