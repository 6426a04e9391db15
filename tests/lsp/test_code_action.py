"""Code actions of a file with many problems, as editors with literals of actions get them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from axe_lsp.daemon.daemon import Daemon
from axe_lsp.lsp.code_action import code_action
from axe_lsp.lsp.file_diagnostics import FileDiagnostics
from axe_lsp.lsp.server import AxeServer
from axe_lsp.rpc.client import Client
from axe_lsp.rpc.lsp_json import structured, to_json
from support.growth import calls_of

_LITERALS: dict[str, Any] = {
    "workspace": {"workspaceEdit": {"documentChanges": True}},
    "textDocument": {
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}},
            "isPreferredSupport": True,
        }
    },
}
_FEW = 100


@pytest.fixture
def server(tmp_path: Path) -> AxeServer:
    server = AxeServer(Daemon({"XDG_CONFIG_HOME": str(tmp_path)}))
    server.protocol.client = Client(capabilities=_LITERALS)
    return server


def asking(server: AxeServer, uri: str, count: int) -> Callable[[], Any]:
    """Return all actions of a file with that many unknown keys, for the diagnostics that it has."""
    text = 'name = "a"\nmodel = "ollama/x"\n' + "".join(f"key{n} = 1\n" for n in range(count))
    item = types.TextDocumentItem(uri, "axe-agent", 1, text)
    did_open = server.protocol.fm.features[types.TEXT_DOCUMENT_DID_OPEN]
    did_open(types.DidOpenTextDocumentParams(item))
    shown = FileDiagnostics(server.session).of(uri)
    where = {"start": {"line": 0, "character": 0}, "end": {"line": count + 9, "character": 0}}
    asked = {"textDocument": {"uri": uri}, "range": where, "context": {"diagnostics": shown}}
    params = structured(asked, types.CodeActionParams, "params")
    return lambda: code_action(server.session, params)


async def test_an_action_has_the_diagnostic_that_it_fixes_and_its_edit(
    server: AxeServer, tmp_path: Path
) -> None:
    uri = (tmp_path / "axe/agents/a.toml").as_uri()
    offers = json.loads(json.dumps(asking(server, uri, 3)(), default=to_json))
    (removal,) = [each for each in offers if each["title"] == "Remove `key1`"]
    (diagnostic,) = removal["diagnostics"]
    assert diagnostic["code"] == "unknown-key"
    assert diagnostic["range"]["start"] == {"line": 3, "character": 0}
    line = {"start": {"line": 3, "character": 0}, "end": {"line": 4, "character": 0}}
    document = {"uri": uri, "version": 1}
    change = {"textDocument": document, "edits": [{"range": line, "newText": ""}]}
    assert removal["edit"] == {"documentChanges": [change]}


async def test_actions_with_their_diagnostics_grow_with_the_problems(
    server: AxeServer, tmp_path: Path
) -> None:
    """To look for the diagnostics of each action among all of them would take four times as long."""
    few, many = (
        calls_of(asking(server, (tmp_path / f"axe/agents/a{count}.toml").as_uri(), count))
        for count in (_FEW, 2 * _FEW)
    )
    assert many < 2.5 * few
