"""The same conversations as in `bare_loop`, made by axe-lsp's run host, as editors have them made.

Run by our own Python. The time is that of the supervisor: orders and all events go through the pipe,
each event is heard, and everything is written into the history. With `process` each called agent has a process of
its own.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from agent_files import CHILD, PARENT, make_home, write_agents
from conversations import answer_with, host_process

from axe_lsp.hosting.protocol import Start, Workplace
from axe_lsp.hosting.supervisor.supervisor import Runs
from axe_lsp.runtime.runs import RunRequest, new_run_id


async def main(address: str, folder: Path, *, has_processes: bool) -> None:
    make_home(folder, address)
    runs, workplace = Runs(), Workplace(str(folder))
    events: list[object] = []
    runs.subscribe(events.append)

    async def converse(model: str) -> None:
        write_agents(folder, model)
        if has_processes:
            with (folder / "axe" / "agents" / f"{CHILD}.toml").open("a") as file:
                file.write('[isolation]\nmode = "process"\n')
        events.clear()
        order = Start(new_run_id(), RunRequest(PARENT, "Go on."), workplace, keep_days=30)
        await runs.start(order).result()

    await answer_with(converse, lambda: host_process(os.getpid()))


with TemporaryDirectory() as name:
    asyncio.run(main(sys.argv[1], Path(name), has_processes="process" in sys.argv[2:]))
