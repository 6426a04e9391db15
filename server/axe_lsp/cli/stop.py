"""`axe-lsp stop`: ends a run that is going on in any process of the user."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

from axe_lsp.cli.active_runs import FoundRun, find, reached, refuse_below_agent
from axe_lsp.cli.arguments import Parser
from axe_lsp.hosting.executors.connection import UnresponsiveError
from axe_lsp.runtime.errors import RunError

_END_WITHIN = 3.0
"""Seconds for the end of a run in order; then its process is killed."""

_LOOKS = 50
_MOMENT = 0.1


def main(arguments: Sequence[str]) -> int:
    """Stop a run; returns the exit code."""
    options = _parser().parse_args(arguments)
    refuse_below_agent("stop")
    run = find(options.run)
    run.require_active("there is nothing to stop")
    _stop(run)
    print(f"Stopped run {run.name}.")
    return 0


def _stop(run: FoundRun) -> None:
    """Stop a run, in the next process as well if it goes on there. Raises RunError."""
    pid: int | None = None
    for _ in range(_LOOKS):
        if pid != run.pid:
            pid = run.pid
            _stop_in_process(run)
        run = _now(run)
        if run.status != "running":
            return
        time.sleep(_MOMENT)
    raise RunError(f"run {run.name} does not end; process {run.pid} executes it")


def _stop_in_process(run: FoundRun) -> None:
    try:
        with reached(run) as executor:
            executor.cancel(run.run_id)
            if run.run_id != run.root:
                return
            with suppress(TimeoutError):
                executor.await_end(run.root)
                executor.end(_END_WITHIN)
                return
            pid = executor.pid
    except UnresponsiveError as error:
        pid = error.pid
    if sys.platform != "win32":
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _now(run: FoundRun) -> FoundRun:
    """Return the run as it is now; one that is not stored has ended when nobody executes it."""
    try:
        return find(run.run_id)
    except RunError:
        if run.is_stored:
            raise
        return FoundRun(run.run_id, run.root, "cancelled", None, is_stored=False)


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp stop",
        description="Stop a run, or one agent of it, in whatever process it is going on. "
        "A process that does not react is killed.",
    )
    parser.add_argument("run", metavar="RUN", help="the beginning of the id of a run")
    return parser
