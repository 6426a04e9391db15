"""Lines that a person types while a run works: messages to the run, and commands about it.

The terminal passes keys on at once and shows none. The first key opens the line editor, which is imported only then; it
closes when its line is sent or empty. A question to the person takes the terminal away, and the line comes back after it.
"""

from __future__ import annotations

import asyncio
import os
import re
import select
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

from axe_lsp.cli.text_width import cut, one_line
from axe_lsp.runtime.engine import Engine
from axe_lsp.runtime.events import (
    AgentBegin,
    AgentEnd,
    AgentResume,
    Event,
    MessageMode,
    MessageQueued,
    MessageRemoved,
    MessagesGiven,
)
from axe_lsp.runtime.inbox import PERSON, MessageEdit, MessageRefusedError, NewMessage
from axe_lsp.runtime.plain_text import visible

if TYPE_CHECKING:
    from axe_lsp.cli.line_editor import ToolkitEditor

_COMMAND = re.compile(r"/(\w+)(?:\s+(.*))?\Z", re.DOTALL)
"""A path such as `/usr/bin` is no command but the beginning of a message."""

_SHOWN = 60
"""Cells of a message that are shown."""

_QUIET = 1.0
"""Seconds without a key after which a person does not type: a question that came in between would get their keys."""

_LONGEST_READ = 1 << 16

_TOGETHER = 0.05
"""Seconds within which lines of a paste follow one another, on a terminal that does not mark pastes."""

# Bracketed paste: the terminal puts marks around what is pasted.
_PASTE_ON = "\x1b[?2004h"
_PASTE_OFF = "\x1b[?2004l"

_HELP = """\
A line is a message to the run, given before its next request.
/after TEXT   give the message when the run would end
/now TEXT     break off what the run does, and give the message
/queue        list the messages that wait
/drop N       take message N back
/stop [NAME]  stop the run, or agents that it has called, such as lint-1"""

_GIVEN = {"next": "before the next request", "after": "at the end", "now": "now"}


class Steering:
    """Executes typed lines for the root run `run_id`. `say` shows a line to the person."""

    def __init__(self, run_id: str, engine: Engine, say: Callable[[str], None]) -> None:
        self._run_id = run_id
        self._engine = engine
        self._say = say
        self._children: dict[str, str] = {}
        self._texts: dict[str, str] = {}

    def event(self, event: Event) -> None:
        """Take note of agents that can be stopped, and show what becomes of messages."""
        run_id = event.run.run_id
        if run_id != self._run_id:
            self._note_child(event)
        elif isinstance(event, MessageQueued) and event.from_ == PERSON:
            self._texts[event.message_id] = event.text
            self._say(f"queued, given {_GIVEN[event.mode]}: {_short(event.text)}")
        elif isinstance(event, MessageRemoved):
            self._say(f"taken back: {_short(self._texts.pop(event.message_id, ''))}")
        elif isinstance(event, MessagesGiven):
            for each in event.message_ids:
                self._say(f"> {_short(self._texts.pop(each, ''))}")

    async def execute(self, line: str) -> str:
        """Execute a line. Return it if nothing was done, so that the person can change it."""
        match = _COMMAND.fullmatch(line)
        name, argument = (match[1], (match[2] or "").strip()) if match else ("", line)
        try:
            return await self._execute(name, argument, line)
        except MessageRefusedError as error:
            self._say(f"not sent: {error}")
            return line

    async def _execute(self, name: str, argument: str, line: str) -> str:
        match name, argument:
            case (("after" | "now"), ""):
                self._say(f"`/{name}` needs a text; nothing was sent")
            case "", _:
                await self._send(argument, "next")
            case "after", _:
                await self._send(argument, "after")
            case "now", _:
                await self._send(argument, "now")
            case "queue", "":
                await self._list()
            case "drop", _:
                await self._drop(argument)
            case "stop", _:
                self._stop(argument)
            case "help", "":
                self._say(_HELP)
            case _:
                self._say(
                    f"`{visible(_short(line))}` can't be executed while the agent works; "
                    "nothing was sent. `/help` lists the commands."
                )
        return ""

    async def _send(self, text: str, mode: MessageMode) -> None:
        run = self._engine.find(self._run_id)
        if run is None:
            raise MessageRefusedError("ended")
        await run.accept_message(NewMessage(text, mode))

    async def _list(self) -> None:
        run = self._engine.find(self._run_id)
        queued = await run.queued_messages() if run is not None else ()
        lines = [
            f"{number}. ({_GIVEN[each.mode]}) {_short(each.text)}"
            for number, each in enumerate(queued, 1)
        ]
        self._say("\n".join(lines) or "No message waits.")

    async def _drop(self, argument: str) -> None:
        run = self._engine.find(self._run_id)
        queued = await run.queued_messages() if run is not None else ()
        is_number = argument.isascii() and argument.isdigit()
        if run is None or not (is_number and 1 <= int(argument) <= len(queued)):
            self._say("`/drop` needs the number of a message that waits; `/queue` lists them")
            return
        message_id = queued[int(argument) - 1].message_id
        if not await run.change_message(MessageEdit(message_id, removes=True)):
            self._say("the message was given already")

    def _stop(self, name: str) -> None:
        run_ids = [each for each, child in self._children.items() if child == name]
        if any([*map(self._engine.cancel, run_ids if name else [self._run_id])]):
            return
        names = ", ".join(sorted({*map(visible, self._children.values())})) or "none"
        self._say(f"no agent {visible(name)} works; at work: {names}")

    def _note_child(self, event: Event) -> None:
        if isinstance(event, (AgentBegin, AgentResume)):
            self._children[event.run.run_id] = event.side or event.run.agent
        elif isinstance(event, AgentEnd):
            self._children.pop(event.run.run_id, None)


