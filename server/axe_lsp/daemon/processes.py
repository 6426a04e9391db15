"""A pool of processes for work on thousands of files. For fewer files one process is faster.

Knows nothing of what the work is: a function that can be found by its name, which gets its items and
gives its results as values that can be sent.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TypeVar

from axe_lsp import tuning

ENOUGH = 1000
"""Files that take about as long as starting a process."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def shared(work: Callable[[Sequence[Item]], list[Result]], items: Sequence[Item]) -> list[Result]:
    """Return the results of `work` on all items, in any order.

    Each process gets its items in one go, so that what `work` finds out on the way helps with all of them.
    """
    count = min(os.cpu_count() or 1, len(items) // ENOUGH)
    if count < 2:
        return work(items)
    # Imported late: it takes longer than all that the few files of most people take.
    import multiprocessing
    from concurrent.futures.process import ProcessPoolExecutor

    # Not by `fork`, which Windows lacks and which copies locks that threads hold.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, context, initializer=_begin) as pool:
        portions = [items[start::count] for start in range(count)]
        return list(chain.from_iterable(pool.map(work, portions)))


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The parent ends us.
    threading.Thread(target=_end_with_parent, daemon=True).start()
    tuning.reader_begins()


def _end_with_parent() -> None:
    """End this process with its parent, which can't say so when it is killed."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
