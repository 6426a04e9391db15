"""The interface of a tool: its description for the model, its execution, its context, and the cut of long results.

A tool knows nothing of runs, providers and events. What goes wrong is a ToolError, whose text is
for the model: it never ends a run.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from msgspec import Struct, field

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.events import AgentPlace, Event, RunIds
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.messages import Image, Tool, ToolCall
from axe_lsp.runtime.plain_text import harmless
from axe_lsp.runtime.safety.approval import Rehearsal
from axe_lsp.runtime.safety.questions import NOBODY_ANSWERS, Answer
from axe_lsp.runtime.tools.editor import EditorOfRun
from axe_lsp.runtime.tools.long_output import MAX_OUTPUT
from axe_lsp.runtime.tools.seen_files import SeenFiles


class ToolError(Exception):
    """The failure of a tool, with the reason, for the model."""


AskUser = Callable[[str, str, tuple[str, ...]], Awaitable[Answer]]
"""Takes the id of the call in events, the question and its choices."""


async def _nobody(_call_id: str, _text: str, _choices: tuple[str, ...]) -> Answer:
    return NOBODY_ANSWERS


class Watch:
    """Reports where the tools of a run work that has a copy of its folder, and what a person should know of it.

    `ref` is the commit that keeps the work of an agent with a copy of its own.
    """

    def __init__(
        self,
        run: RunIds,
        emit: Callable[[Event], None],
        stopped_clock: Callable[[], AbstractContextManager[None]],
        warn: Callable[[str], None],
    ) -> None:
        self._run = run
        self._emit = emit
        self._stopped_clock = stopped_clock
        self._warn = warn
        self.ref: str | None = None

    @contextmanager
    def waiting(self, what: str, place: str = "") -> Iterator[None]:
        """Stop the clock while the call waits for something there."""
        self._emit(AgentPlace(run=self._run, place=place, waiting=what))
        with self._stopped_clock():
            yield

    def placed(self, place: str, folder: str = "", reason: str = "") -> None:
        """Report that the tools of the agent work at that place from now on."""
        self._emit(
            AgentPlace(
                run=self._run,
                place=place,
                folder=folder or None,
                ref=self.ref,
                reason=reason or None,
            )
        )

    def warn(self, text: str) -> None:
        """Warn the user."""
        self._warn(f"agent {quoted(self._run.agent)}: {text}")

    def warn_of_called(self, text: str) -> None:
        """Report a fault that ends the agent, which nobody else shows to a person if it is a called one."""
        if self._run.depth:
            self.warn(text)


class RemoteCopy(Protocol):
    """A copy on another machine, in which tools work. Changes come back to the copy here after each call.

    The `fault` is why nothing can be done there any more, "" as long as something can. `place` is where it is.
    """

    @property
    def fault(self) -> str: ...

    @property
    def place(self) -> tuple[str, str]:
        """The address of the machine, and the folder of the copy."""

    async def execute(self, call: ToolCall, workplace: Workplace) -> str | Shown:
        """Execute a call of a tool. Raises ToolError."""

    async def rehearse(self, call: ToolCall, workplace: Workplace) -> Rehearsal:
        """Say what a call would do. Raises ToolError."""

    def alike(self) -> AbstractAsyncContextManager[None]:
        """Keep both copies equal inside: changes of the local one are made in the other, too. Raises ToolError."""


class Workplace(Struct, frozen=True):
    """Where the tools of a run work: the folder that they do not leave, and the environment.

    The folder is absolute. `allowed_hosts` are those that pages may be fetched from; none means any.
    If it is `read_only`, nothing below the folder may change, as far as the system can see to that.
    `ask` puts a question to the person who started the run, with the answers to choose from, if any.
    `agents` are the agent whose tools these are and those that call it, the root first.
    The `editor` is there if it is to read and write files, or to run commands.
    If the folder is in a copy on another machine, it is the `remote_copy`, and `watch` hears of it.
    The tools may leave the folder for `more_folders`, which are absolute, too. The `workspace` of the run, of which the
    folder may be a part, is None for a copy. `seen_files` are those that the agent has read or written.
    """

    folder: Path
    environment: Environment
    allowed_hosts: tuple[str, ...] = ()
    read_only: bool = False
    ask: AskUser = _nobody
    agents: tuple[str, ...] = ()
    editor: EditorOfRun | None = None
    remote_copy: RemoteCopy | None = None
    watch: Watch | None = None
    more_folders: tuple[Path, ...] = ()
    workspace: Path | None = None
    seen_files: SeenFiles = field(default_factory=SeenFiles)

    @property
    def folders(self) -> tuple[Path, ...]:
        """All folders in which the tools work, that of relative paths first."""
        return (self.folder, *self.more_folders)


class Shown(Struct, frozen=True):
    """A result that has more than text."""

    text: str
    images: tuple[Image, ...]


class BuiltinTool(Struct, frozen=True):
    """A tool that an agent file may list.

    `execute` returns the result or raises ToolError. What may change something that was there before
    the run needs approval, and has a `rehearse` which says what a call would do, or raises
    ToolError; `writes` is for what does nothing else. What `is_here` does not work in the folder, and so never on another
    machine. `changes` gives the file that a call changes, or raises ToolError.
    """

    definition: Tool
    execute: Callable[[ToolCall, Workplace], Awaitable[str | Shown]]
    rehearse: Callable[[ToolCall, Workplace], Awaitable[Rehearsal]] | None = None
    writes: bool = False
    is_here: bool = False
    changes: Callable[[ToolCall, Workplace], Path] | None = None


def required(call: ToolCall, name: str) -> str:
    """Return an argument that must not be missing or empty. Raises ToolError."""
    value = call.argument(name)
    if not value:
        raise ToolError(f"{name} is required")
    return value


# Models write yes and no as strings, as the tools of axe want it.
_YES = frozenset(["1", "t", "T", "true", "TRUE", "True"])
_NO = frozenset(["0", "f", "F", "false", "FALSE", "False", ""])


def is_true(call: ToolCall, name: str) -> bool:
    """Return whether an argument says yes; absent it says no. Raises ToolError if it says neither."""
    text = call.argument(name)
    if text not in _YES | _NO:
        raise ToolError(f"invalid {name} value {quoted(text)}: must be true or false")
    return text in _YES


_COLOURS = r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
"""And other things that terminals obey: moves of the cursor, titles of windows."""


def capped_lines(lines: Iterable[str], how_to_go_on: str = "") -> str:
    """Return as many lines as fit into a tool result; if some are left out, a last line says how to get them."""
    kept: list[str] = []
    size = 0
    for line in lines:
        size += len(line.encode()) + 1
        if size > MAX_OUTPUT + 1:
            return "\n".join([*kept, _cut_off(how_to_go_on)])
        kept.append(line)
    return "\n".join(kept)


def without_colours(text: str) -> str:
    """Return what a terminal has shown as plain text."""
    return harmless(re.sub(_COLOURS, "", text))


def _cut_off(how_to_go_on: str = "") -> str:
    advice = f"; {how_to_go_on}" if how_to_go_on else ""
    return f"... [output truncated, exceeded 100KB{advice}]"
