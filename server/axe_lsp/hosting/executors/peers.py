"""The process at the other end of a connection: whether it is the user's, and whether an agent has started it.

What an agent has started may list runs, and must not steer any: else an allowed command could answer the question
about the next one. On Linux its ancestors tell, since orphans of a command become children of its reaper. Elsewhere
nobody may steer.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from axe_lsp.hosting.executors.folder import executor_pids, socket_folders
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.processes import agents_above

_REAPER = "/axe_lsp/runtime/tools/command_reaper.py"
_HOST = "import axe_lsp.hosting.host.host "
_COMMANDS = ("run", "chat", "resume", "test", "gc")
"""Commands that execute runs in their own process."""

_UCRED = "3i"
_LOCAL_PEERCRED, _XUCRED = 1, "IIh16I"
_MOST_ANCESTORS = 200


def peer_of(connection: socket.socket) -> tuple[int, int]:
    """Return the ids of the process and the user at the other end; 0 for a process that the system does not tell."""
    if sys.platform == "linux":
        size = struct.calcsize(_UCRED)
        data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        pid, uid, _ = struct.unpack(_UCRED, data)
        return pid, uid
    data = connection.getsockopt(0, _LOCAL_PEERCRED, struct.calcsize(_XUCRED))
    return 0, struct.unpack_from("II", data)[1]


def may_steer(pid: int, executors: Collection[int] = ()) -> bool:
    """Return whether a peer may steer runs: on Linux, if no agent has started it. Reads files.

    `executors` are processes that execute runs, besides those that are recognised by their command.
    """
    if sys.platform != "linux":
        return False
    ancestors = list(_ancestors(pid))
    return bool(ancestors) and not any(_leads_to_agents(each, executors) for each in ancestors)


def is_host_of_user(pid: int, executors: Collection[int]) -> bool:
    """Return whether a process is a run host of another one, on Linux, that no agent has started. Reads files.

    Anything below an agent could pretend to execute a run with more rights than it has.
    """
    if sys.platform != "linux":
        return False
    above = list(_ancestors(pid))[1:]
    if os.getpid() in above:
        return False  # It is a host of this process.
    others = set(executors) - {pid}
    is_host = any(_HOST in each for each in _words(pid, "cmdline")[1:3])
    return is_host and bool(above) and not any(_leads_to_agents(each, others) for each in above)


def is_below_agent(environment: Environment) -> bool:
    """Return whether an agent has started this process, so far as the system tells. Reads files."""
    if agents_above(environment):
        return True
    above = list(_ancestors(os.getppid())) if sys.platform == "linux" else []
    executors = [pid for each in socket_folders(environment) for pid in executor_pids(each)]
    return any(_leads_to_agents(each, executors) for each in above)


def _leads_to_agents(pid: int, executors: Collection[int]) -> bool:
    """Return whether a process executes runs, or agents have started it."""
    if pid in executors or _executes_runs(_words(pid, "cmdline")):
        return True
    variables = dict(each.partition("=")[::2] for each in _words(pid, "environ"))
    return bool(agents_above(variables))


def _ancestors(pid: int) -> Iterator[int]:
    """Yield a process and those above it."""
    for _ in range(_MOST_ANCESTORS):
        if pid <= 0:
            return
        try:
            status = Path(f"/proc/{pid}/stat").read_bytes()
        except OSError:
            return
        yield pid
        pid = int(status.rpartition(b")")[2].split()[1])


def _words(pid: int, name: str) -> Sequence[str]:
    try:
        return os.fsdecode(Path(f"/proc/{pid}/{name}").read_bytes()).split("\0")
    except OSError:
        return ()


def _executes_runs(words: Sequence[str]) -> bool:
    """Return whether a command line is that of an executor, or of what it puts between itself and a command."""
    if any(each.endswith(_REAPER) for each in words[1:3]):
        return True
    if any(_HOST in each for each in words[1:3]):
        return True
    names = [each.rpartition("/")[2] for each in words[:4]]
    is_ours = [each in ("axe-lsp", "axe_lsp") for each in names]
    return True in is_ours and words[is_ours.index(True) + 1 :][:1] in [
        [each] for each in _COMMANDS
    ]
