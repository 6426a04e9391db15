"""What all runtimes that are compared have in common: how they are told what to do, and what they say.

Each is called with the address of a provider. For each model that a line of its input names, it makes
that conversation and answers with the milliseconds it took and the most memory it has ever had, in MB.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

PROMPT = "You answer questions. " * 20

Converse = Callable[[str], Awaitable[object]]

ON_AIOHTTP = "aiohttp"
"""The argument after the provider's address that asks for aiohttp's connections in place of httpx's."""


async def serve(conversations: Callable[[str], Converse]) -> None:
    """Make conversations until the input ends."""
    await answer_with(conversations(sys.argv[1]), os.getpid)


async def answer_with(converse: Converse, working_process: Callable[[], int]) -> None:
    """The same for a runtime that works in another process."""
    while model := (await asyncio.to_thread(sys.stdin.readline)).strip():
        started = time.perf_counter()
        await converse(model)
        milliseconds = (time.perf_counter() - started) * 1000
        print(milliseconds, most_memory(working_process()), flush=True)


def most_memory(pid: int) -> float:
    """Return the resident memory of a process at its highest, in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def host_process(parent: int) -> int:
    """Return the process of axe-lsp's run host, a child of `parent`."""
    command = ["ps", "-ww", "--ppid", str(parent), "-o", "pid=,args="]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return int(next(line for line in lines if "hosting.host" in line).split()[0])
