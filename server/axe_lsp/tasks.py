"""Tasks of asyncio with an owner, which can wait until all of them have ended.

`asyncio.create_task` alone keeps neither the task alive nor anybody informed of how it ended, and
`asyncio.TaskGroup` (Python 3.11) waits without a limit for tasks that ignore being cancelled.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

_Result = TypeVar("_Result")

_log = logging.getLogger(__name__)


class Tasks:
    """The tasks of one owner, which ends them with `stop`."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._running)

    def start(self, coroutine: Coroutine[Any, Any, _Result], name: str) -> asyncio.Task[_Result]:
        """Run `coroutine`; the result and what it raises are for the caller to look at."""
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    def start_unattended(
        self, coroutine: Coroutine[Any, Any, _Result], name: str
    ) -> asyncio.Task[_Result]:
        """Run `coroutine` for its effects; what it raises goes to the log."""
        task = self.start(coroutine, name)
        task.add_done_callback(_log_failure)
        return task

    def cancel(self) -> None:
        """Cancel all tasks, but for the one that calls."""
        for task in self._others():
            task.cancel()

    async def finish(self, within: float) -> None:
        """Wait until all tasks are over by themselves, but no longer than `within` seconds."""
        if ending := self._others():
            await asyncio.wait(ending, timeout=within)

    async def stop(self, within: float) -> None:
        """Cancel all tasks and wait until they are over, but no longer than `within` seconds."""
        self.cancel()
        if ending := self._others():
            _, stuck = await asyncio.wait(ending, timeout=within)
            for task in stuck:
                _log.warning("%s goes on after being cancelled; leaving it", task.get_name())

    def _others(self) -> set[asyncio.Task[Any]]:
        return self._running - {asyncio.current_task()}


async def let_others_go_first() -> None:
    """Give everything a turn that has come meanwhile, before more is done that can wait.

    What a client sends takes three turns of the loop: it is seen, read, and dealt with.
    """
    for _ in range(3):
        await asyncio.sleep(0)


def _log_failure(task: asyncio.Task[Any]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("%s failed", task.get_name(), exc_info=error)


def loop_time() -> float:
    """Return the time of the running event loop, in seconds from some moment. Half the price of anyio's."""
    return asyncio.get_running_loop().time()
