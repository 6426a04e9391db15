"""The engines of a host, for the runs and previews that are ordered.

Imported with the first order, for it brings along all that a host can do without until then.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

# A run's first request would import this anyway, but on the event loop, where all others wait.
import axe_lsp.runtime.providers.http_client  # noqa: F401
from axe_lsp.hosting import protocol
from axe_lsp.hosting.history.rows import Origin
from axe_lsp.hosting.history.writer import HistoryWriter
from axe_lsp.hosting.notifications import Message, notification
from axe_lsp.hosting.places.late_machines import LateMachines
from axe_lsp.hosting.relay import ProcessAbove
from axe_lsp.hosting.stored_steps import allow_again, order_step, resolver
from axe_lsp.hosting.supervisor.isolated_runs import IsolatedRuns
from axe_lsp.hosting.telemetry import Telemetry
from axe_lsp.runtime.engine import Engine
from axe_lsp.runtime.errors import RunError
from axe_lsp.runtime.events import Event, EventSink
from axe_lsp.runtime.journal import timestamp
from axe_lsp.runtime.json_data import Json
from axe_lsp.runtime.prepare import prepare_request
from axe_lsp.runtime.preview import preview_json
from axe_lsp.runtime.providers.http_provider import HttpProvider
from axe_lsp.runtime.run_log import Known, keep_allowed
from axe_lsp.runtime.run_steps import StepSink
from axe_lsp.runtime.safety.approval import Approval
from axe_lsp.runtime.safety.trust import TrustPolicy
from axe_lsp.runtime.services import RunServices, always, never
from axe_lsp.runtime.tools.editor import Editor

_log = logging.getLogger(__name__)


class EngineFactory:
    """Engines, one for each run, that share their connections to the providers.

    Requests wait for the limiters of this process, or for those of the tree's process: `is_below` another one, which also
    keeps the steps.
    """

    def __init__(
        self, send: Callable[[Message], None], above: ProcessAbove, *, is_below: bool
    ) -> None:
        self._send = send
        self._above = above
        # A copy, since `os.environ` decodes each of its values whenever it is asked.
        self._environment = dict(os.environ)
        self.server_ends = False
        self.left_alone: set[str] = set()
        """Root runs that end because their server has gone."""
        self._http = HttpProvider(self._environment, above if is_below else None)
        self._telemetry = Telemetry()
        self._machines: dict[str, LateMachines] = {}
        self._history = HistoryWriter(
            warn=lambda run_id, text: send(protocol.Warned(run_id, text)),
            stored=lambda run_id, seq: send(protocol.Stored(run_id, seq, self._history.is_failing)),
        )

    async def engine_for(self, start: protocol.Start) -> tuple[Engine, Known | None]:
        """Return the engine for a run, and what is known of the run. All that clients should hear of it is sent.

        Raises RunError for a run that can't be resumed, or can't take over what it should.
        """
        known, begin = None, []
        if start.after:
            known = await self._claimed(start)
        else:
            begin.append(order_step(start, self._environment))
        if start.former:
            # Imported late, as hardly any run goes on from another one.
            from axe_lsp.hosting.history.former_runs import taken_over

            known, taken, warning = await taken_over(start, self._environment)
            begin.extend(taken)
            if warning:
                self._send(protocol.Warned(start.run_id, warning))
        steps = None
        if start.keep_days:
            steps = self._history
            for step in begin:
                steps.keep(step)
        return self._engine(start, start.run_id, self._sink(start), steps, known), known

    async def _claimed(self, start: protocol.Start) -> Known:
        """Claim a run. When this is cancelled, the thread is waited for, so that it claims nothing afterwards."""
        claiming = asyncio.ensure_future(
            asyncio.to_thread(self._history.claim, start.run_id, start.adopter)
        )
        try:
            return await asyncio.shield(claiming)
        except asyncio.CancelledError:
            await asyncio.wait({claiming})
            raise

    async def let_go(self, start: protocol.Start) -> None:
        """Give back a run that was to go on and did not, unless the supervisor will."""
        if start.after and not start.adopter:
            with suppress(RunError):  # Then it is given back when this process ends.
                await asyncio.to_thread(self._history.let_go, start.run_id)

    def engine_for_child(self, start: protocol.StartChild) -> Engine:
        """Return the engine for a run that belongs to a tree of another process, which remembers it."""
        return self._engine(
            start,
            start.order.ids.run_id,
            lambda event: self._send(notification(event)),
            self._above,
        )

    def _engine(
        self,
        start: protocol.Start | protocol.StartChild,
        run_id: str,
        emit: EventSink,
        steps: StepSink | None = None,
        known: Known | None = None,
    ) -> Engine:
        on_allowed = partial(keep_allowed, steps) if steps is not None else bool
        approval = Approval(self._above, start.allow, on_allowed=on_allowed)
        if known is not None:
            allow_again(approval, known, run_id)
        ends_with_server = partial(self._ends_with_server, run_id)
        granted = start.granted if isinstance(start, protocol.StartChild) else ()
        trust = TrustPolicy(
            self._environment, self._above, trusts_all=start.trusted, granted=granted
        )
        editor = Editor(start.editor, self._above.ask_editor) if start.editor else None
        services = RunServices(
            resolve=resolver(start.workplace, self._environment),
            workspace=Path(start.workplace.workspace),
            emit=emit,
            streams=always if start.stream else never,
            warn=lambda text: self._send(protocol.Warned(run_id, text)),
            approve=approval,
            ask=self._above,
            trust=trust,
            steps=steps,
            elsewhere=IsolatedRuns(
                start.workplace,
                approval.decide,
                stream=start.stream,
                on=start.on,
                allow=start.allow,
                trust=trust,
                server_ends=ends_with_server,
                editor=editor,
            ),
            editor=editor,
            server_ends=ends_with_server,
            note=_log.info,
            environment=self._environment,
            machines=self._machines_of(start.on),
            servers=start.servers if isinstance(start, protocol.Start) else (),
        )
        return Engine(services, http=self._http)

    def _ends_with_server(self, root: str) -> bool:
        return self.server_ends or root in self.left_alone

    async def written(self, roots: Iterable[str]) -> None:
        """Wait until all events of root runs so far are in the history, but not for one that can't be written."""
        for root in roots:
            await self._history.committed(root)

    def _machines_of(self, on: str) -> LateMachines:
        """Return the machines of a configuration, one object for all runs, so that they share connections and slots."""
        if on not in self._machines:
            self._machines[on] = LateMachines(self._environment, on)
        return self._machines[on]

    @staticmethod
    def now() -> str:
        """Return the time as events have it."""
        return timestamp()

    async def close(self) -> None:
        """Close the connections, and finish what is remembered and sent elsewhere."""
        await self._http.close()
        await self._telemetry.aclose()
        await asyncio.to_thread(self._history.close)

    def abandon(self) -> None:
        """Finish what is remembered, and nothing else: the process is about to end."""
        self._history.close()

    def _sink(self, start: protocol.Start) -> EventSink:
        """Return where the events of a run go: to clients, and elsewhere if that is wanted."""
        origin = Origin(start.workplace.workspace, start.keep_days)
        trace = self._telemetry.sink(
            start.traces, lambda text: self._send(protocol.Warned(start.run_id, text))
        )

        def emit(event: Event) -> None:
            news = notification(event)
            self._send(news)  # Before the history can say that it has it.
            if start.keep_days:
                self._history.keep_event(news, origin)
            if trace is not None:
                trace(event)

        return emit


def preview(order: protocol.Preview) -> dict[str, Json]:
    """Return the first request of a run, as clients see it. Reads files; raises RunError."""
    resolve, workspace = resolver(order.workplace, os.environ), Path(order.workplace.workspace)
    prepared = prepare_request(
        order.request, resolve, workspace, os.environ, asks_editor="code" in order.editor
    )
    return preview_json(prepared)
