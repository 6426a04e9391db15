"""Standard input as a task: read, or looked at without being read."""

from __future__ import annotations

import os
import stat
import sys
import threading
from contextlib import suppress

from axe_lsp.runtime.errors import AgentError
from axe_lsp.runtime.plain_text import decode

PATIENCE = 3.0
"""Seconds to wait for the first input on a pipe if a prompt is given, too."""


def piped_text() -> str:
    """The piped input. A terminal and the null device are no input, as in axe. Raises AgentError."""
    if sys.stdin is None:
        return ""
    try:
        if stat.S_ISCHR(os.fstat(sys.stdin.fileno()).st_mode):
            return ""
        return decode(sys.stdin.buffer.read())
    except OSError as error:
        raise AgentError(f"failed to read stdin: {error}") from error


def text_beside_prompt() -> str | None:
    """The piped input in addition to a prompt. None if nothing arrives in PATIENCE seconds.

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
    """All that comes, if something does. A thread reads, as Windows can't wait for a pipe."""
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
    return decode(b"".join(pieces))


def has_text() -> bool:
    """Whether something would be lost if nobody read it. Waits for nobody who may still write."""
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
