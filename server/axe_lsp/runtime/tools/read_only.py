"""Executes a command that can write only to a folder of its own (Landlock), where the system has that.

Nor can it signal processes that it has not started, where the system has that, too.

By Landlock, which Linux has had since 5.13: it needs no program and no privilege, works in most containers,
and holds for everything that the command starts. What it leaves alone is said in docs/protocol.md.

Also a program of its own, run as a file: it takes its own right to write away, then becomes the
command. So it knows nothing but the standard library.
"""

from __future__ import annotations

import ctypes
import functools
import os
import signal
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

_PR_SET_NO_NEW_PRIVS = 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""System calls; the numbers are the same on all processors but Alpha."""

_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1

_WRITE_FILE = 1 << 1
_TRUNCATE = 1 << 14
_IN_FOLDERS = sum(1 << bit for bit in range(4, 13))
"""To remove and to make files, folders, links, pipes, sockets and devices."""

_REFER = 1 << 13
_SINCE = {_REFER: 2, _TRUNCATE: 3}
"""The versions of Landlock that brought the rights which the first one lacked."""

_SCOPES, _SCOPES_SINCE = 0b11, 6
"""To connect to abstract Unix sockets (1) and to send signals (2) outside, and the version that can forbid both.

`LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET` and `LANDLOCK_SCOPE_SIGNAL` of linux/landlock.h, since Linux 6.12.
"""

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
_IGNORED_BY_PYTHON: tuple[signal.Signals, ...] = ()
if sys.platform == "linux":
    _IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


def without_writing(command: Sequence[str], scratch: str) -> list[str]:
    """Return the command that becomes `command`, once only `scratch` can be written to."""
    return [sys.executable, "-I", "-S", __file__, scratch, *command]


@functools.cache
def is_enforceable() -> bool:
    """Return whether this system can keep commands from writing."""
    return _version() > 0


def is_scope_enforceable() -> bool:
    """Return whether this system can keep commands from reaching other processes (Linux 6.12)."""
    return _version() >= _SCOPES_SINCE


def main(scratch: str, command: list[str]) -> None:
    """Become the command. Never returns."""
    try:
        _give_up_writing(scratch)
    except OSError as error:
        os.write(2, f"the workspace could not be made read-only: {error}\n".encode())
        os._exit(126)
    for each in _IGNORED_BY_PYTHON:
        signal.signal(each, signal.SIG_DFL)
    os.execv(command[0], command)


def _give_up_writing(scratch: str) -> None:
    version = _version()
    lacking = sum(right for right, since in _SINCE.items() if version < since)
    in_files = (_WRITE_FILE | _TRUNCATE) & ~lacking
    everything = (in_files | _IN_FOLDERS | _REFER) & ~lacking
    handled = struct.pack("=Q", everything)
    if version >= _SCOPES_SINCE:
        # struct landlock_ruleset_attr: rights to files, rights to ports (none are taken away), scopes.
        handled = struct.pack("=QQQ", everything, 0, _SCOPES)
    ruleset = _call(_CREATE_RULESET, handled, len(handled), 0)
    _allow(ruleset, scratch, everything)
    for device in _DEVICES:
        if Path(device).exists():
            _allow(ruleset, device, in_files)
    ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    if sys.platform == "linux":
        place = os.open(path, os.O_PATH)
        _call(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
        os.close(place)


def _version() -> int:
    """Return the version of the system's Landlock, 0 where there is none."""
    if sys.platform != "linux":
        return 0
    try:
        return _call(_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION)
    except OSError:
        return 0


def _call(*arguments: int | bytes | None) -> int:
    result: int = ctypes.CDLL(None, use_errno=True).syscall(*map(_argument, arguments))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def _argument(value: int | bytes | None) -> object:
    """Convert an integer to the width of a register: the upper half of a C int would be undefined."""
    return ctypes.c_long(value) if isinstance(value, int) else value


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
