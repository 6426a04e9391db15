"""What the server says it can do is what LSP knows."""

from __future__ import annotations

from lsprotocol import types

from axe_lsp.daemon.daemon import Daemon
from axe_lsp.lsp.server import AxeServer
from axe_lsp.rpc.client import Client
from axe_lsp.rpc.lsp_json import shared_converter

KNOWS_ALL = {
    "textDocument": {
        "codeAction": {"codeActionLiteralSupport": {}},
        "diagnostic": {},
        "rename": {"prepareSupport": True},
    },
    "workspace": {"diagnostics": {"refreshSupport": True}},
}


async def test_all_capabilities_have_names_and_forms_that_lsp_knows() -> None:
    said = AxeServer(Daemon()).initialize(Client(capabilities=KNOWS_ALL))
    understood = shared_converter().structure(said, types.ServerCapabilities)
    assert shared_converter().unstructure(understood) == said
    assert len(said) > 20


async def test_each_session_is_told_what_its_own_client_can_use() -> None:
    daemon = Daemon()
    neovim = AxeServer(daemon).initialize(Client(name="Neovim", capabilities=KNOWS_ALL))
    other = AxeServer(daemon).initialize(Client(capabilities=KNOWS_ALL))
    assert not neovim["diagnosticProvider"]["workspaceDiagnostics"]
    assert other["diagnosticProvider"]["workspaceDiagnostics"]
