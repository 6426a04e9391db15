"""`axe-lsp` in a process that dies by SIGKILL right after an event of its run.

    python -m support.kill_at NUMBER WRITTEN ARGUMENTS...

NUMBER is how many events of this process come first, 0 for all. If WRITTEN is "written", it dies when the history
has the event; if it is "unwritten", at once. With "steps", the steps that are kept count as well, and it dies at once.
A new run has the id `ROOT`, so that requests can be compared. The variable AXE_TEST_MESSAGE is a message to the root
after its first answer.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
import time
from contextlib import closing, suppress

from axe_lsp.cli import live_run
from axe_lsp.cli.main import main
from axe_lsp.hosting.history.database import history_file
from axe_lsp.runtime.agent_run import AgentRun
from axe_lsp.runtime.events import Event, TurnEnd
from axe_lsp.runtime.inbox import NewMessage
from axe_lsp.runtime.journal import Journal
from axe_lsp.runtime.run_log import Log
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.run_steps import Step

ROOT = "0123456789abcdef" * 2

_PATIENCE = 60


def _wait_until_written(event: Event) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        with suppress(sqlite3.Error), closing(sqlite3.connect(history_file(os.environ))) as history:
            found = history.execute(
                "SELECT max(seq) FROM events WHERE root_run_id = ?", (event.run.root_run_id,)
            ).fetchone()
            if found[0] is not None and found[0] >= event.seq:
                return
        time.sleep(0.002)


def _die_after(number: int, when: str) -> None:
    emit, keep, count = Journal.emit, Log.keep, 0

    def emit_or_die(self: Journal, event: Event) -> None:
        nonlocal count
        emit(self, event)
        count += 1
        if count == number:
            if when == "written":
                _wait_until_written(event)
            os.kill(os.getpid(), signal.SIGKILL)

    def keep_or_die(self: Log, step: Step) -> None:
        nonlocal count
        keep(self, step)
        count += when == "steps"
        if when == "steps" and count == number:
            os.kill(os.getpid(), signal.SIGKILL)

    Journal.emit = emit_or_die  # type: ignore[method-assign] # to die exactly there
    Log.keep = keep_or_die  # type: ignore[method-assign]


def _send_after_first_answer(text: str) -> None:
    """Send the root a message once its first answer is there."""
    receive = AgentRun.execute
    tasks = []

    async def execute(self: AgentRun) -> RunResult:
        emit = self._journal.emit

        def emit_and_send(event: Event) -> None:
            emit(event)
            if isinstance(event, TurnEnd) and (event.run.depth, event.turn) == (0, 1):
                message = NewMessage(text, message_id="word")
                tasks.append(asyncio.get_running_loop().create_task(self.accept_message(message)))

        self._journal.emit = emit_and_send  # type: ignore[method-assign]
        return await receive(self)

    AgentRun.execute = execute  # type: ignore[method-assign]


if __name__ == "__main__":
    live_run.new_run_id = lambda: ROOT  # type: ignore[attr-defined] # imported there
    _die_after(int(sys.argv[1]), sys.argv[2])
    if "AXE_TEST_MESSAGE" in os.environ:
        _send_after_first_answer(os.environ["AXE_TEST_MESSAGE"])
    sys.exit(main(sys.argv[3:]))
