"""Processes of this machine, found by what is on their command lines and in their environments."""

from __future__ import annotations

import os
import subprocess
import uuid
from contextlib import suppress
from pathlib import Path

from support.waiting import wait_until


class Sleepers:
    """Commands that sleep for very long, told apart from everybody else's."""

    def __init__(self) -> None:
        self.seconds = f"8{uuid.uuid4().int % 10**12:012}"

    @property
    def command(self) -> str:
        """What a shell has to be told for one of them."""
        return f"sleep {self.seconds}"

    def count(self) -> int:
        """Return how many there are."""
        return sum(self._is_one(path) for path in Path("/proc").glob("[0-9]*/cmdline"))

    def wait_for(self, count: int) -> None:
        """Until there are so many of them; fails if that does not come about."""
        wait_until(lambda: self.count() == count, self.count)

    def _is_one(self, path: Path) -> bool:
        try:
            return path.read_bytes().split(b"\0")[:2] == [b"sleep", self.seconds.encode()]
        except OSError:
            return False  # It has just ended.


def bearing(mark: str) -> dict[int, str]:
    """Return the command lines of all other processes that name `mark`, there or in their environment."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line, environment = (folder / part for part in ("cmdline", "environ"))
            words, surroundings = line.read_bytes(), environment.read_bytes()
        except OSError:
            continue  # It has just ended, or is somebody else's.
        if mark.encode() in words + surroundings and int(folder.name) != os.getpid():
            found[int(folder.name)] = words.replace(b"\0", b" ").decode("utf-8", "replace")
    return found


def hosts_bearing(mark: str) -> list[int]:
    """Return the run hosts among them. Each is the first of its session; its guard is not, and ends with it."""
    hosts = [pid for pid, line in bearing(mark).items() if "hosting.host" in line]
    return [pid for pid in hosts if _session(pid) == pid]


def parent_of(pid: int) -> int:
    """Return the process that has started another one; 0 if that has ended."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
    return 0


def _session(pid: int) -> int | None:
    with suppress(ProcessLookupError):  # It has just ended.
        return os.getsid(pid)
    return None


def wait_for_none(mark: str) -> None:
    """Until no process bears `mark`; fails if that does not come about."""
    wait_until(lambda: not bearing(mark), lambda: bearing(mark))


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has started, and that live."""
    listed = subprocess.run(
        ["ps", "--ppid", str(pid), "-o", "pid="], check=False, capture_output=True, text=True
    )
    return [int(line) for line in listed.stdout.split()]
