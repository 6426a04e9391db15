"""A process on a real pseudo-terminal, seen as the person in front of it sees it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyte

from support.scripted_provider import PATIENCE

Screen = list[str]
"""The rows that are not empty, without blanks at their ends."""

# Makes the terminal the process's own, so that Ctrl-C reaches it, then becomes the command. A shell in the
# background, which may have started the tests, has its programs ignore Ctrl-C; one at a terminal doesn't.
_TAKE_TERMINAL = (
    "import fcntl, os, signal, sys, termios; fcntl.ioctl(2, termios.TIOCSCTTY, 0); "
    "signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)


class _Screen(pyte.Screen):
    """Answers no questions of programs, some of which pyte stumbles over."""

    def report_device_status(self, mode: int, **_: object) -> None:
        pass

    def report_device_attributes(self, mode: int = 0, **_: object) -> None:
        pass


class Terminal:
    """A context manager. Standard output goes to the terminal as well, unless it is `redirected`."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        columns: int = 80,
        redirected: int | None = None,
    ) -> None:
        self._ours, theirs = pty.openpty()
        self._screen = _Screen(columns, 40)
        self._bytes = pyte.ByteStream(self._screen)
        self.written = b""
        self._set_size(theirs)
        self.process = subprocess.Popen(
            [sys.executable, "-c", _TAKE_TERMINAL, *command],
            cwd=folder,
            env={"TERM": "xterm-256color", **environment},
            stdin=subprocess.DEVNULL,
            stdout=theirs if redirected is None else redirected,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)

    def shows(self, test: Callable[[Screen], bool]) -> Screen:
        """Wait until the screen passes the test."""
        deadline = time.monotonic() + PATIENCE
        # What is drawn anew is empty for a moment.
        while not (self.rows and test(self.rows)):
            assert self._read(deadline), f"it never came; the screen: {self.rows}"
        return self.rows

    def end(self) -> tuple[int, Screen]:
        """Wait for the end of the process; returns its exit code and what is on the screen."""
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline):
            pass
        return self.process.wait(PATIENCE), self.rows

    def type(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def resize(self, columns: int) -> None:
        self._screen.resize(40, columns)
        self._set_size(self._ours)

    @property
    def rows(self) -> Screen:
        return [row.rstrip() for row in self._screen.display if row.strip()]

    @property
    def cursor(self) -> tuple[int, int]:
        """Row and column, from 0."""
        return self._screen.cursor.y, self._screen.cursor.x

    def _set_size(self, descriptor: int) -> None:
        size = struct.pack("HHHH", self._screen.lines, self._screen.columns, 0, 0)
        fcntl.ioctl(descriptor, termios.TIOCSWINSZ, size)

    def _read(self, deadline: float) -> bool:
        """Take what was written; False when nobody will write any more, or not in time."""
        if not select.select([self._ours], [], [], max(0, deadline - time.monotonic()))[0]:
            return False
        try:
            data = os.read(self._ours, 65536)
        except OSError:  # Linux says so when the other side is closed.
            return False
        self.written += data
        self._bytes.feed(data)
        return bool(data)
