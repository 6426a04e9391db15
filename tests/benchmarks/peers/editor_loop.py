"""The same conversations as in `bare_loop`, made by axe-lsp for an editor.

Run by our own Python. The time is that of the editor: it orders a run of the language server, which has
it made in its run host, and reads every event of it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from agent_files import PARENT, make_home, write_agents
from conversations import answer_with, host_process

from benchmarks.client import Client


async def main(address: str, folder: Path) -> None:
    make_home(folder, address)
    command = [Path(sys.executable).with_name("axe-lsp"), "--stdio"]
    with Client(command, folder, os.environ) as client:
        client.begin()

        async def converse(model: str) -> None:
            write_agents(folder, model)
            client.request("axe/run", {"agent": PARENT, "task": "Go on."})

        await answer_with(converse, lambda: host_process(client.pid))


with TemporaryDirectory() as name:
    asyncio.run(main(sys.argv[1], Path(name)))
