"""The process of a server: starts its event loop, makes sure that it ends, and knows whether others live."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Coroutine
from contextlib import suppress
from importlib import import_module
from types import FrameType
from typing import Any, NoReturn

from axe_lsp import tuning

LAST_RESORT = 4.0
"""Seconds after which a process that has been told to end is ended, whatever it is doing."""

# Being told to stop is no failure; a person's Ctrl-C ends with what shells expect of it.
_EXIT_CODES = {signal.SIGTERM: 0, signal.SIGINT: 130}


def run(main: Coroutine[Any, Any, int]) -> NoReturn:
    """Run `main`, then end the process with the code that it returned.

    SIGTERM and SIGINT cancel `main`, which cleans up. What `main` raises comes out of here.
    """
    _end(_run_until_signal(main))


def end_soon(code: int) -> None:
    """Make sure that the process ends, even if nothing in it reacts any more."""

    def end() -> None:
        time.sleep(LAST_RESORT)
        os._exit(code)

    threading.Thread(target=end, name="last resort", daemon=True).start()


def is_alive(pid: int) -> bool:
    """Return whether there is a process with this id."""
    if sys.platform == "win32":
        return _is_alive_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


def _run_until_signal(main: Coroutine[Any, Any, int]) -> int:
    tuning.server_is_complete()
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    task = loop.create_task(main)
    received: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        code = _EXIT_CODES[signal.Signals(number)]
        if received:
            os._exit(code)
        received.append(code)
        end_soon(code)
        loop.call_soon_threadsafe(task.cancel)

    # Not `loop.add_signal_handler`: that needs the loop to turn, and doesn't exist on Windows.
    for number in _EXIT_CODES:
        signal.signal(number, stop)
    try:
        return loop.run_until_complete(task)
    except asyncio.CancelledError:
        if not received:
            raise
        return received[0]


def _end(code: int) -> NoReturn:
    """Leave without waiting for threads and tasks that don't end (as `sys.exit` does)."""
    # Nobody may be reading what is to be flushed.
    end_soon(code)
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            if stream is not None:
                stream.flush()
    os._exit(code)


def _is_alive_on_windows(pid: int) -> bool:
    if sys.platform != "win32":
        raise NotImplementedError
    # `os.kill(pid, 0)` would send Ctrl-C there.
    ctypes: Any = import_module("ctypes")  # slow to load, and not needed elsewhere
    synchronize, timed_out = 0x00100000, 0x00000102
    kernel: Any = ctypes.windll.kernel32
    handle = kernel.OpenProcess(synchronize, False, pid)
    if not handle:
        return False
    try:
        return bool(kernel.WaitForSingleObject(handle, 0) == timed_out)
    finally:
        kernel.CloseHandle(handle)
