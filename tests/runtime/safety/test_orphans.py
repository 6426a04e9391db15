"""Processes without parents are told from those that this process has started itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import asyncio, subprocess
from axe_lsp.runtime.safety import orphans

async def main():
    sleep = ["sleep", "100"]
    async with orphans.starting() as started:
        own = subprocess.Popen(sleep, start_new_session=True)
        started(own.pid)
    other = subprocess.Popen(sleep, start_new_session=True)
    # That process has got the number of one of ours, which had ended unnoticed.
    orphans._own[other.pid] = orphans._own[own.pid] - 1
    await orphans.end_orphans()
    print(own.poll(), other.poll() is not None)
    own.kill()

asyncio.run(main())
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hands orphans to another process")
def test_the_number_of_a_process_of_ours_does_not_protect_another_one() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert (ended.stdout, ended.stderr) == ("None True\n", "")
