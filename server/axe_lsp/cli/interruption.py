"""Runs a coroutine to its end, or until Ctrl-C or SIGTERM, whichever comes first."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any


def run_until_interrupted(work: Coroutine[Any, Any, int]) -> int:
    """The exit code that `work` returns, or that of shells for the signal (128 + its number).

    A signal cancels `work`, which so ends in order and loses nothing.
    """
    received: list[int] = []

    async def guarded() -> int:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()

        def end(number: int) -> None:
            received.append(number)
            if task is not None:
                task.cancel()

        with suppress(NotImplementedError):  # Windows raises KeyboardInterrupt by itself.
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, end, number)
        return await work

    try:
        return asyncio.run(guarded())
    except asyncio.CancelledError:
        if not received:
            raise
        return 128 + received[0]
