"""The line editor for a person at a terminal: several lines, bracketed paste, history, completion.

`open_editor` returns an editor of prompt_toolkit, or `PlainLines` for terminals that obey no escape sequences and for
screen readers, which read what a terminal repaints again and again. Import this module late: prompt_toolkit takes
longer than the rest of a command.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import completion_is_selected
from prompt_toolkit.formatted_text import AnyFormattedText
from prompt_toolkit.history import History
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyBindings, KeyPress, KeyPressEvent
from prompt_toolkit.output import ColorDepth, Output, create_output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.shortcuts import CompleteStyle, PromptSession
from prompt_toolkit.styles import Style

from axe_lsp.cli.streams import obeys_escapes
from axe_lsp.hosting.history.database import history_file
from axe_lsp.runtime.files.regular_files import write_whole_file
from axe_lsp.runtime.files.user_config import known_secrets
from axe_lsp.runtime.safety.redaction import redact

PROMPT = "> "

_CONTINUATION = "  "

_MENU_ROWS = 6
"""Rows that stay free below the input for completions."""

_MOST_MESSAGES = 1000
"""Messages that the history keeps; the file may have twice as many before it is rewritten."""

_TOGETHER = 0.05
"""Seconds within which lines of a paste follow one another."""

_LONGEST_READ = 1 << 16

_STATUS_SECONDS = 0.5
"""Seconds between two looks at the status below a line."""


class Offer(Struct, frozen=True):
    """A completion: `text` replaces the last `length` characters before the cursor."""

    text: str
    length: int
    description: str = ""


Complete = Callable[[str], Iterable[Offer]]
"""Returns the completions for the text before the cursor. Called with each key, so it has to be fast."""


class LineEditor(Protocol):
    """Reads messages between runs. `draft` is text that the person may edit and send."""

    def read(self, draft: str = "") -> str:
        """Return the next message, without blanks around it. Raises EOFError at the end of the input.

        Raises KeyboardInterrupt for Ctrl-C on an empty line; on another line it clears the line.
        """


def open_editor(
    complete: Complete,
    history: Path | None,
    secrets: Iterable[str],
    environment: Mapping[str, str],
    *,
    is_plain: bool = False,
) -> LineEditor:
    """Return the editor for the terminal of this process. Messages are kept in the file `history`, without secrets."""
    if is_plain or not obeys_escapes(sys.stderr, environment):
        return PlainLines()
    return ToolkitEditor(complete, MessageHistory(history, secrets), environment)


def open_editor_beside(environment: Mapping[str, str], status: Callable[[], str]) -> ToolkitEditor:
    """Return the editor for messages to a run that works, with its `status` below the line."""
    history = MessageHistory(messages_file(environment), known_secrets(environment))
    return ToolkitEditor(lambda _: (), history, environment, status=status)


def messages_file(environment: Mapping[str, str]) -> Path:
    """Return the file of messages that were typed, beside the history of runs."""
    return history_file(environment).with_name("chat-messages.jsonl")


class PlainLines:
    """Reads lines as the terminal itself edits them. Lines that arrive together, as of a paste, are one message."""

    def read(self, draft: str = "") -> str:
        """Return the next message. Raises EOFError. A draft is sent as it is when the person only presses Enter."""
        print(f"{draft}\n{PROMPT}" if draft else PROMPT, end="", file=sys.stderr, flush=True)
        lines = [self._line()]
        while self._has_more():
            lines.append(self._line())
        return "".join(lines).strip() or draft

    def _line(self) -> str:
        if sys.platform == "win32":
            return input()
        data = os.read(sys.stdin.fileno(), _LONGEST_READ)
        if not data:
            raise EOFError
        return data.decode("utf-8", "replace")

    def _has_more(self) -> bool:
        if sys.platform == "win32":
            return False
        return bool(select.select([sys.stdin.fileno()], [], [], _TOGETHER)[0])


class ToolkitEditor:
    """The editor of prompt_toolkit. With a `status` it is open beside a run: a line that becomes empty closes it."""

    def __init__(
        self,
        complete: Complete,
        history: History,
        environment: Mapping[str, str],
        *,
        status: Callable[[], str] | None = None,
    ) -> None:
        is_beside = status is not None
        self.last_key = 0.0
        colours = ColorDepth.DEPTH_1_BIT if environment.get("NO_COLOR") else None
        self._session: PromptSession[str] = PromptSession(
            PROMPT,
            multiline=True,
            prompt_continuation=_continuation,
            completer=_Completer(complete),
            complete_while_typing=True,
            complete_style=CompleteStyle.COLUMN,
            reserve_space_for_menu=0 if is_beside else _MENU_ROWS,
            history=history,
            key_bindings=_bindings(),
            color_depth=colours,
            output=_terminal_output(),
            bottom_toolbar=status,
            refresh_interval=_STATUS_SECONDS if is_beside else 0,
            style=Style.from_dict({"bottom-toolbar": "noreverse"}),
            erase_when_done=is_beside,
        )
        self._session.default_buffer.on_text_changed += self._note_key
        self._is_beside = is_beside

    def read(self, draft: str = "") -> str:
        """Return the next message. Raises EOFError and KeyboardInterrupt."""
        return self._session.prompt(default=draft).strip()

    async def read_async(self, draft: str, keys: bytes) -> str:
        """Return the next message while the event loop goes on, "" for none; `keys` were typed before.

        Cancelling it takes the line away; `draft` has its text then. Raises EOFError and KeyboardInterrupt.
        """
        self.last_key = time.monotonic()
        if keys:
            presses: list[KeyPress] = []
            parser = Vt100Parser(presses.append)
            parser.feed(keys.decode("utf-8", "replace"))
            parser.flush()
            store_typeahead(self._session.app.input, presses)
        with _kept_wakeup_fd():
            return (await self._session.prompt_async(default=draft, handle_sigint=False)).strip()

    @property
    def is_open(self) -> bool:
        """Whether a line is being typed."""
        return self._session.app.is_running

    @property
    def draft(self) -> str:
        """The text of the line that is open, or was open last."""
        return self._session.default_buffer.text

    @property
    def has_keys(self) -> bool:
        """Whether keys were typed after the last line."""
        terminal = self._session.app.input
        keys = get_typeahead(terminal)
        store_typeahead(terminal, keys)
        return bool(keys)

    def print_above(self, text: str) -> None:
        """Write whole lines to standard output, above the line that is open."""
        app = self._session.app
        if app.is_running:
            app.renderer.erase()
        sys.stdout.write(text)
        sys.stdout.flush()
        app.invalidate()

    def _note_key(self, buffer: Buffer) -> None:
        self.last_key = time.monotonic()
        app = self._session.app
        if self._is_beside and not buffer.text and app.is_running and not app.is_done:
            app.exit(result="")


@contextmanager
def _kept_wakeup_fd() -> Iterator[None]:
    """Restore the pipe that learns of signals, by which a guard ends the process: a handler of asyncio replaces it."""
    pipe = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(pipe, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(pipe, warn_on_full_buffer=False)


def _terminal_output() -> Output:
    """Return the terminal; standard output may be a file."""
    output = create_output(always_prefer_tty=True)
    if isinstance(output, Vt100_Output):
        # The terminal is not asked where its cursor is: over a slow connection its answer would become input.
        output.enable_cpr = False
    return output


def _continuation(_width: int, _line: int, _wraps: int) -> AnyFormattedText:
    return _CONTINUATION


def _bindings() -> KeyBindings:
    """Return the keys that differ from prompt_toolkit's own."""
    bindings = KeyBindings()
    add = bindings.add
    add("enter", filter=completion_is_selected)(_take_completion)
    add("enter", filter=~completion_is_selected)(_send)
    # Ctrl-J, as some terminals send Shift-Enter, and Alt-Enter.
    add("c-j")(_new_line)
    add("escape", "enter")(_new_line)
    add("c-c")(_clear_or_interrupt)
    add("c-d")(_end_or_delete)
    add("up", filter=~completion_is_selected)(_go_up)
    add("down", filter=~completion_is_selected)(_go_down)
    return bindings


