"""The runtime as the rest of axe-lsp sees it: run an agent, stop a run, preview one.

An engine serves any number of runs at the same time on one event loop, over one HTTP client. It
knows no files of agents, no editor and no terminal: `resolve` finds agents, `emit` hears events.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType

from axe_lsp.runtime.agent_run import AgentRun, OnReady, Tree
from axe_lsp.runtime.children.isolation import Elsewhere, Stoppable
from axe_lsp.runtime.events import EventSink
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.user_config import known_secrets
from axe_lsp.runtime.journal import Journal, Redactor
from axe_lsp.runtime.limits.budget import Ledger
from axe_lsp.runtime.memory.location import forget_run
from axe_lsp.runtime.prepare import Prepared, prepare_request, root_order
from axe_lsp.runtime.providers.http_provider import HttpProvider
from axe_lsp.runtime.providers.named_replays import NamedReplays
from axe_lsp.runtime.providers.provider import Provider, ProviderHook
from axe_lsp.runtime.runs import Order, Resolve, RunRequest, RunResult
from axe_lsp.runtime.safety.approval import Approve, nobody_to_ask
from axe_lsp.runtime.safety.trust import TrustGate
from axe_lsp.runtime.steps import once_a_step


def always(_: Prepared) -> bool:
    """For `streams`: every run shows its text as it is written."""
    return True


def never(_: Prepared) -> bool:
    """For `streams`: answers arrive whole."""
    return False


def _ignore(_: object) -> None:
    """For `emit`, `warn` and `note`, when nobody listens."""


class Engine:
    """Runs agents. An async context manager.

    - `resolve(name, folder)` finds an agent, looking from `folder` on; it raises ConfigError.
    - `workspace` is where runs work whose agent and request name no working directory.
    - `emit` takes the events of all runs, each tree's with its own gapless `seq`.
    - `streams` decides for each run whether its text is asked for piece by piece.
    - `http` holds the connections to the providers; without it the engine opens and closes its own.
    - `provider_hook` may stand between the runs and whoever answers, to record or to replay.
    - `warn` takes a text that the user should see; `note` a line for a log.
    - `approve` decides about calls of tools that change something.
    - `gate` decides whether agents of a workspace may reach out of it; without one they may not.
    - `elsewhere` makes runs of agents that want processes of their own; without it none gets one.
    - `environment` is where keys and folders are looked up; without it, that of the process as it is now.
    """

    def __init__(
        self,
        *,
        resolve: Resolve,
        workspace: Path,
        emit: EventSink = _ignore,
        streams: Callable[[Prepared], bool] = never,
        http: HttpProvider | None = None,
        provider_hook: ProviderHook | None = None,
        warn: Callable[[str], None] = _ignore,
        note: Callable[[str], None] = _ignore,
        approve: Approve = nobody_to_ask,
        gate: TrustGate | None = None,
        elsewhere: Elsewhere | None = None,
        environment: Environment | None = None,
    ) -> None:
        self._resolve = once_a_step(resolve)
        self._workspace = workspace
        self._emit = emit
        self._streams = streams
        self._provider_hook = provider_hook
        self._warn = warn
        self._note = note
        self._approve = approve
        self._elsewhere = elsewhere
        # A copy, since `os.environ` decodes each of its values whenever it is asked.
        self._environment = dict(os.environ) if environment is None else environment
        self._secrets = once_a_step(partial(known_secrets, self._environment))
        self._gate = gate or TrustGate(self._environment)
        self._owns_http = http is None
        self._http = http or HttpProvider(self._environment)
        self._live: dict[str, Stoppable] = {}

    async def __aenter__(self) -> Engine:
        return self

    async def __aexit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._owns_http:
            await self._http.close()

    async def run(
        self, request: RunRequest, run_id: str | None = None, on_ready: OnReady | None = None
    ) -> RunResult:
        """Run an agent and everything that it calls.

        Raises RunError when the run fails, with its id and what it had achieved: a
        RunCancelledError after `cancel`. When the calling task is cancelled, the whole tree is,
        and the cancellation passes on.
        """
        order = root_order(request, self._workspace, self._environment, run_id)
        try:
            return await AgentRun(order, self._tree(on_ready)).execute()
        finally:
            forget_run(order.ids.run_id, self._environment)

    async def run_child(self, order: Order, caller: Ledger) -> RunResult:
        """Make a run for a tree in another process, charged to `caller`. Raises RunError."""
        return await AgentRun(order, self._tree(), caller).execute()

    def cancel(self, run_id: str) -> bool:
        """Stop a run, a root or any child, with all below it. False if no such run is going on."""
        run = self._live.get(run_id)
        if run is None:
            return False
        run.stop()
        return True

    def preview(self, request: RunRequest) -> Prepared:
        """All that a run would send first. Nothing is sent and no key is needed. Reads files.

        Raises RunError.
        """
        return prepare_request(request, self._resolve, self._workspace, self._environment)

    def _tree(self, on_ready: OnReady | None = None) -> Tree:
        return Tree(
            resolve=self._resolve,
            workspace=self._workspace,
            environment=self._environment,
            provider=self._provider(),
            journal=Journal(self._emit, redactor=Redactor(self._secrets)),
            approve=self._approve,
            streams=self._streams,
            warn=self._warn,
            note=self._note,
            live=self._live,
            gate=self._gate,
            elsewhere=self._elsewhere,
            request_gates=self._http.gates,
            on_ready=on_ready,
        )

    def _provider(self) -> Provider:
        provider: Provider = NamedReplays(self._workspace, self._environment, self._http)
        return self._provider_hook(provider) if self._provider_hook else provider
