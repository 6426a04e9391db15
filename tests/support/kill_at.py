"""`axe-lsp` in a process that dies by SIGKILL right after an event of its run.

    python -m support.kill_at NUMBER WRITTEN ARGUMENTS...

NUMBER is how many events of this process come first, 0 for all. If WRITTEN is "written", it dies when the history
has the event; if it is "unwritten", at once. A new run has the id `ROOT`, so that requests can be compared.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import time
from contextlib import closing, suppress

from axe_lsp.cli import live_run
from axe_lsp.cli.main import main
from axe_lsp.hosting.history.database import history_file
from axe_lsp.runtime.events import Event
from axe_lsp.runtime.journal import Journal

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


def _die_after(number: int, is_written: bool) -> None:
    emit, count = Journal.emit, 0

    def emit_or_die(self: Journal, event: Event) -> None:
        nonlocal count
        emit(self, event)
        count += 1
        if count == number:
            if is_written:
                _wait_until_written(event)
            os.kill(os.getpid(), signal.SIGKILL)

    Journal.emit = emit_or_die  # type: ignore[method-assign] # to die exactly there


if __name__ == "__main__":
    live_run.new_run_id = lambda: ROOT  # type: ignore[attr-defined] # imported there
    _die_after(int(sys.argv[1]), sys.argv[2] == "written")
    sys.exit(main(sys.argv[3:]))