def _take_completion(event: KeyPressEvent) -> None:
    event.current_buffer.complete_state = None


def _send(event: KeyPressEvent) -> None:
    buffer = event.current_buffer
    if buffer.document.text_before_cursor.endswith("\\"):
        buffer.delete_before_cursor()
        _new_line(event)
    elif buffer.text.strip():
        buffer.validate_and_handle()
    else:
        _clear(buffer)


def _clear(buffer: Buffer) -> None:
    """Empty the line."""
    buffer.reset()
    buffer.on_text_changed.fire()  # `reset` does not.


def _new_line(event: KeyPressEvent) -> None:
    event.current_buffer.newline(copy_margin=False)


def _clear_or_interrupt(event: KeyPressEvent) -> None:
    if event.current_buffer.text:
        _clear(event.current_buffer)
    else:
        event.app.exit(exception=KeyboardInterrupt)


def _end_or_delete(event: KeyPressEvent) -> None:
    if event.current_buffer.text:
        event.current_buffer.delete()
    else:
        event.app.exit(exception=EOFError)


def _go_up(event: KeyPressEvent) -> None:
    """Move between lines and messages, not in the menu of completions, which Tab enters."""
    event.current_buffer.complete_state = None
    event.current_buffer.auto_up()


def _go_down(event: KeyPressEvent) -> None:
    event.current_buffer.complete_state = None
    event.current_buffer.auto_down()


class _Completer(Completer):
    def __init__(self, complete: Complete) -> None:
        self._complete = complete

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        """Yield the completions before the cursor."""
        for offer in self._complete(document.text_before_cursor):
            yield Completion(offer.text, -offer.length, display_meta=offer.description)


class MessageHistory(History):
    """The messages of all conversations of the user, one JSON string a line, for the user alone.

    Messages hold no secrets. A file that can't be read or written is no reason to end a conversation.
    """

    def __init__(self, file: Path | None, secrets: Iterable[str]) -> None:
        super().__init__()
        self._file = file
        self._secrets = tuple(secrets)

    def load_history_strings(self) -> Iterable[str]:
        """Return the messages, newest first."""
        return list(reversed(self._stored()))

    def store_string(self, string: str) -> None:
        """Add a message."""
        if self._file is None:
            return
        line = json.dumps(redact(string, self._secrets)) + "\n"
        with suppress(OSError):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
            with os.fdopen(os.open(self._file, flags, 0o600), "a", encoding="utf-8") as file:
                file.write(line)

    def _stored(self) -> list[str]:
        if self._file is None:
            return []
        try:
            lines = self._file.read_text("utf-8", "replace").splitlines()
        except OSError:
            return []
        if len(lines) > 2 * _MOST_MESSAGES:
            kept = "".join(f"{line}\n" for line in lines[-_MOST_MESSAGES:])
            with suppress(OSError):
                write_whole_file(self._file, kept.encode())
        return list(_messages_in(lines[-_MOST_MESSAGES:]))


def _messages_in(lines: Iterable[str]) -> Iterator[str]:
    """Yield the messages of lines; others, which a full disk has cut, are left out."""
    for line in lines:
        with suppress(ValueError):
            message = json.loads(line)
            if isinstance(message, str) and message:
                yield message
