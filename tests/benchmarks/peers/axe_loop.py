"""The same conversations as in `bare_loop`, made by axe-lsp's run host, as editors have them made.

Run by our own Python. The time is that of the supervisor: orders and all events go through the pipe,
each event is heard, and everything is written into the history.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from conversations import PROMPT, answer_with

from axe_lsp.hosting.supervisor import Runs
from axe_lsp.hosting.wire import Workplace
from axe_lsp.runtime.runs import RunRequest

AGENT = 'name = "{name}"\nmodel = "openai/{model}"\nsystem_prompt = "{prompt}"\n'
DELEGATES = 'sub_agents = ["child"]\n'


async def main(address: str, folder: Path) -> None:
    home = str(folder)
    os.environ.update(AXE_OPENAI_BASE_URL=address, OPENAI_API_KEY="key", HOME=home)
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        os.environ[variable] = home
    agents = folder / "axe" / "agents"
    agents.mkdir(parents=True)
    (agents / "child.toml").write_text(AGENT.format(name="child", model="wait-50", prompt=PROMPT))
    runs, workplace = Runs(), Workplace(str(folder))
    events: list[object] = []
    runs.subscribe(events.append)

    async def converse(model: str) -> None:
        text = AGENT.format(name="parent", model=model, prompt=PROMPT) + DELEGATES
        (agents / "parent.toml").write_text(text)
        events.clear()
        await runs.start(RunRequest("parent", "Go on."), workplace, keep_days=30).result()

    await answer_with(converse, host_process)


def host_process() -> int:
    """The process of the run host, our only child."""
    command = ["ps", "--ppid", str(os.getpid()), "-o", "pid=,args="]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return int(next(line for line in lines if "hosting.host" in line).split()[0])


with TemporaryDirectory() as name:
    asyncio.run(main(sys.argv[1], Path(name)))
