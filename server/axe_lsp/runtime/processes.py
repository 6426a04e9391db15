"""Processes of ours and of agents: their commands, their environments, and what others may know of them.

On Linux any process of a user may read the memory and the first environment of any other one of that user, unless that
one forbids it. Elsewhere the system forbids it anyway (macOS), or there is nothing like it that we could do (Windows).
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from functools import cache

from axe_lsp.shortages import end_process, shortage

_PR_SET_DUMPABLE = 4
"""prctl(2). It also means that the process leaves no core dump, and that only root can attach a debugger."""

_PR_SET_PDEATHSIG = 1
"""prctl(2). A fork does not inherit it."""

_NEEDED = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "TEMP", "TMP", "VIRTUAL_ENV"),
        *("SYSTEMROOT", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA"),
    )
)
_NEEDED_BY_BEGINNING = ("PYTHON", "LC_", "LD_", "DYLD_", "XDG_")


@cache
def forbid_inspection() -> None:
    """Forbid all users but root to read memory and environment of this process. Costs 2 ms, once."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def forbid_inspection_or_end() -> None:
    """Forbid inspection, from the event loop a moment after the start. End the process if its keys can't be protected."""
    try:
        forbid_inspection()
    except (OSError, ImportError, MemoryError) as error:
        reason = shortage(error)
        if not reason:
            raise
        end_process(reason)


def continue_without_parent() -> None:
    """Have the system continue this process, should it be stopped when its parent ends (SIGCONT). Linux only.

    Else a process that was stopped (SIGSTOP) would never see that its lifeline has ended.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGCONT, 0, 0, 0)


def bare_environment() -> dict[str, str]:
    """Return the environment in which a process of ours is started: what Python needs, and nothing that may be a key."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _NEEDED or name.startswith(_NEEDED_BY_BEGINNING)
    }


def module_command(module: str) -> Sequence[str]:
    """Return the command that runs `main` of a module of ours in a process of its own.

    `-m` would import from the current directory first, which is a workspace: opening one must not run
    what lies there.
    """
    code = f"import sys; sys.path[:] = filter(None, sys.path); import {module} as it; it.main()"
    return sys.executable, "-c", code


_AGENTS_ABOVE = "AXE_RUN"
"""The variable with the agents above a process: a JSON array of names, the root first."""


def agents_above(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the agents that have led to the process of an environment, as its variable says; none without it.

    Programs that agents start do not call those again.
    """
    try:
        found = json.loads(environment.get(_AGENTS_ABOVE, "[]"))
    except ValueError:
        return ()
    return tuple(name for name in found if isinstance(name, str)) if isinstance(found, list) else ()


def below_agents(environment: Mapping[str, str], agents: Sequence[str]) -> dict[str, str]:
    """Return the variable for a program that `agents` start in a process with this environment."""
    return {_AGENTS_ABOVE: json.dumps((*agents_above(environment), *agents))}
