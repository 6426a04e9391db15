"""Puts what happens in a run of this process into the history, once its first request is on its way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from axe_lsp.runtime.events import Event
from axe_lsp.settings import Settings

if TYPE_CHECKING:
    from axe_lsp.hosting.history.writer import HistoryWriter

_BEFORE_REQUEST = 2
"""Events: the run begins, and its first turn. What comes next comes of the answer."""

_LATER = 0.2
"""Seconds after which they are written without an answer. Most requests have been sent by then, for which SQLite
and the thread that writes need not be there."""


class RunHistory:
    """An async context manager; on leaving it waits until everything is written.

    `warn` is told on the event loop when that is not possible. Settings are the editor's; here runs
    are remembered for as long as they are there by default. `has_begun` is whether there is anything
    to be remembered.
    """

    def __init__(self, workspace: Path, warn: Callable[[str], None], is_wanted: bool) -> None:
        self._is_wanted = is_wanted
        self._workspace = workspace
        self._warn = warn
        self._events: list[Event] = []
        self._keep: Callable[[Event], None] = self._events.append
        self._writer: HistoryWriter | None = None
        self.has_begun = False

    def event(self, event: Event) -> None:
        """Something happened."""
        if not self._is_wanted:
            return
        if not self.has_begun:
            self.has_begun = True
            asyncio.get_running_loop().call_later(_LATER, self._begin_to_write)
        elif len(self._events) == _BEFORE_REQUEST:
            self._begin_to_write()
        self._keep(event)

    async def __aenter__(self) -> RunHistory:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.has_begun:
            await asyncio.to_thread(self._begin_to_write().close)

    def _begin_to_write(self) -> HistoryWriter:
        if self._writer is not None:
            return self._writer
        # Imported late, as the module's first line says.
        from axe_lsp.hosting.history.rows import Origin  # noqa: PLC0415
        from axe_lsp.hosting.history.writer import HistoryWriter
        from axe_lsp.hosting.notifications import notification  # noqa: PLC0415

        origin = Origin(str(self._workspace), Settings().history_keep_days)
        writer = self._writer = HistoryWriter(_on_this_loop(self._warn))

        def keep(event: Event) -> None:
            writer.keep(notification(event), origin)

        self._keep = keep
        for event in self._events:
            keep(event)
        self._events.clear()
        return writer


def _on_this_loop(warn: Callable[[str], None]) -> Callable[[str, str], None]:
    loop = asyncio.get_running_loop()

    def warn_from_thread(_run_id: str, text: str) -> None:
        loop.call_soon_threadsafe(warn, text)

    return warn_from_thread
