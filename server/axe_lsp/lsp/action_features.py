"""Code actions, and the commands by which they, and new agents, are made.

What makes them is imported with the first of them: the start of a session should not wait for it.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from axe_lsp.rpc.client import Client
from axe_lsp.rpc.json_rpc import JsonObject

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer

_KINDS = [
    types.CodeActionKind.QuickFix.value,
    types.CodeActionKind.RefactorExtract.value,
    types.CodeActionKind.RefactorRewrite.value,
    types.CodeActionKind.SourceFixAll.value,
]


def register(server: AxeServer) -> None:
    """Offer the feature and the commands to the client of `server`."""

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, {"codeActionKinds": _KINDS})
    def on_code_action(
        params: types.CodeActionParams,
    ) -> list[types.CodeAction | types.Command] | None:
        from axe_lsp.lsp import code_action  # noqa: PLC0415 - see above

        return code_action.offers(server, params)

    @server.command("axe.applyAction")
    def on_apply(params: Any = None) -> Coroutine[Any, Any, None]:
        from axe_lsp.lsp import apply_action  # noqa: PLC0415 - see above

        return apply_action.apply(server, params)

    @server.command("axe.createAgent")
    def on_create_agent(params: Any = None) -> Coroutine[Any, Any, JsonObject]:
        from axe_lsp.lsp import create_agent  # noqa: PLC0415 - see above

        return create_agent.create(server, params)


def announce(capabilities: JsonObject, client: Client) -> None:
    """Only clients that know actions know kinds of them."""
    if client.capability("textDocument.codeAction.codeActionLiteralSupport") is None:
        capabilities["codeActionProvider"] = True  # LSP 3.17, "Code Action Request"
