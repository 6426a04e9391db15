"""The standard streams of a command: UTF-8, never missing, and never losing output unnoticed."""

from __future__ import annotations

import io
import json
import os
import stat
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from axe_lsp.runtime.errors import (
    AgentError,
    AgentFileError,
    ConfigError,
    MissingKeyError,
    RunError,
)
from axe_lsp.runtime.events import Event
from axe_lsp.runtime.plain_text import decode, harmless


def prepare() -> None:
    """Make both streams usable. One that was closed from the start gets a stand-in.

    What goes to a missing standard error is lost, as the caller wanted, and so is what it can't take.
    A missing standard output fails when something is written to it, like a full disk.
    """
    if sys.stdout is None:
        sys.stdout = _opened(os.O_RDONLY)
    if sys.stderr is None:
        sys.stderr = _opened(os.O_WRONLY)
    forgive_errors()
    for stream in (sys.stdout, sys.stderr):
        # Agents answer in any language, whatever the terminal's encoding is set to.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")


def forgive_errors() -> None:
    """Ignore failures of standard error itself, for example a full disk."""
    stream = sys.stderr
    buffer = getattr(stream, "buffer", None)
    raw = getattr(buffer, "raw", buffer)
    # Not the stand-ins of tests, nor the console of Windows, which writes by itself.
    is_own = isinstance(stream, io.TextIOWrapper) and stream is sys.__stderr__
    if is_own and type(raw) is io.FileIO:
        forgetful = io.BufferedWriter(_Forgetful(raw.fileno(), "w", closefd=False))
        sys.stderr = io.TextIOWrapper(
            forgetful, stream.encoding, stream.errors, line_buffering=True
        )


class _Forgetful(io.FileIO):
    """A file that loses what it can't take."""

    def write(self, content: Any, /) -> int:
        """Return all of it, as far as the caller has to know."""
        try:
            return super().write(content)
        except OSError:
            return memoryview(content).nbytes


def output_fault() -> OSError | None:
    """Return why standard output can't be written, if it can't. Flushes it, and drops what is stuck."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # Python would try once more at exit, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return error
    return None


def is_coloured(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Return whether a stream gets styles: a terminal does. NO_COLOR forbids them, FORCE_COLOR wants them anywhere."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return stream.isatty() and obeys_escapes(stream, environment)


def obeys_escapes(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Return whether the terminal understands escape sequences; Windows has to be asked to."""
    if sys.platform != "win32":
        return environment.get("TERM", "dumb") != "dumb"
    import ctypes
    import msvcrt

    enable_virtual_terminal_processing = 4
    kernel = ctypes.windll.kernel32
    handle = msvcrt.get_osfhandle(stream.fileno())
    mode = ctypes.c_ulong()
    if not kernel.GetConsoleMode(handle, ctypes.byref(mode)):
        return False
    return bool(kernel.SetConsoleMode(handle, mode.value | enable_virtual_terminal_processing))


class Display:
    """Tells a person about one run while it goes on; this one tells no more than what it is given to say."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._held: list[str] = []
        self._pauses = 0

    def event(self, event: Event) -> None:
        """Take note of an event; nothing is shown."""

    def say(self, text: str) -> None:
        """Print a message on a line of its own, after a pause if there is one."""
        if self._pauses:
            self._held.append(text)
        else:
            self._print(text)

    def _print(self, text: str) -> None:
        with suppress(OSError):
            print(text, file=self._stream, flush=True)

    @property
    def is_paused(self) -> bool:
        """Whether what is said waits."""
        return self._pauses > 0

    def status(self) -> str:
        """Return a line about the run as it is now, "" if there is none."""
        return ""

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Write nothing while other output is written; catch up on it after the last of several pauses."""
        self._pauses += 1
        if self._pauses == 1:
            self._hide()
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                held, self._held = self._held, []
                if held:
                    self._print("\n".join(held))
                self._show()

    def _hide(self) -> None:
        """Take away what changes."""

    def _show(self) -> None:
        """Show it again."""

    def close(self) -> None:
        """End the output of the run. Later output on the terminal begins on a new line."""


def open_terminal() -> int | None:
    """Return where a person can answer what standard error asks, if there is one: a file descriptor."""
    if sys.platform == "win32" or not sys.stderr.isatty():
        return None
    if sys.stdin is not None and sys.stdin.isatty():
        return sys.stdin.fileno()
    # Standard input may be the task, or nothing; the person is there all the same.
    with suppress(OSError):
        return os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    return None


def agrees(question: str, way_out: str) -> bool:
    """Return whether the person at the terminal agrees. Raises ConfigError if there is none; `way_out` is what helps then."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise ConfigError(f"nobody can be asked here; {way_out}")
    print(f"{question}? [y]es, [N]o: ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def complain(error: RunError) -> None:
    """Say why a command has failed, and what helps."""
    import shlex

    print_message(str(error))
    if isinstance(error, MissingKeyError) and error.provider:
        command = f"axe-lsp config key {shlex.quote(error.provider)}"
        tell_person(f"`{command}` asks for it, and stores it.")
    if not isinstance(error, AgentFileError):
        tell_person(error.hint)
        return
    place = f"{error.hint}. " if error.hint else ""
    tell = tell_person if error.has_words_of_axe else print_message
    tell(f"{place}`axe-lsp check {shlex.quote(error.path)}` shows it.")


def columns_of(stream: TextIO) -> int:
    """Return the width of the terminal as it is now; the usual one for a pipe, and for a terminal that does not know its own."""
    with suppress(OSError):
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_COLUMNS
    return _USUAL_COLUMNS


def rows_of(stream: TextIO) -> int:
    """Return the height of the terminal as it is now; any text fits into a pipe, and into a terminal that does not know its own."""
    with suppress(OSError):
        return os.get_terminal_size(stream.fileno()).lines or sys.maxsize
    return sys.maxsize


_USUAL_COLUMNS = 80


def shown(text: str, stream: TextIO) -> str:
    """Return the text of models and providers for a stream: without control characters on a terminal."""
    return harmless(text) if stream.isatty() else text


def compact(value: object) -> str:
    """Return JSON on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def tell_person(text: str) -> None:
    """Print a hint on standard error, also in a pipe and in CI. Programs without a person get what axe writes."""
    if text and has_person():
        print_message(text)


