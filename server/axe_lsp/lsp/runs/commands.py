"""The same actions as `workspace/executeCommand`, for clients that know only LSP.

A run is told through `$/progress` and `window/logMessage`, and its answer shown as a message; a
preview is shown as a document. So are errors shown as messages, since such clients drop those of
commands. What makes runs is imported with the first of them, as in
`axe_lsp.lsp.runs.run_requests`.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from axe_lsp.lsp.show_document import show_text
from axe_lsp.rpc.json_rpc import JsonObject
from axe_lsp.rpc.language_server import RequestFailed

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer


def register(server: AxeServer) -> None:
    """Offer the commands to the client of `server`. Each takes the params of its request.

    `axe.stop` may have none.
    """

    @server.command("axe.run")
    def on_run(params: Any = None) -> Coroutine[Any, Any, JsonObject]:
        from axe_lsp.lsp.runs import run_reports, running  # noqa: PLC0415 - see above

        log = run_reports.log_messages(server)
        with _errors_shown(server):
            return _shown(server, running.run(server, params, log))

    @server.command("axe.preview")
    def on_preview(params: Any = None) -> Coroutine[Any, Any, JsonObject]:
        from axe_lsp.lsp.runs import running  # noqa: PLC0415 - see above

        with _errors_shown(server):
            return _preview_shown(server, running.preview(server, params))

    @server.command("axe.stop")
    def on_stop(params: Any = None) -> JsonObject:
        from axe_lsp.lsp.runs import running  # noqa: PLC0415 - see above

        if params is not None:
            return running.stop(server, params)
        stopped = running.stop_own(server)  # A user who types the command knows no ids.
        if not stopped["stopped"]:
            _show(server, types.MessageType.Info, "No run of this editor is going on.")
        return stopped


async def _shown(server: AxeServer, running: Coroutine[Any, Any, JsonObject]) -> JsonObject:
    """The result of a run, which most such clients would throw away, in front of the user."""
    with _errors_shown(server):
        result = await running
    _show(server, types.MessageType.Info, f"{result['agent']}: {result['content']}")
    return result


async def _preview_shown(
    server: AxeServer, previewing: Coroutine[Any, Any, JsonObject]
) -> JsonObject:
    """What would be sent, likewise."""
    with _errors_shown(server):
        result = await previewing
    show_text(server, "preview.txt", result["text"])
    return result


@contextmanager
def _errors_shown(server: AxeServer) -> Iterator[None]:
    try:
        yield
    except (RequestFailed, JsonRpcInvalidParams) as error:
        _show(server, types.MessageType.Error, error.message)
        raise


def _show(server: AxeServer, kind: types.MessageType, text: str) -> None:
    server.notify(types.WINDOW_SHOW_MESSAGE, types.ShowMessageParams(kind, text))
