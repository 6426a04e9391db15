"""Keeps what a process of ours knows from other processes of the same user, such as commands that agents run.

On Linux any process of a user may read the memory and the first environment of any other one of that user, unless that
one forbids it. Elsewhere the system forbids it anyway (macOS), or there is nothing like it that we could do (Windows).
"""

from __future__ import annotations

import os
import sys
from functools import cache

_PR_SET_DUMPABLE = 4
"""prctl(2). It also means that the process leaves no core dump, and that only root can attach a debugger."""

_NEEDED = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "TEMP", "TMP", "VIRTUAL_ENV"),
        *("SYSTEMROOT", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA"),
    )
)
_NEEDED_BY_BEGINNING = ("PYTHON", "LC_", "LD_", "DYLD_", "XDG_")


@cache
def forbid_inspection() -> None:
    """From now on only root can read the memory and the environment of this process. Costs 2 ms, once."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def bare_environment() -> dict[str, str]:
    """The environment in which a process of ours is started: what Python needs, and nothing that may be a key."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _NEEDED or name.startswith(_NEEDED_BY_BEGINNING)
    }
