"""Work with git in a thread, which ends soon after the caller stops waiting."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import anyio

from axe_lsp.runtime.copies.git import STOPPED

_Result = TypeVar("_Result")


async def in_thread(work: Callable[[], _Result]) -> _Result:
    """Do it in a thread. A cancellation stops git, and waits for the thread."""
    stopped, is_over = threading.Event(), threading.Event()
    has_begun = False

    def stoppable() -> _Result:
        nonlocal has_begun
        has_begun = True
        STOPPED.set(stopped)  # In this thread's own context.
        try:
            return work()
        finally:
            is_over.set()

    try:
        return await anyio.to_thread.run_sync(stoppable, abandon_on_cancel=True)
    except anyio.get_cancelled_exc_class():
        stopped.set()
        if has_begun:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(is_over.wait)
        raise
