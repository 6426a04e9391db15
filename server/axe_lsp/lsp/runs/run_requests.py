"""The requests about runs, and `axe/agents` (docs/protocol.md).

What makes runs is imported with the first of them: it would take a tenth of the server's start, and
many a session never runs an agent.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from axe_lsp.lsp.agent_list import agents
from axe_lsp.rpc.json_rpc import JsonObject

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer


def register(server: AxeServer) -> None:
    """Offer the requests to the client of `server`."""

    @server.feature("axe/run")
    def on_run(params: Any) -> Coroutine[Any, Any, JsonObject]:
        from axe_lsp.lsp.runs import run_reports, running  # noqa: PLC0415 - see above

        return running.run(server, params, run_reports.Notifications(server))

    @server.feature("axe/preview")
    def on_preview(params: Any) -> Coroutine[Any, Any, JsonObject]:
        from axe_lsp.lsp.runs import running  # noqa: PLC0415 - see above

        return running.preview(server, params)

    @server.feature("axe/stop")
    def on_stop(params: Any) -> JsonObject:
        from axe_lsp.lsp.runs import running  # noqa: PLC0415 - see above

        return running.stop(server, params)

    @server.feature("axe/runs")
    def on_runs(params: Any) -> Coroutine[Any, Any, list[JsonObject]]:
        from axe_lsp.lsp.runs import past_runs  # noqa: PLC0415 - see above

        return past_runs.runs(server, params)

    @server.feature("axe/events")
    def on_events(params: Any) -> Coroutine[Any, Any, Any]:
        from axe_lsp.lsp.runs import past_runs  # noqa: PLC0415 - see above

        return past_runs.events(server, params)

    @server.feature("axe/subscribe")
    def on_subscribe(params: Any) -> Coroutine[Any, Any, JsonObject]:
        from axe_lsp.lsp.runs import past_runs  # noqa: PLC0415 - see above

        return past_runs.subscribe(server, params)

    @server.feature("axe/unsubscribe")
    def on_unsubscribe(params: Any) -> JsonObject:
        from axe_lsp.lsp.runs import past_runs  # noqa: PLC0415 - see above

        return past_runs.unsubscribe(server, params)

    @server.feature("axe/agents")
    def on_agents(_: Any) -> list[JsonObject]:
        return agents(server)
