"""The run of a command as other processes of the user find it: its socket, from a moment after its first request."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from axe_lsp.runtime.engine import Engine
from axe_lsp.runtime.errors import RunCancelledError, RunError
from axe_lsp.runtime.journal import timestamp
from axe_lsp.runtime.prepare import Prepared
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.runs import RunRequest
from axe_lsp.runtime.services import OnReady
from axe_lsp.tasks import Tasks

if TYPE_CHECKING:
    # Imported late: the first request does not wait for it.
    from axe_lsp.hosting import protocol
    from axe_lsp.hosting.executors.listener import Listener

_SOON = 0.1
"""Seconds after the first request."""


class CommandExecutor:
    """An async context manager, and an `Executor` of one run. On leaving, peers learn how the run has ended.

    `on_found` is called once other processes can find the run.
    """

    def __init__(
        self,
        engine: Engine,
        request: RunRequest,
        run_id: str,
        workspace: Path,
        on_found: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.result: RunResult | None = None
        self._engine = engine
        self._request = request
        self._run_id = run_id
        self._workspace = workspace
        self._on_found = on_found
        self._began = timestamp()
        self._listener: Listener | None = None
        self._error: BaseException | None = None
        self._is_over = asyncio.Event()
        self._tasks = Tasks()

    async def __aenter__(self) -> CommandExecutor:
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None
    ) -> None:
        self._error = error
        self._is_over.set()
        await self._tasks.stop(within=1)
        if self._listener is not None:
            await self._listener.close()

    def ready_after(self, on_ready: OnReady) -> OnReady:
        """Return a function for the moment before the first request, which calls `on_ready`."""

        def ready(prepared: Prepared) -> None:
            on_ready(prepared)
            loop = asyncio.get_running_loop()
            loop.call_later(_SOON, lambda: self._tasks.start_unattended(self._listen(), "socket"))

        return ready

    async def _listen(self) -> None:
        if not self._is_over.is_set():
            module = await asyncio.to_thread(import_module, "axe_lsp.hosting.executors.listener")
            self._listener = module.Listener(self)
            await self._listener.open(os.environ)
            if self._on_found is not None:
                await self._on_found()

    def active_runs(self) -> tuple[protocol.ActiveRun, ...]:
        """Return the run."""
        from axe_lsp.hosting import protocol

        request, workspace = self._request, str(self._workspace)
        task = request.task or ""
        return (protocol.ActiveRun(self._run_id, request.agent, self._began, workspace, task),)

    def cancel(self, run_id: str) -> None:
        """Stop the run, or a child of it."""
        self._engine.cancel(run_id)

    async def answer_message(self, request: protocol.MessageRequest) -> protocol.MessageAnswer:
        """Execute a request about the messages of a run."""
        from axe_lsp.hosting.run_messages import answer_of

        return await answer_of(request, self._engine.find, lambda: False)

    async def end_of(self, run_id: str) -> protocol.Finished | protocol.Failed | protocol.NoRun:
        """Wait for the end of the run."""
        from axe_lsp.hosting import protocol

        if run_id != self._run_id:
            return protocol.NoRun(run_id)
        await self._is_over.wait()
        if self.result is not None:
            return protocol.Finished(self.result)
        error = self._error if isinstance(self._error, RunError) else RunCancelledError()
        return protocol.failure_of(run_id, error)
