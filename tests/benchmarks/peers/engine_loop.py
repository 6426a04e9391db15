"""The same conversations as in `bare_loop`, made by the engine of axe-lsp's run host, with or without steps.

Run by our own Python. Everything is written into the history meanwhile.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from agent_files import PARENT, make_home, write_agents
from conversations import answer_with

from axe_lsp.hosting.history.rows import Origin
from axe_lsp.hosting.history.writer import HistoryWriter
from axe_lsp.hosting.notifications import notification
from axe_lsp.hosting.protocol import Start, Workplace
from axe_lsp.hosting.stored_steps import order_step, resolver
from axe_lsp.runtime.engine import Engine
from axe_lsp.runtime.events import Event
from axe_lsp.runtime.runs import RunRequest, new_run_id
from axe_lsp.runtime.safety.approval import allowed
from axe_lsp.runtime.safety.trust import TrustPolicy
from axe_lsp.runtime.services import RunServices, always


async def main(address: str, folder: Path, *, has_steps: bool) -> None:
    make_home(folder, address)
    environment, workplace = dict(os.environ), Workplace(str(folder))
    writer = HistoryWriter(print)
    steps = writer if has_steps else None
    origin = Origin(str(folder), 30)

    def emit(event: Event) -> None:
        writer.keep_event(notification(event), origin)

    async def converse(model: str) -> None:
        write_agents(folder, model)
        start = Start(new_run_id(), RunRequest(PARENT, "Go on."), workplace, keep_days=30)
        if steps is not None:
            steps.keep(order_step(start, environment))
        await engine.run(start.request, start.run_id)

    services = RunServices(
        resolve=resolver(workplace, environment),
        workspace=folder,
        emit=emit,
        streams=always,
        warn=print,
        approve=allowed,
        trust=TrustPolicy(environment, trusts_all=True),
        steps=steps,
        environment=environment,
    )
    async with Engine(services) as engine:
        await answer_with(converse, os.getpid)
    writer.close()


with TemporaryDirectory() as name:
    asyncio.run(main(sys.argv[1], Path(name), has_steps=sys.argv[2] == "steps"))
