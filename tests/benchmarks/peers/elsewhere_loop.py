"""Agents in copies that execute a command each, made by the engine of axe-lsp's run host. Run by our own Python.

Where the copies are is said in the config.toml of XDG_CONFIG_HOME. With `run` it prints the milliseconds that
so many agents take, with `wait` the megabytes by which this process grows until all but one wait for a slot.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

from agent_files import CHILD, PARENT, write_agents

from axe_lsp.hosting.places.late_machines import LateMachines
from axe_lsp.hosting.protocol import Workplace
from axe_lsp.hosting.stored_steps import resolver
from axe_lsp.runtime.engine import Engine
from axe_lsp.runtime.events import AgentPlace, Event
from axe_lsp.runtime.runs import RunRequest
from axe_lsp.runtime.safety.approval import allowed
from axe_lsp.runtime.safety.trust import TrustPolicy
from axe_lsp.runtime.services import RunServices, never

_IN_COPY = 'tools = ["run_command"]\n[isolation]\nmode = "copy"\nchanges = "keep"\n'
_FILES = 50


async def main(kind: str, count: int, milliseconds: int, folder: Path) -> None:
    environment, workplace = dict(os.environ), Workplace(str(folder))
    waiting, all_wait = set[str](), asyncio.Event()

    def emit(event: Event) -> None:
        if isinstance(event, AgentPlace) and event.waiting == "a slot":
            waiting.add(event.run.run_id)
            if len(waiting) == count - 1:
                all_wait.set()

    services = RunServices(
        resolve=resolver(workplace, environment),
        workspace=folder,
        emit=emit,
        streams=never,
        warn=lambda text: print(text, file=sys.stderr),
        approve=allowed,
        trust=TrustPolicy(environment, trusts_all=True),
        environment=environment,
        machines=LateMachines(environment),
    )
    async with Engine(services) as engine:
        _write(folder, 1, 1)  # Everything is imported, and the worker has the files.
        await engine.run(RunRequest(PARENT, "Go on."))
        _write(folder, count, milliseconds)
        started, memory = time.perf_counter(), _memory()
        run = asyncio.ensure_future(engine.run(RunRequest(PARENT, "Go on.")))
        if kind == "run":
            await run
            print((time.perf_counter() - started) * 1000, flush=True)
            return
        await asyncio.wait(
            {run, asyncio.ensure_future(all_wait.wait())}, return_when="FIRST_COMPLETED"
        )
        assert not run.done(), run
        print(_memory() - memory, flush=True)
        run.cancel()
        await asyncio.wait({run})


def _write(folder: Path, count: int, milliseconds: int) -> None:
    write_agents(folder, f"fan-{count}", f"command-{milliseconds}")
    with (folder / "axe" / "agents" / f"{CHILD}.toml").open("a") as file:
        file.write(_IN_COPY)


def _memory() -> float:
    """Of this process, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _make_repository(folder: Path) -> None:
    for number in range(_FILES):
        (folder / f"{number}.txt").write_text(f"{number}\n" * 100)
    author = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.com")
    for arguments in (["init", "-q"], ["add", "-A"], [*author, "commit", "-q", "-m", "first"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)


_folder = Path(sys.argv[4])
_make_repository(_folder)
asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), _folder))
