"""A queue whose thread takes many items at a time.

Whenever another thread wakes up, the event loop stands still. So the thread that takes is woken
once for all that comes within a moment, and handing over costs no more than adding to a list.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Generic, TypeVar

Item = TypeVar("Item")


class ThreadQueue(Generic[Item]):
    """A queue of values from any thread, taken in the same order.

    What is put may wait `together` seconds for more to come, unless it is urgent; what `can_wait`, `longer`.
    """

    def __init__(self, together: float, longer: float = 0.0) -> None:
        self._together = together
        self._longer = longer
        self._items: deque[Item] = deque()
        self._some = threading.Event()
        self._soon = threading.Event()
        self._urgent = threading.Event()

    def put(self, item: Item, urgent: bool = False, *, can_wait: bool = False) -> None:
        """Add something. Returns at once."""
        self._items.append(item)
        if urgent:
            self._urgent.set()
        if not can_wait and not self._soon.is_set():
            self._soon.set()
        if not self._some.is_set():
            self._some.set()

    def take(self, most: int | None = None, patience: float | None = None) -> list[Item]:
        """Wait for something, and return all that has come by then, but not more than `most`.

        Nothing if nothing has come after `patience` seconds.
        """
        waiting = 0
        while not waiting:
            if not self._some.wait(patience):
                return []
            self._soon.wait(self._longer)
            self._urgent.wait(self._together)
            # First of all, so that what is put from now on is not overlooked.
            self._some.clear()
            self._soon.clear()
            self._urgent.clear()
            # Nothing if an item was taken before its sender had set the event.
            waiting = len(self._items)
        taken = [self._items.popleft() for _ in range(min(waiting, most or waiting))]
        if len(taken) < waiting:
            self._some.set()
            self._soon.set()
        return taken

    def is_empty(self) -> bool:
        """Return whether nothing waits."""
        return not self._items
