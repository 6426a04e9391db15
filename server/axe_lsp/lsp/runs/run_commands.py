"""The commands `axe.run`, `axe.resume`, `axe.preview` and `axe.stop`, for clients that know only LSP.

Each takes the params of the request of the same name; `axe.stop` and `axe.resume` may have none. A run is reported by
`$/progress` and `window/logMessage`, and its answer is shown as a message; a preview is shown as a
document. Errors are shown as messages too, since such clients drop those of commands.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from axe_lsp.daemon.uris import canonical
from axe_lsp.lsp.runs import run_reports, running
from axe_lsp.lsp.session import Session
from axe_lsp.lsp.show_document import show_file, show_text
from axe_lsp.lsp.text_document_content import SUPPORT, request_uri
from axe_lsp.rpc.language_server import RequestFailed
from axe_lsp.serving.json_rpc import JsonObject


def run(session: Session, params: Any) -> Coroutine[Any, Any, JsonObject]:
    """Run an agent, and show its answer."""
    with _errors_shown(session):
        return _shown(session, running.run(session, params, run_reports.log_messages(session)))


def resume(session: Session, params: Any) -> Coroutine[Any, Any, JsonObject]:
    """Go on with a run, and show its answer; without params with the newest of this workspace that can be resumed."""
    with _errors_shown(session):
        reporter = run_reports.log_messages(session)
        if params is None:
            return _shown(session, running.resume_newest(session, reporter))
        return _shown(session, running.resume(session, params, reporter))


def preview(session: Session, params: Any) -> Coroutine[Any, Any, JsonObject]:
    """Show everything that a run would send first."""
    with _errors_shown(session):
        return _preview_shown(session, running.preview(session, params), _file_of(params))


def stop(session: Session, params: Any) -> JsonObject:
    """Stop a run; without params all runs of this client, since a user who types the command knows no ids."""
    if params is not None:
        return running.stop(session, params)
    stopped = running.stop_own(session)
    if not stopped["stopped"]:
        session.show_message("No run of this editor is active.", types.MessageType.Info)
    return stopped


async def _shown(session: Session, running: Coroutine[Any, Any, JsonObject]) -> JsonObject:
    """Return the result of a run, shown as a message since most such clients ignore results of commands."""
    with _errors_shown(session):
        result = await running
    session.show_message(f"{result['agent']}: {result['content']}", types.MessageType.Info)
    return result


async def _preview_shown(
    session: Session, previewing: Coroutine[Any, Any, JsonObject], file: str
) -> JsonObject:
    """Return the result of a preview, shown as a document: one that follows the file, if the client knows such."""
    with _errors_shown(session):
        result = await previewing
    if file and session.client.capability(SUPPORT) is not None:
        show_file(session, request_uri(file))
    else:
        show_text(session, "preview.txt", result["text"])
    return result


def _file_of(params: Any) -> str:
    """Return the file of the agent, if the preview is about nothing but it. A buffer that was never saved has none."""
    has_more = not isinstance(params, dict) or set(params) != {"uri"}
    uri = "" if has_more else canonical(params["uri"])
    return uri if uri.startswith("file:") else ""


@contextmanager
def _errors_shown(session: Session) -> Iterator[None]:
    try:
        yield
    except (RequestFailed, JsonRpcInvalidParams) as error:
        session.show_message(error.message, types.MessageType.Error)
        raise
