"""Lookups that are made once per step of the event loop, for all children that begin in that step.

A thousand children that are called at once ask the disk the same questions. Nothing else happens in
this process between these questions, and a question in a later step is answered from the disk again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

Answer = TypeVar("Answer")

_Answers = dict[tuple[Hashable, ...], Any]


def once_a_step(look: Callable[..., Answer]) -> Callable[..., Answer]:
    """Cache the results of `look` within one step of the event loop. In a thread nothing is cached."""
    by_loop: WeakKeyDictionary[Any, _Answers] = WeakKeyDictionary()

    @wraps(look)
    def looked(*about: Hashable) -> Answer:
        loop = _running_loop()
        if loop is None:
            return look(*about)
        answers = by_loop.get(loop)
        if answers is None:
            answers = by_loop[loop] = {}
            loop.call_soon(by_loop.pop, loop)  # Runs when the next step begins.
        if about not in answers:
            answers[about] = look(*about)
        answer: Answer = answers[about]
        return answer

    return looked


def _running_loop() -> Any:
    """Return the event loop of this thread, None if it has none.

    A thread of a process that has not imported asyncio has none. `--dry-run` is such a process.
    """
    asyncio = sys.modules.get("asyncio")
    try:
        return asyncio.get_running_loop() if asyncio is not None else None
    except RuntimeError:
        return None
