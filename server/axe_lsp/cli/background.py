"""`axe-lsp run --background`: the run goes on in a process of its own, without the terminal; `axe-lsp attach` follows it."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from contextlib import suppress
from typing import IO

from msgspec.json import encode
from msgspec.structs import replace

from axe_lsp.cli.active_runs import refuse_below_agent
from axe_lsp.cli.interruption import leave_guard
from axe_lsp.cli.live_run import LiveRun, run_live
from axe_lsp.cli.run_report import CallDetails, report_failure
from axe_lsp.runtime.errors import ConfigError, RunError
from axe_lsp.runtime.plain_text import harmless
from axe_lsp.runtime.runs import new_run_id

_WITHOUT = ("no_history", "record", "replay", "stream", "verbose")
"""Options of `axe-lsp run` that have no effect, or no use, where nobody sees the run."""

_STARTED = b"+"


def run_in_background(live: LiveRun, calls: CallDetails) -> int:
    """Start the run in a process of its own and print its id, once other processes can find it; return the exit code.

    A run that fails before that is reported as without `--background`. In the new process this returns at the end
    of the run. Raises ConfigError.
    """
    for name in _WITHOUT:
        if getattr(live.options, name):
            option = name.replace("_", "-")
            raise ConfigError(f"--{option} can't be used with --background")
    if sys.platform == "win32":
        raise ConfigError("--background needs Unix sockets, which this system does not have")
    refuse_below_agent("run --background")
    live = replace(live, run_id=new_run_id())
    sys.stdout.flush()
    source, sink = os.pipe()
    with tempfile.TemporaryFile() as errors:
        pid = os.fork()
        if pid:
            os.close(sink)
            return _report(live, pid, source, errors)
        os.close(source)
        _leave_terminal(errors)
    return _run(replace(live, on_found=lambda: _report_start(sink)), calls)


def _leave_terminal(errors: IO[bytes]) -> None:
    """Become a process without a terminal, whose messages go to `errors`."""
    if sys.platform == "win32":
        return
    os.setsid()
    leave_guard()
    nothing = os.open(os.devnull, os.O_RDWR)
    for number, replacement in enumerate((nothing, nothing, errors.fileno())):
        os.dup2(replacement, number)
    os.close(nothing)


def _report_start(sink: int) -> None:
    """Tell the process that waits that the run has begun. What is written from now on, nobody reads."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 2)
    os.close(nothing)
    with suppress(OSError):  # It has been killed.
        os.write(sink, _STARTED)
    os.close(sink)


def _run(live: LiveRun, calls: CallDetails) -> int:
    try:
        return run_live(live, calls)
    except RunError as error:
        return report_failure(error, live.options, calls)


def _report(live: LiveRun, pid: int, source: int, errors: IO[bytes]) -> int:
    """Wait until the run has begun, or has ended; print its id and what it has told. Return the exit code."""
    code = 0
    try:
        has_started = os.read(source, 1) == _STARTED
        if not has_started:
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except BaseException:
        os.kill(pid, signal.SIGTERM)
        raise
    finally:
        os.close(source)
    errors.seek(0)
    sys.stderr.write(harmless(errors.read().decode("utf-8", "replace")))
    if code:
        return code if code > 0 else 128 - code
    if live.options.json:
        print(encode({"run_id": live.run_id}).decode())
    else:
        print(live.run_id)
    return 0
