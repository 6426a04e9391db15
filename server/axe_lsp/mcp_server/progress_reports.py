"""The progress of a called agent, as reports to an MCP client."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from axe_lsp.hosting.event_text import activity
from axe_lsp.hosting.notifications import Notification
from axe_lsp.hosting.protocol import Warned
from axe_lsp.tasks import loop_time

MOST_REPORTS = 10
"""Reports within a second. Of those that wait, the oldest are dropped."""


Report = Callable[[float, None, str], Awaitable[None]]
"""Sends one report: its number, which grows, no total, and what an agent does now."""


class Progress:
    """The progress of one call."""

    def __init__(self) -> None:
        self._done = 0
        self._unreported: deque[tuple[int, str]] = deque(maxlen=MOST_REPORTS)
        self._reported: deque[float] = deque([-1.0] * MOST_REPORTS, maxlen=MOST_REPORTS)
        self._news = asyncio.Event()

    def hear(self, news: Notification | Warned) -> None:
        """Queue a progress report for an event of the run."""
        message = activity(news) if isinstance(news, Notification) else None
        if message is not None:
            self._done += 1
            self._unreported.append((self._done, message))
            self._news.set()

    async def tell(self, report: Report, enough: asyncio.Future[None]) -> None:
        """Report what is heard, until `enough` is done; then what the limit allows at once.

        Nobody else may cancel this between two reports: the one that is being sent would be lost.
        """
        enough.add_done_callback(lambda _: self._news.set())
        while True:
            while self._unreported:
                pause = self._reported[0] + 1.0 - loop_time()
                if pause > 0:
                    await asyncio.wait({enough}, timeout=pause)
                    if enough.done():
                        return
                number, message = self._unreported.popleft()
                self._reported.append(loop_time())
                await report(number, None, message)
            if enough.done():
                return
            await self._news.wait()
            self._news.clear()
