"""Puts what happens in a run of this process into the history."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from axe_lsp.hosting.history.rows import Origin
from axe_lsp.hosting.history.writer import HistoryWriter
from axe_lsp.hosting.notifications import notification
from axe_lsp.runtime.events import Event
from axe_lsp.settings import Settings


class Remembering:
    """An async context manager; on leaving it waits until everything is written.

    `warn` is told on the event loop when that is not possible. Settings are the editor's; here runs
    are remembered for as long as they are there by default. `has_begun` is whether there is anything
    to be remembered.
    """

    def __init__(self, workspace: Path, warn: Callable[[str], None], is_wanted: bool) -> None:
        self._is_wanted = is_wanted
        self.has_begun = False
        self._origin = Origin(str(workspace), Settings().history_keep_days)
        self._writer = HistoryWriter(_on_this_loop(warn))

    def event(self, event: Event) -> None:
        """Something happened."""
        if self._is_wanted:
            self.has_begun = True
            self._writer.keep(notification(event), self._origin)

    async def __aenter__(self) -> Remembering:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._writer.close)


def _on_this_loop(warn: Callable[[str], None]) -> Callable[[str, str], None]:
    loop = asyncio.get_running_loop()

    def warn_from_thread(_run_id: str, text: str) -> None:
        loop.call_soon_threadsafe(warn, text)

    return warn_from_thread
