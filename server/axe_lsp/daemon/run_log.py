"""The run log of one client's workspace: it asks the process of the index, and keeps what that says.

Nothing here reads a log or the index. The process is started a moment after the first lens or hover, and asked again
while lenses and hovers are wanted.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from axe_lsp.daemon.run_log_messages import RunLogOrder, RunLogReport
from axe_lsp.daemon.uris import uri_of
from axe_lsp.hosting.agent_runs.settings import RunLogSettings, run_log_settings
from axe_lsp.hosting.supervisor import host_process
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.json_data import Json
from axe_lsp.settings import Settings
from axe_lsp.tasks import Tasks
from axe_lsp.workspace.run_facts import RunLogFacts

_log = logging.getLogger(__name__)

_PAUSE = 1.0
"""Seconds from the first lens to the start of the process."""

_INTERVAL = 5.0
"""Seconds between two passes, more if they take long."""

_SHARE = 20
"""At most one part in this number of the time is spent on passes."""

_LASTING = 60.0
"""Seconds for which passes go on after the last lens or hover."""

_LAST_SECONDS = 1.0

_COMMAND = (sys.executable, "-m", "axe_lsp.daemon.run_log_process")


class RunLog:
    """The run log as one client's settings allow it. `take` gets new facts."""

    def __init__(
        self,
        roots: Callable[[], tuple[Path, ...]],
        take: Callable[[RunLogFacts], None],
        settings: Callable[[], Settings],
        environment: Environment,
        tasks: Tasks,
    ) -> None:
        self.agents: tuple[Mapping[str, Json], ...] = ()
        """The statistics of each agent, as `axe-lsp agents stats --json` has them."""
        self.facts = RunLogFacts()
        self._roots = roots
        self._take = take
        self._environment = environment
        self._tasks = tasks
        self._settings = settings
        self._wanted = 0.0
        self._is_working = False
        self._woken = asyncio.Event()
        self._reported = asyncio.Event()

    def want(self) -> None:
        """Take note that a lens or a hover has been asked for."""
        self._wanted = time.monotonic()
        if not self._is_working:
            self._is_working = True
            self._tasks.start_unattended(self._work(), name="run log")

    def look_again(self) -> None:
        """Ask the process at once: the user has changed what may be read."""
        self.want()
        self._woken.set()

    async def _work(self) -> None:
        try:
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._woken.wait(), _PAUSE)
            process = await host_process.start(_COMMAND, self._read, self._read_error)
        except OSError as error:
            _log.warning("the process of the run log could not be started: %s", error)
            return
        finally:
            self._is_working = False
        self._is_working = True
        try:
            await self._ask_while_wanted(process)
        finally:
            self._is_working = False
            await process.end(_LAST_SECONDS)

    async def _ask_while_wanted(self, process: host_process.HostProcess) -> None:
        while time.monotonic() < self._wanted + _LASTING:
            self._woken.clear()
            began = time.monotonic()
            if not await self._pass(process):
                return
            pause = max(_INTERVAL, _SHARE * (time.monotonic() - began))
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._woken.wait(), pause)

    async def _pass(self, process: host_process.HostProcess) -> bool:
        """Have the process read what is new; return whether it is still there."""
        order = await asyncio.to_thread(self._order)
        self._reported.clear()
        process.write(msgspec.json.encode(order) + b"\n")
        process.ended.add_done_callback(lambda _: self._reported.set())
        await self._reported.wait()
        return not process.ended.done()

    def _order(self) -> RunLogOrder:
        user = RunLogSettings()
        try:
            user = run_log_settings(self._environment)
        except ConfigError as error:
            _log.warning("%s", error)
        settings = self._settings()
        own = settings.run_log_sources
        return RunLogOrder(
            tuple(map(str, self._roots())),
            user.sources if own is None else own,
            settings.run_log_days or user.days,
            asks=own is None and not user.is_decided,
        )

    def _read(self, line: bytes) -> None:
        try:
            report = msgspec.json.decode(line, type=RunLogReport)
        except msgspec.MsgspecError:
            _log.exception("a report of the run log can't be read")
            return
        self.agents = tuple(each for each in report.agents if isinstance(each, dict))
        facts = RunLogFacts(
            {uri_of(Path(path)): each for path, each in report.facts.items()}, report.unasked
        )
        if facts != self.facts:
            self.facts = facts
            self._take(facts)
        if report.is_last:
            self._reported.set()

    def _read_error(self, line: bytes) -> None:
        _log.warning("run log: %s", line.decode(errors="replace"))