def has_person() -> bool:
    """Return whether a person may read standard error, now or later; others get exactly what axe writes."""
    # TERM is set for all that is started from a terminal, whatever its streams are, and CI for what has a log.
    return sys.stderr.isatty() or bool(os.environ.get("TERM") or os.environ.get("CI"))


def print_message(text: str) -> None:
    """Print a message on standard error, on a terminal without control characters and broken between words."""
    print(message_lines(text), file=sys.stderr)


def message_lines(text: str) -> str:
    """Return a message as standard error gets it; pipes get it as it is."""
    if not sys.stderr.isatty():
        return text
    # Imported late: a command without a terminal counts milliseconds.
    from axe_lsp.cli.text_width import folded

    # The last column stays free, as terminals differ in what they do there.
    return folded(harmless(text), columns_of(sys.stderr) - 1)


def _opened(mode: int) -> TextIO:
    return os.fdopen(os.open(os.devnull, mode), "w", encoding="utf-8")


# -- standard input as a task: read, or looked at without being read


_REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()

PATIENCE = 3.0
"""Seconds to wait for the first input on a pipe if a prompt is given, too."""


def piped_text() -> str:
    """Return the piped input. A terminal and the null device are no input, as in axe. Raises AgentError, or ConfigError for binary input."""
    if sys.stdin is None:
        return ""
    try:
        if stat.S_ISCHR(os.fstat(sys.stdin.fileno()).st_mode):
            return ""
        return _as_text(sys.stdin.buffer.read())
    except OSError as error:
        raise AgentError(f"failed to read stdin: {error}") from error


def text_beside_prompt() -> str | None:
    """Return the piped input in addition to a prompt. None if nothing arrives in PATIENCE seconds.

    A script may have inherited a pipe that nobody ever closes. Raises AgentError.
    """
    if sys.stdin is None:
        return ""
    try:
        source = sys.stdin.fileno()
        mode = os.fstat(source).st_mode
        if not stat.S_ISFIFO(mode) and not stat.S_ISSOCK(mode):
            return piped_text()
    except OSError as error:
        raise AgentError(f"failed to read stdin: {error}") from error
    return _read_if_begun(source)


def _read_if_begun(source: int) -> str | None:
    """Return all that comes, if something does. A thread reads, as Windows can't wait for a pipe."""
    pieces: list[bytes] = []
    faults: list[OSError] = []
    begun, ended = threading.Event(), threading.Event()

    def read() -> None:
        try:
            while piece := os.read(source, 1 << 16):
                pieces.append(piece)
                begun.set()
        except OSError as error:
            faults.append(error)
        ended.set()
        begun.set()

    threading.Thread(target=read, name="standard input", daemon=True).start()
    if not begun.wait(PATIENCE):
        return None
    ended.wait()
    if faults:
        raise AgentError(f"failed to read stdin: {faults[0]}")
    return _as_text(b"".join(pieces))


def _as_text(data: bytes) -> str:
    """Decode piped input. Raises ConfigError for binary input; warns if it is not UTF-8."""
    if b"\0" in data:
        utf_16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        kind, remedy = (
            ("UTF-16", "convert it") if utf_16 else ("binary", "name a file in the prompt")
        )
        raise ConfigError(
            f"standard input is {kind}, not text in UTF-8; nothing was sent; {remedy}"
        )
    text = decode(data)
    bad = text.count("\N{REPLACEMENT CHARACTER}") - data.count(_REPLACEMENT)
    if bad > 0:
        print_message(
            f"Warning: standard input is not UTF-8; U+FFFD stands for bad bytes ({bad:,} times). "
            "`iconv -f latin1` converts Latin-1"
        )
    return text


def is_pipe_or_file() -> bool:
    """Return whether standard input is something that should have held a task."""
    with suppress(OSError, AttributeError):  # AttributeError: there is no standard input.
        return not stat.S_ISCHR(os.fstat(sys.stdin.fileno()).st_mode)
    return False


def has_text() -> bool:
    """Return whether something would be lost if nobody read it. Waits for nobody who may still write."""
    with suppress(OSError, AttributeError):  # AttributeError: there is no standard input.
        status = os.fstat(sys.stdin.fileno())
        if stat.S_ISREG(status.st_mode):
            return status.st_size > 0
        return stat.S_ISFIFO(status.st_mode) and _bytes_waiting(sys.stdin.fileno()) > 0
    return False


def _bytes_waiting(pipe: int) -> int:
    if sys.platform == "win32":
        return 0  # It is not known how to ask.
    import array
    import fcntl
    import termios

    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]