def _short(text: str) -> str:
    return cut(one_line(text), _SHOWN)


class Surface(Protocol):
    """The output of the run on the same terminal."""

    def around_line(self, print_above: Callable[[str], None]) -> AbstractContextManager[None]:
        """Return a context in which whole lines of the answer go to `print_above`, and all else waits."""


def is_typed_at(terminal: int) -> bool:
    """Return whether a person can type here: this process is in the foreground of its terminal."""
    if sys.platform == "win32":
        return False
    with suppress(OSError):
        return os.tcgetpgrp(terminal) == os.getpgrp()
    return False


def has_input(terminal: int) -> bool:
    """Return whether lines wait already, such as commands for the shell after this one."""
    return bool(select.select([terminal], [], [], 0)[0])


class TypedLines:
    """Reads lines for `execute` while its context is open. `draft` is the line that was not sent at the end.

    `open_editor` returns the editor; it is called in a thread when the first key arrives.
    """

    def __init__(
        self,
        terminal: int,
        surface: Surface,
        execute: Callable[[str], Awaitable[str]],
        open_editor: Callable[[], ToolkitEditor],
    ) -> None:
        self.draft = ""
        self._terminal = terminal
        self._surface = surface
        self._execute = execute
        self._open_editor = open_editor
        self._editor: ToolkitEditor | None = None
        self._task: asyncio.Task[None] | None = None
        self._mode = _KeyMode(terminal)

    def begin(self) -> None:
        """Read lines from now on."""
        self._mode.enter(self._begin_again)
        self._task = asyncio.get_running_loop().create_task(self._read_lines())

    async def end(self) -> None:
        """Give the terminal back."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        self._mode.leave()

    @asynccontextmanager
    async def suspended(self) -> AsyncIterator[None]:
        """Leave the terminal to a question, once the person does not type. The line comes back afterwards."""
        while (left := self._until_quiet()) > 0:  # noqa: ASYNC110 - the lack of keys is no event
            await asyncio.sleep(left)
        await self.end()
        try:
            yield
        finally:
            self.begin()

    def _until_quiet(self) -> float:
        if self._editor is None or not self._editor.is_open:
            return 0.0
        return self._editor.last_key + _QUIET - time.monotonic()

    def _begin_again(self) -> None:
        """Go on after the shell had the terminal meanwhile."""
        if self._task is not None and self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._read_lines())

    async def _read_lines(self) -> None:
        while True:
            keys = b""
            if not self.draft and not (self._editor is not None and self._editor.has_keys):
                keys = await _read_when_typed(self._terminal)
                if not keys:
                    return
                if not keys.strip():
                    continue
            if self._editor is None:
                try:
                    self._editor = await asyncio.to_thread(self._open_editor)
                except asyncio.CancelledError:
                    self.draft = one_line(keys.decode("utf-8", "replace"))
                    raise
            line = await self._edit(self._editor, keys)
            if line:
                self.draft = await self._execute(line)

    async def _edit(self, editor: ToolkitEditor, keys: bytes) -> str:
        """Return the line that was sent, "" if there is none any more."""
        draft, self.draft = self.draft, ""
        try:
            with self._surface.around_line(editor.print_above):
                return await editor.read_async(draft, keys)
        except KeyboardInterrupt:
            os.kill(os.getpid(), signal.SIGINT)
        except EOFError:
            pass
        except asyncio.CancelledError:
            self.draft = editor.draft
            raise
        finally:
            self._mode.mark_pastes()
        return ""


class PlainTypedLines:
    """Reads lines as the terminal itself edits and shows them: for screen readers and simple terminals."""

    def __init__(self, terminal: int, execute: Callable[[str], Awaitable[str]]) -> None:
        self.draft = ""
        self._terminal = terminal
        self._execute = execute
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Read lines from now on."""
        self._task = asyncio.get_running_loop().create_task(self._read_lines())

    async def end(self) -> None:
        """Leave the terminal to others."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    @asynccontextmanager
    async def suspended(self) -> AsyncIterator[None]:
        """Leave the terminal to a question; the beginning of a line is put before the next one."""
        await self.end()
        if beginning := _take_unsent(self._terminal):
            self.draft += beginning
            _write_control("\n")
        try:
            yield
        finally:
            if self.draft:
                _write_control(f"> {self.draft}")
            self.begin()

    async def _read_lines(self) -> None:
        while True:
            typed = await self._lines()
            if not typed:
                return
            line = (self.draft + typed).strip()
            self.draft = ""
            if line and (unsent := await self._execute(line)):
                self.draft = unsent

    async def _lines(self) -> str:
        """Return the lines that come together, "" at the end of the input and in the background."""
        data = await _read_when_typed(self._terminal)
        while data and select.select([self._terminal], [], [], _TOGETHER)[0]:
            more = os.read(self._terminal, _LONGEST_READ)
            if not more:
                break
            data += more
        return data.decode("utf-8", "replace")


def _take_unsent(terminal: int) -> str:
    """Return the beginning of a line for which Enter was not pressed, and empty the terminal's input."""
    if sys.platform == "win32" or not is_typed_at(terminal):
        return ""
    import termios

    with suppress(termios.error):
        saved = termios.tcgetattr(terminal)
        mode = [*saved]
        mode[3] &= ~termios.ICANON
        termios.tcsetattr(terminal, termios.TCSANOW, mode)
        try:
            data = os.read(terminal, _LONGEST_READ) if has_input(terminal) else b""
        finally:
            termios.tcsetattr(terminal, termios.TCSANOW, saved)
        return data.decode("utf-8", "replace")
    return ""


