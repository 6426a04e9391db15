"""Keeps a command: when it ends, everything that it started ends, too.

A program of its own between axe-lsp and the command, run as a file, so it knows nothing but the
standard library: `command_reaper.py DESCRIPTOR COMMAND...`. The descriptor is the lifeline: when that
ends, because axe-lsp wants the command to stop or because axe-lsp has been killed, the command is
killed. The command has the standard streams; its standard input is open in no other process, so
its writer notices when the command closes it. On Linux, what the command has put
into other sessions is found all the same, since orphans become children of the reaper. Between the two
is a process that does nothing: what the command sees as its parent, and may kill, is not the reaper. It
exits with the command's code, or 128 and the signal, as shells do.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

assert sys.platform != "win32"

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
"""Signals that a command sends to its group, as with `kill 0`, are not meant for the reaper."""

_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


def main(lifeline: int, command: list[str]) -> int:
    """Run a command to its end, and return the exit code."""
    os.set_inheritable(lifeline, False)
    os.environ.pop("LC_CTYPE", None)  # Python's own, where the environment names no locale.
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _continue_without_parent()
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    reaper = os.getpid()
    stand_in = os.fork() or _stand_in(reaper, command)
    os.close(0)
    threading.Thread(target=_hold_lifeline, args=[lifeline, stand_in], daemon=True).start()
    code = _code_of(stand_in)
    _end_orphans()
    return code


def _stand_in(reaper: int, command: list[str]) -> int:
    """Run the command below this child, and never return. It dies with the reaper, and the command with it."""
    _die_with(reaper)
    stand_in = os.getpid()
    child = os.fork() or _become(stand_in, command)
    os.close(0)
    os._exit(_code_of(child))


def _become(stand_in: int, command: list[str]) -> int:
    """Become the command, and never return."""
    _die_with(stand_in)
    for each in (*_SIGNALS, *_IGNORED_BY_PYTHON):
        signal.signal(each, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        os._exit(127)


def _code_of(child: int) -> int:
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _hold_lifeline(lifeline: int, child: int) -> None:
    os.read(lifeline, 1)
    if sys.platform == "linux":
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)  # Which makes orphans of all the others.
    else:
        os.killpg(0, signal.SIGKILL)  # This process, too: nobody is there to hear its code.


def _end_orphans() -> None:
    """Kill until no child is left: each one that ends may leave further ones behind."""
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        for pid in _children():
            # What has become another user's ends by itself.
            with contextlib.suppress(PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)


def _children() -> Iterator[int]:
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = status.read_bytes().rpartition(b")")[2].split()[1]
        except OSError:
            continue  # It has just ended.
        if int(parent) == os.getpid():
            yield int(status.parent.name)


def _continue_without_parent() -> None:
    """Get SIGCONT when the parent dies, so that a stopped process notices the end of its lifeline."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGCONT)


def _die_with(parent: int) -> None:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # It has died before.
        os._exit(1)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    os._exit(main(int(sys.argv[1]), sys.argv[2:]))
