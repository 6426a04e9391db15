"""The same conversations as in `bare_loop`, made by axe-lsp's runtime. Run by our own Python."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from axe_lsp.runtime.agent_files import AgentFolders
from axe_lsp.runtime.engine import Engine
from axe_lsp.runtime.runs import RunRequest

PARENT = """
name = "parent"
model = "openai/{model}"
sub_agents = ["child"]
system_prompt = "{prompt}"
"""
CHILD = """
name = "child"
model = "openai/wait-50"
system_prompt = "{prompt}"
"""
PROMPT = "You answer questions. " * 20


async def main(address: str, folder: Path) -> None:
    texts = {folder / "child.toml": CHILD.format(prompt=PROMPT)}
    resolve = AgentFolders([folder], texts).resolve
    events: list[object] = []
    environment = {
        "AXE_OPENAI_BASE_URL": address,
        "OPENAI_API_KEY": "key",
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
    }
    async with Engine(
        resolve=lambda name, _: resolve(name),
        workspace=folder,
        emit=events.append,
        environment=environment,
    ) as engine:
        while model := (await asyncio.to_thread(sys.stdin.readline)).strip():
            texts[folder / "parent.toml"] = PARENT.format(model=model, prompt=PROMPT)
            events.clear()
            started = time.perf_counter()
            await engine.run(RunRequest("parent", "Go on."))
            print((time.perf_counter() - started) * 1000, flush=True)


with TemporaryDirectory() as name:
    asyncio.run(main(sys.argv[1], Path(name)))