async def _read_when_typed(terminal: int) -> bytes:
    """Return the first bytes that are typed, b"" at a hang-up or in the background, where a read would stop the process."""
    loop, arrived = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(terminal, arrived.set)
    try:
        await arrived.wait()
    finally:
        loop.remove_reader(terminal)
    if not is_typed_at(terminal):
        return b""
    with suppress(OSError):
        return os.read(terminal, _LONGEST_READ)
    return b""


class _KeyMode:
    """The mode of a terminal in which keys arrive at once and are not shown. Ctrl-C and Ctrl-Z keep their meaning."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._saved: list[Any] | None = None
        self._former_handler: Any = None

    def enter(self, on_return: Callable[[], object]) -> None:
        """Set the mode, and again with `on_return` when the shell gives the terminal back after Ctrl-Z."""
        if sys.platform == "win32":
            return
        loop = asyncio.get_running_loop()

        def again() -> None:
            self._set()
            on_return()

        def on_continue(_number: int, _frame: FrameType | None) -> None:
            loop.call_soon_threadsafe(again)

        self._set()
        self._former_handler = signal.signal(signal.SIGCONT, on_continue)

    def leave(self) -> None:
        """Set the mode of before."""
        if sys.platform == "win32" or self._saved is None:
            return
        import termios

        signal.signal(signal.SIGCONT, self._former_handler or signal.SIG_DFL)
        saved, self._saved = self._saved, None
        # A process in the background would be stopped.
        if is_typed_at(self._terminal):
            with suppress(termios.error):
                termios.tcsetattr(self._terminal, termios.TCSADRAIN, saved)
            _write_control(_PASTE_OFF)

    def mark_pastes(self) -> None:
        """Have the terminal mark pastes, so that several lines are one message. The editor switches this off."""
        _write_control(_PASTE_ON)

    def _set(self) -> None:
        if sys.platform == "win32" or not is_typed_at(self._terminal):
            return
        import termios

        with suppress(termios.error):
            mode = termios.tcgetattr(self._terminal)
            if self._saved is None:
                self._saved = [*mode]
            mode[0] &= ~termios.ICRNL  # Enter is a carriage return, as the editor expects it.
            mode[3] &= ~(termios.ECHO | termios.ICANON)
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, mode)
            self.mark_pastes()


def _write_control(sequence: str) -> None:
    with suppress(OSError):
        sys.stderr.write(sequence)
        sys.stderr.flush()
