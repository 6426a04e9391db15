"""What is kept of a run of this process: its events in the history, once its first request is on its way, and a recording.

What only some runs need is imported by these.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.events import Event
from axe_lsp.runtime.plain_text import os_fault
from axe_lsp.runtime.providers.provider import Provider, ProviderHook
from axe_lsp.runtime.run_log import Known
from axe_lsp.runtime.run_steps import Step, StepSink

if TYPE_CHECKING:
    from axe_lsp.hosting import protocol
    from axe_lsp.hosting.history.writer import HistoryWriter

_BEFORE_REQUEST = 2
"""Events: the run begins, and its first turn. What comes next comes of the answer."""

_LATER = 0.2
"""Seconds after which they are written without an answer. Most requests have been sent by then, for which SQLite
and the thread that writes need not be there."""


class RunHistory:
    """An async context manager; on leaving it waits until everything is written. It is a `StepSink`.

    `warn` is told on the event loop when that is not possible. Settings are the editor's; here runs
    are remembered for as long as they are there by default. `has_begun` is whether there is anything
    to be remembered. A run can be resumed that has an `order`, by which it could be made again.
    """

    def __init__(
        self,
        workspace: Path,
        warn: Callable[[str], None],
        is_wanted: bool,
        order: Callable[[], protocol.Start] | None = None,
    ) -> None:
        self._is_wanted = is_wanted
        self._workspace = workspace
        self._warn = warn
        self._order = order
        self._waiting: list[Event | Step] = []
        self._events = 0
        self._keep: Callable[[Event | Step], None] = self._waiting.append
        self._writer: HistoryWriter | None = None
        self.has_begun = False

    @property
    def is_stored(self) -> bool:
        """Whether what has happened so far is in the history, for all that is known."""
        is_failing = self._writer is not None and self._writer.is_failing
        return self._is_wanted and self.has_begun and not is_failing

    @property
    def steps(self) -> StepSink | None:
        """Where the steps of the run go, if it can be resumed."""
        return self if self._is_wanted and self._order is not None else None

    def event(self, event: Event) -> None:
        """Store an event."""
        if not self._is_wanted:
            return
        if not self.has_begun:
            self.has_begun = True
            asyncio.get_running_loop().call_later(_LATER, self._begin_meanwhile)
        elif self._events == _BEFORE_REQUEST:
            self._begin_to_write()
        self._events += 1
        self._keep(event)

    def keep(self, step: Step) -> None:
        """Keep a step, together with the next event."""
        self._keep(step)

    async def committed(self, root: str) -> None:
        """Wait until all steps of a tree so far are on the disk."""
        await self._begin_to_write().committed(root)

    async def claim(self, root: str) -> Known:
        """Become the one that goes on with a run; returns what is known of it. Raises RunError."""
        self._order = None  # It has one.
        return await asyncio.to_thread(self._begin_to_write().claim, root)

    async def __aenter__(self) -> RunHistory:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.has_begun:
            await asyncio.to_thread(self._begin_to_write().close)

    def _begin_meanwhile(self) -> None:
        """Begin to write while the model is waited for; what fails now is tried again at the end, and told then."""
        with suppress(OSError, ImportError, MemoryError):
            self._begin_to_write()

    def _begin_to_write(self) -> HistoryWriter:
        if self._writer is not None:
            return self._writer
        # Imported late, as the module's first line says.
        from axe_lsp.hosting.history.rows import Origin
        from axe_lsp.hosting.history.writer import HistoryWriter
        from axe_lsp.hosting.notifications import notification
        from axe_lsp.settings import Settings

        origin = Origin(str(self._workspace), Settings().history_keep_days)
        loop = asyncio.get_running_loop()

        def warn(_run_id: str, text: str) -> None:  # In a thread.
            loop.call_soon_threadsafe(self._warn, text)

        writer = self._writer = HistoryWriter(warn)

        def keep(item: Event | Step) -> None:
            if isinstance(item, Step):
                writer.keep(item)
            else:
                writer.keep_event(notification(item), origin)

        self._keep = keep
        if self._order is not None:
            from axe_lsp.hosting.stored_steps import order_step

            keep(order_step(self._order(), os.environ))
        for item in self._waiting:
            keep(item)
        self._waiting.clear()
        return writer


@contextmanager
def recordings(replay: Path | None, record: Path | None) -> Iterator[ProviderHook | None]:
    """Provide the hook that replaces the provider by a replay or wraps it with a recorder, None for neither. Raises ConfigError."""
    if not (replay or record):
        yield None
        return
    from axe_lsp.runtime.files.user_config import known_secrets
    from axe_lsp.runtime.recordings.file import load_recording, save_recording
    from axe_lsp.runtime.recordings.recorder import Recorder
    from axe_lsp.runtime.recordings.replay import Replay

    recording = load_recording(replay) if replay else None
    if record and not record.absolute().parent.is_dir():
        raise ConfigError(f"failed to write recording: {record.absolute().parent} is not a folder")
    if record and record.is_dir():
        raise ConfigError(f"failed to write recording: {record} is a folder; name a file in it")
    recorders: list[Recorder] = []

    def hook(provider: Provider) -> Provider:
        answering = Replay(recording, os.environ) if recording else provider
        if not record:
            return answering
        recorders.append(Recorder(answering))
        return recorders[-1]

    try:
        yield hook
    finally:
        # Also what led to a failure, to Ctrl-C or to the end of a CI job is worth a recording.
        for recorder in recorders:
            assert record is not None
            try:
                save_recording(record, recorder.recording(known_secrets(os.environ)))
            except OSError as error:
                raise ConfigError(f"failed to write recording: {os_fault(error)}") from error
