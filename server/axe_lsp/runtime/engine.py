"""The runtime as the rest of axe-lsp sees it: run an agent, stop a run, preview one.

An engine serves any number of runs at the same time on one event loop, over one HTTP client. It
knows no files of agents, no editor and no terminal: `resolve` finds agents, `emit` hears events.
"""

from __future__ import annotations

from functools import partial
from itertools import count

from msgspec.structs import replace

from axe_lsp.runtime.agent_run import AgentRun
from axe_lsp.runtime.children.isolation import Stoppable
from axe_lsp.runtime.files.user_config import known_secrets
from axe_lsp.runtime.journal import Journal, Redactor
from axe_lsp.runtime.limits.budget import Ledger
from axe_lsp.runtime.prepare import Prepared, prepare_request, root_order
from axe_lsp.runtime.providers.http_provider import HttpProvider
from axe_lsp.runtime.providers.provider import Provider, ProviderHook
from axe_lsp.runtime.recordings.named_replays import NamedReplays
from axe_lsp.runtime.run_log import Known, Log
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.runs import Order, RunRequest
from axe_lsp.runtime.services import OnReady, RunServices, Tree
from axe_lsp.runtime.shared_lookups import once_a_step


class Engine:
    """Runs agents with the services that it is given. An async context manager.

    `http` holds the connections to the providers; without it the engine opens and closes its own.
    `provider_hook` may wrap the provider, to record or to replay.
    """

    def __init__(
        self,
        services: RunServices,
        *,
        http: HttpProvider | None = None,
        provider_hook: ProviderHook | None = None,
    ) -> None:
        self._services = replace(services, resolve=once_a_step(services.resolve))
        self._provider_hook = provider_hook
        self._secrets = once_a_step(partial(known_secrets, services.environment))
        self._owns_http = http is None
        self._http = http or HttpProvider(services.environment)
        self._live: dict[str, Stoppable] = {}

    async def __aenter__(self) -> Engine:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._owns_http:
            await self._http.close()

    async def run(
        self,
        request: RunRequest,
        run_id: str | None = None,
        on_ready: OnReady | None = None,
        known: Known | None = None,
    ) -> RunResult:
        """Run an agent and everything that it calls. What is `known` of it is not repeated.

        Raises RunError when the run fails, with its id and what it had achieved: a
        RunCancelledError after `cancel`. When the calling task is cancelled, the whole tree is,
        and the cancellation passes on.
        """
        services = self._services
        order = root_order(request, services.workspace, services.environment, run_id)
        is_over = services.steps is None
        try:
            result = await AgentRun(order, self._tree(on_ready, known)).execute()
            is_over = True
        finally:
            if is_over:  # Else it may be resumed.
                from axe_lsp.runtime.memory import forget_run

                forget_run(order.ids.run_id, services.environment)
        return result

    async def run_child(
        self, order: Order, caller: Ledger, known: Known | None = None
    ) -> RunResult:
        """Make a run for a tree in another process, charged to `caller`. Raises RunError."""
        return await AgentRun(order, self._tree(known=known), caller).execute()

    def cancel(self, run_id: str) -> bool:
        """Stop a run, a root or any child, with all below it. False if no such run is going on."""
        run = self._live.get(run_id)
        if run is None:
            return False
        run.stop()
        return True

    def find(self, run_id: str) -> Stoppable | None:
        """Return a run that is going on, to which messages can be sent."""
        return self._live.get(run_id)

    def preview(self, request: RunRequest) -> Prepared:
        """Return all that a run would send first. Nothing is sent and no key is needed. Reads files.

        Raises RunError.
        """
        services = self._services
        return prepare_request(request, services.resolve, services.workspace, services.environment)

    def _tree(self, on_ready: OnReady | None = None, known: Known | None = None) -> Tree:
        log = Log(self._services.steps, known)
        journal = Journal(
            self._services.emit, count(log.known.after + 1), redactor=Redactor(self._secrets)
        )
        provider: Provider = NamedReplays(
            self._services.workspace, self._services.environment, self._http
        )
        return Tree(
            self._services,
            self._provider_hook(provider) if self._provider_hook else provider,
            journal,
            self._http.limiters,
            log,
            self._live,
            on_ready,
        )
