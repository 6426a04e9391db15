"""What a server announces is what it has handlers for; nobody has to keep a second list."""

from __future__ import annotations

from typing import Any

import pytest
from lsprotocol import types

from axe_lsp.rpc.capabilities import UnannouncedError
from axe_lsp.rpc.client import Client
from axe_lsp.rpc.language_server import LanguageServer


def server_with(*methods: str, **options: Any) -> LanguageServer:
    server = LanguageServer("test", "1")
    for method in methods:
        server.feature(method, **options)(lambda _: None)
    return server


def announced(server: LanguageServer, client: Client | None = None) -> dict[str, Any]:
    return server.initialize(client or Client())


@pytest.mark.parametrize(
    ("method", "capability"),
    [
        ("textDocument/linkedEditingRange", "linkedEditingRangeProvider"),
        ("textDocument/typeDefinition", "typeDefinitionProvider"),
        ("textDocument/onTypeFormatting", "documentOnTypeFormattingProvider"),
        ("workspace/symbol", "workspaceSymbolProvider"),
    ],
)
def test_a_handler_is_announced(method: str, capability: str) -> None:
    assert announced(server_with(method))[capability] is True
    assert capability not in announced(server_with())


def test_options_are_announced_with_it() -> None:
    server = server_with("textDocument/hover", options={"workDoneProgress": True})
    assert announced(server)["hoverProvider"] == {"workDoneProgress": True}


def test_options_can_depend_on_the_client() -> None:
    server = server_with("textDocument/hover", options=lambda client: client.name == "editor")
    assert announced(server, Client(name="editor"))["hoverProvider"] is True
    assert "hoverProvider" not in announced(server, Client(name="other"))


def test_file_operations_are_announced_with_their_filters() -> None:
    server = server_with("workspace/didCreateFiles", options={"filters": []})
    assert announced(server)["workspace"]["fileOperations"] == {"didCreate": {"filters": []}}


@pytest.mark.parametrize(
    "method",
    [
        "textDocument/willSave",
        "textDocument/publishDiagnostics",
        "textDocument/semanticTokens/full/delta",
        "workspace/configuration",
    ],
)
def test_a_handler_that_no_capability_announces_fails_at_start(method: str) -> None:
    with pytest.raises(UnannouncedError, match=method):
        server_with(method)


def test_a_method_that_an_option_announces_needs_that_option() -> None:
    lens, resolve = types.TEXT_DOCUMENT_CODE_LENS, types.CODE_LENS_RESOLVE
    with pytest.raises(UnannouncedError, match=r"codeLens with the option resolveProvider"):
        announced(server_with(lens, resolve))
    with pytest.raises(UnannouncedError, match="which is missing"):
        announced(server_with(resolve))
    server = server_with(lens, options={"resolveProvider": True})
    server.feature(resolve)(lambda _: None)
    assert announced(server)["codeLensProvider"] == {"resolveProvider": True}


def test_methods_of_our_own_are_not_announced() -> None:
    assert announced(server_with("axe/run")) == announced(server_with())
