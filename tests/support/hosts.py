"""Real hosts for tests: agents on disk, a scripted provider, everything that subscribers hear."""

from __future__ import annotations

import asyncio
import json
import os
import select
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from axe_lsp.hosting.notifications import Notification
from axe_lsp.hosting.protocol import Start, Workplace
from axe_lsp.hosting.supervisor.orders import News, Run
from axe_lsp.hosting.supervisor.supervisor import Patience, Runs
from axe_lsp.runtime.runs import RunRequest, new_run_id
from support.scripted_provider import PATIENCE

UNHURRIED = Patience(heartbeat=60, silence=60, cancel=60, leave=60, die=60)
"""For tests in which nothing is to be given up, however busy the machine is."""

MAIN = "from axe_lsp.hosting.host import host; host.main()"
"""The program of a host, for tests that put something in front of it."""


@dataclass
class Stage:
    """Runs, where they take place, and what was heard of them."""

    runs: Runs
    workplace: Workplace
    host_pids: Path
    limit: Callable[[], int]
    heard: list[Notification] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def start(self, agent: str, task: str | None = None, **options: Any) -> Run:
        """Start a run; of the options, those that no order has are the supervisor's."""
        told = {name: options.pop(name) for name in Start.__struct_fields__ if name in options}
        start = Start(new_run_id(), RunRequest(agent, task), self.workplace, **told)
        return self.runs.start(start, limit=self.limit, **options)

    def hear(self, news: News) -> None:
        """The subscriber."""
        if isinstance(news, Notification):
            self.heard.append(news)
            self._changed.set()

    async def event(self, method: str, **params: Any) -> Mapping[str, Any]:
        """Return the first event of that method with those parameters, also if it is still to come."""

        async def search() -> Mapping[str, Any]:
            while True:
                for event in self.heard:
                    if event.method == method and params.items() <= event.params.items():
                        return event.params
                self._changed.clear()
                await self._changed.wait()

        return await asyncio.wait_for(search(), PATIENCE)

    def of(self, root_run_id: str) -> list[tuple[str, Mapping[str, Any]]]:
        """Return what happened in one tree, in order."""
        return [
            (event.method, event.params)
            for event in self.heard
            if event.params["rootRunId"] == root_run_id
        ]

    def hosts(self) -> list[int]:
        """Return the process ids of all hosts so far."""
        return [int(line) for line in self.host_pids.read_text().split()]


@asynccontextmanager
async def stage(
    folder: Path,
    agents: Mapping[str, str],
    program: str = MAIN,
    patience: Patience = UNHURRIED,
    limit: Callable[[], int] = lambda: 0,
) -> AsyncIterator[Stage]:
    """Runs in a host that executes `program`, with these agents in a workspace below `folder`."""
    workspace = workspace_with(folder, agents)
    pids = folder / "host-pids"
    runs = Runs(host_command(program, pids), patience)
    created = Stage(runs, Workplace(str(workspace)), pids, limit)
    runs.subscribe(created.hear)
    try:
        yield created
    finally:
        await runs.close()


def host_command(program: str, pids: Path) -> Sequence[str]:
    """Return a command for a host that first notes its process id in a file."""
    note = f"import os\nwith open({str(pids)!r}, 'a') as file: print(os.getpid(), file=file)\n"
    return (sys.executable, "-c", note + program)


def workspace_with(folder: Path, agents: Mapping[str, str]) -> Path:
    """Return a workspace below `folder`, in which those agents are defined."""
    workspace = folder / "workspace"
    home = workspace / "axe" / "agents"
    home.mkdir(parents=True)
    for name, text in agents.items():
        (home / f"{name}.toml").write_text(text, encoding="utf-8")
    return workspace


def agent(name: str, *sub_agents: str, **keys: Any) -> str:
    """Return the text of an agent file; its model is named after the agent."""
    lines = [f'name = "{name}"', f'model = "ollama/m-{name}"']
    lines += [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    if sub_agents:
        lines.append(f"sub_agents = {json.dumps(sub_agents)}")
    return "\n".join(lines) + "\n"


async def gone(pid: int) -> None:
    """Wait until a process has ended that need not be a child of ours."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        poller = select.poll()
        poller.register(handle, select.POLLIN)
        ended = await asyncio.to_thread(poller.poll, PATIENCE * 1000)
        assert ended, f"process {pid} still lives"
    finally:
        os.close(handle)
