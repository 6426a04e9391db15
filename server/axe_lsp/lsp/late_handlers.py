"""The handlers whose modules are imported with their first request.

To import the code of code actions and runs takes a tenth of the start of a session, and many sessions
never run an agent.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from lsprotocol import types

from axe_lsp.lsp.session import Session
from axe_lsp.rpc.client import Client
from axe_lsp.serving.json_rpc import JsonObject

REQUESTS = {
    types.TEXT_DOCUMENT_CODE_ACTION: "code_action:code_action",
    "axe/run": "runs.running:run",
    "axe/preview": "runs.running:preview",
    "axe/resume": "runs.running:resume",
    "axe/changes": "runs.undoing:changes",
    "axe/undo": "runs.undoing:undo",
    "axe/stop": "runs.running:stop",
    "axe/message": "runs.messaging:message",
    "axe/messages": "runs.messaging:messages",
    "axe/changeMessage": "runs.messaging:change_message",
    "axe/runs": "runs.past_runs:runs",
    "axe/events": "runs.past_runs:events",
    "axe/runLog": "run_log:statistics",
    "axe/tests": "runs.testing:tests",
    "axe/test": "runs.testing:run_tests",
    "axe/newTest": "runs.testing:new_test",
    "axe/subscribe": "runs.past_runs:subscribe",
    "axe/unsubscribe": "runs.past_runs:unsubscribe",
}
"""Methods, with the module of this package and the function in it that takes the session and the params."""

COMMANDS = {
    "axe.applyAction": "apply_action:apply",
    "axe.createAgent": "create_agent:create",
    "axe.run": "runs.run_commands:run",
    "axe.preview": "runs.run_commands:preview",
    "axe.resume": "runs.run_commands:resume",
    "axe.showRunLog": "run_log:show",
    "axe.stop": "runs.run_commands:stop",
    "axe.test": "runs.testing:test",
    "axe.newTest": "runs.testing:new_test",
}
"""Commands of `workspace/executeCommand`, likewise. Each takes one argument, or none."""

_CODE_ACTION_KINDS = [
    types.CodeActionKind.QuickFix.value,
    types.CodeActionKind.RefactorExtract.value,
    types.CodeActionKind.RefactorRewrite.value,
    types.CodeActionKind.SourceFixAll.value,
]


def register(session: Session) -> None:
    options = {types.TEXT_DOCUMENT_CODE_ACTION: _code_action_options}
    for method, place in REQUESTS.items():
        session.feature(method, options.get(method))(_handler(session, place))
    for command, place in COMMANDS.items():
        session.command(command)(_handler(session, place))


def imported(place: str) -> Callable[[Session, Any], Any]:
    """Return the function at a place of these tables."""
    module, _, name = place.partition(":")
    function: Callable[[Session, Any], Any] = getattr(
        import_module(f"{__package__}.{module}"), name
    )
    return function


def _handler(session: Session, place: str) -> Callable[[Any], Any]:
    def handle(params: Any = None) -> Any:
        return imported(place)(session, params)

    return handle


def _code_action_options(client: Client) -> JsonObject | bool:
    """Return the server capability, with kinds for clients that support CodeAction literals (LSP 3.17, "Code Action Request")."""
    knows_actions = client.capability("textDocument.codeAction.codeActionLiteralSupport")
    return {"codeActionKinds": _CODE_ACTION_KINDS} if knows_actions is not None else True
