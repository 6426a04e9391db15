"""The editor of the person who started a run: its files, its terminals and its language servers, for tools.

The data goes from the process that executes a run to the one that is connected with the editor.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Literal

from msgspec import Struct, field

from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.json_data import JsonStruct

Ability = Literal["read", "write", "terminal", "code"]


class ReadFile(JsonStruct, frozen=True, tag_field="kind", tag="read"):
    """The text of a file, with what is not saved. All paths are absolute."""

    path: str


class WriteFile(JsonStruct, frozen=True, tag_field="kind", tag="write"):
    """Give a file a text, if the editor still has it as it was `before`; None for any."""

    path: str
    text: str
    before: str | None = None


class RunCommand(JsonStruct, frozen=True, tag_field="kind", tag="command"):
    """Run a command in a terminal for `limit` seconds at most, and keep that many bytes of its output.

    `call_id` is that of the tool call in events. The `environment` is added to that of the editor.
    """

    call_id: str
    command: tuple[str, ...]
    folder: str
    environment: Mapping[str, str]
    limit: float
    keep: int


CodeQuestion = Literal[
    "diagnostics", "definition", "references", "symbols", "hover", "incomingCalls", "outgoingCalls"
]


class QueryCode(JsonStruct, frozen=True, tag_field="kind", tag="code"):
    """Ask the language servers of the editor about code. The editor may wait for them for `seconds`.

    `path` is absolute; "" stands for the whole workspace. The `line` counts from 1, 0 for none, and has the `name`;
    for symbols of the workspace the `name` is what to search. Diagnostics are to be about the text with this `digest`
    (`text_digest`), "" for the text that the editor has.
    """

    question: CodeQuestion
    path: str = ""
    line: int = 0
    name: str = ""
    digest: str = ""
    seconds: float = 0.0


class CodeItem(JsonStruct, frozen=True):
    """A place in code that a language server has named. The `line` counts from 1, 0 for none.

    `text` is the line if the editor has the file open, `message` the words of the language server.
    """

    path: str = ""
    line: int = 0
    text: str | None = None
    name: str = ""
    kind: str = ""
    message: str = ""
    severity: str = ""
    source: str = ""


class CodeAnswer(JsonStruct, frozen=True):
    """The answer of the language servers, and how many items are `left_out` for their number.

    Diagnostics of a path are complete for the text of which `checked` has the digest. `missing` says what there is not:
    the `folder` in the editor, a `server` for the file, or the `name` on the line.
    """

    items: tuple[CodeItem, ...] = ()
    left_out: int = 0
    checked: Mapping[str, str] = field(default_factory=dict)
    missing: Literal["", "folder", "server", "name"] = ""


EditorRequest = ReadFile | WriteFile | RunCommand | QueryCode

Outcome = Literal["done", "failed", "refused", "changed", "unknown"]


class EditorAnswer(JsonStruct, frozen=True):
    """The outcome of a request, and `why` if it is not "done".

    "failed": nothing has happened, and it can be done without the editor. "refused": it may not be done, as the editor
    or its user says. "changed": the file is not as it was before. "unknown": it may have happened.
    `text` is that of the file, or the output of the command, which lacks its beginning unless it `is_all`. A command
    has a `code` or was ended by a `signal`; it has neither if its time was over. `about_code` answers a `QueryCode`.
    """

    outcome: Outcome = "done"
    why: str = ""
    text: str = ""
    is_all: bool = True
    code: int | None = None
    signal: str = ""
    about_code: CodeAnswer | None = None


AskEditor = Callable[[RunIds, EditorRequest], Awaitable[EditorAnswer]]
"""Has the editor do something for a run. Cancelling it takes the request back, and ends a command."""


async def no_editor(_: RunIds, __: EditorRequest) -> EditorAnswer:
    """Answer as where no editor is."""
    return EditorAnswer("failed", "there is no editor")


async def no_language_server(_: RunIds, __: EditorRequest) -> EditorAnswer:
    """Answer as an editor without a language server, for replays of runs that had editor tools."""
    return EditorAnswer(about_code=CodeAnswer(missing="server"))


def code_only(serve: AskEditor) -> Editor:
    """Return an editor that only answers questions about code."""
    abilities: tuple[Ability, ...] = ("code",)
    return Editor(abilities, serve)


class DiskChanges:
    """The times in which commands of a run, or its tools, have changed files on the disk past the editor."""

    # Linux stamps files with the time of the last tick of its clock, at most 10 ms ago.
    _TICK = 10_000_000

    def __init__(self) -> None:
        self._ended: list[tuple[int, int]] = []
        self._begun: list[int] = []

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Count the time of a block."""
        begun = time.time_ns() - self._TICK
        self._begun.append(begun)
        try:
            yield
        finally:
            self._begun.remove(begun)
            self._ended.append((begun, time.time_ns()))

    def include(self, time_ns: int) -> bool:
        """Return whether a time, in nanoseconds since 1970, is one of these."""
        return any(begun <= time_ns for begun in self._begun) or any(
            begun <= time_ns <= ended for begun, ended in self._ended
        )


class Editor(Struct, frozen=True):
    """An editor and what it can do."""

    abilities: Collection[Ability]
    serve: AskEditor
    disk_changes: DiskChanges = field(default_factory=DiskChanges)

    def for_code_only(self) -> Editor | None:
        """Return the editor as far as it answers questions about code; None if it does not."""
        if "code" not in self.abilities:
            return None
        return code_only(self.serve)


class EditorOfRun(Struct, frozen=True):
    """The same for the tools of one run."""

    editor: Editor
    run: RunIds

    @property
    def disk_changes(self) -> DiskChanges:
        """The changes of files that the editor may not have noticed."""
        return self.editor.disk_changes

    def can(self, ability: Ability) -> bool:
        """Return whether it can do something."""
        return ability in self.editor.abilities

    async def ask(self, request: EditorRequest) -> EditorAnswer:
        """Have it do something."""
        return await self.editor.serve(self.run, request)


def changing_disk(editor: Editor | EditorOfRun | None) -> AbstractContextManager[None]:
    """Change files on the disk past the editor, if there is one."""
    return nullcontext() if editor is None else editor.disk_changes.going_on()
