"""The same actions as `workspace/executeCommand`, for clients that know only LSP.

A run is told through `$/progress` and `window/logMessage`, and its answer shown as a message.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from axe_lsp.hosting.jsonable import Json
from axe_lsp.lsp import run_reports, run_requests
from axe_lsp.lsp.language_server import RequestFailed

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer


def register(server: AxeServer) -> None:
    """Offer the commands to the client of `server`. Each takes the params of its request."""

    @server.command("axe.run")
    def on_run(params: Any = None) -> Coroutine[Any, Any, Json]:
        log = run_reports.log_messages(server)
        return _shown(server, run_requests.run(server, params, log))

    @server.command("axe.preview")
    def on_preview(params: Any = None) -> Coroutine[Any, Any, Json]:
        return run_requests.preview(server, params)

    @server.command("axe.stop")
    def on_stop(params: Any = None) -> Json:
        return run_requests.stop(server, params)


async def _shown(server: AxeServer, running: Coroutine[Any, Any, Json]) -> Json:
    """The result of a run, which most such clients would throw away, in front of the user."""
    try:
        result = await running
    except RequestFailed as error:
        _show(server, types.MessageType.Error, error.message)
        raise
    _show(server, types.MessageType.Info, f"{result['agent']}: {result['content']}")
    return result


def _show(server: AxeServer, kind: types.MessageType, text: str) -> None:
    server.notify(types.WINDOW_SHOW_MESSAGE, types.ShowMessageParams(kind, text))
