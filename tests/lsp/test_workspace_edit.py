"""Edits in the words that a client understands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from lsprotocol.converters import get_converter

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.daemon.daemon import Daemon
from axe_lsp.features.edit import EMPTY_STRING, Edit, MovedFile, NewFile, TextChange
from axe_lsp.lsp.server import AxeServer
from axe_lsp.lsp.workspace_edit import can_apply, workspace_edit
from axe_lsp.rpc.client import Client

EVERYTHING = {"documentChanges": True, "resourceOperations": ["create", "rename", "delete"]}
NEW = NewFile("file:///new.toml", "name = 1\n")


@pytest.fixture
def server(tmp_path: Path) -> AxeServer:
    return AxeServer(Daemon({"XDG_CONFIG_HOME": str(tmp_path)}))


def knows(server: AxeServer, capabilities: dict[str, Any]) -> None:
    server.protocol.client = Client(capabilities={"workspace": {"workspaceEdit": capabilities}})


def opened(server: AxeServer, uri: str, text: str, version: int = 1) -> None:
    item = types.TextDocumentItem(uri, "axe-agent", version, text)
    did_open = server.protocol.fm.features[types.TEXT_DOCUMENT_DID_OPEN]
    did_open(types.DidOpenTextDocumentParams(item))


def written(server: AxeServer, edit: Edit, *, has_guesses: bool = False) -> Any:
    """Return the edit, which is that of the classes of LSP."""
    plain = workspace_edit(server.session, edit, has_guesses=has_guesses)
    converter = get_converter()
    whole = converter.structure(plain, types.WorkspaceEdit)
    assert converter.unstructure(whole, types.WorkspaceEdit) == plain
    return plain


def at(line: int, start: int, end: int) -> dict[str, Any]:
    return {
        "start": {"line": line, "character": start},
        "end": {"line": line, "character": end},
    }


async def test_changes_of_closed_and_open_files_carry_their_versions(
    server: AxeServer, tmp_path: Path
) -> None:
    closed = tmp_path / "closed.toml"
    closed.write_text('# 😀\n"😀" = "a"\n', "utf-8")
    knows(server, EVERYTHING)
    opened(server, "untitled:one", "a = 1", version=7)
    edit = (
        TextChange(closed.as_uri(), TextRange(10, 11), "b"),
        TextChange("untitled:one", TextRange(4, 5), "2"),
        TextChange(closed.as_uri(), TextRange(2, 3), "x"),
    )
    assert written(server, edit) == {
        "documentChanges": [
            {
                "textDocument": {"uri": closed.as_uri(), "version": None},
                "edits": [
                    {"range": at(1, 7, 8), "newText": "b"},
                    {"range": at(0, 2, 4), "newText": "x"},
                ],
            },
            {
                "textDocument": {"uri": "untitled:one", "version": 7},
                "edits": [{"range": at(0, 4, 5), "newText": "2"}],
            },
        ]
    }


async def test_clients_without_document_changes_get_them_by_uri(server: AxeServer) -> None:
    knows(server, {})
    opened(server, "untitled:one", "a = 1\nb = 1")
    edit = (
        TextChange("untitled:one", TextRange(4, 5), "2"),
        TextChange("untitled:one", TextRange(10, 11), "3"),
    )
    assert written(server, edit) == {
        "changes": {
            "untitled:one": [
                {"range": at(0, 4, 5), "newText": "2"},
                {"range": at(1, 4, 5), "newText": "3"},
            ]
        }
    }


async def test_files_are_created_filled_and_moved_in_the_order_of_the_steps(
    server: AxeServer,
) -> None:
    knows(server, EVERYTHING)
    opened(server, "untitled:one", "a = 1")
    edit = (
        TextChange("untitled:one", TextRange(4, 5), "2"),
        NEW,
        MovedFile("untitled:one", "file:///moved.toml"),
    )
    change, created, filled, moved = written(server, edit)["documentChanges"]
    assert change["textDocument"]["uri"] == "untitled:one"
    assert created == {"kind": "create", "uri": NEW.uri}
    assert filled["textDocument"] == {"uri": NEW.uri, "version": None}
    assert filled["edits"] == [{"range": at(0, 0, 0), "newText": NEW.text}]
    assert moved == {"kind": "rename", "oldUri": "untitled:one", "newUri": "file:///moved.toml"}


async def test_a_guess_is_selected_by_a_client_with_snippets(server: AxeServer) -> None:
    knows(server, {**EVERYTHING, "snippetEditSupport": True})
    opened(server, "untitled:one", "a = 1")
    edit = (TextChange("untitled:one", TextRange(4, 5), "$2}", guess="2"),)
    (change,) = written(server, edit, has_guesses=True)["documentChanges"]
    snippet = {"kind": "snippet", "value": r"\$${1:2}\}"}
    assert change["edits"] == [{"range": at(0, 4, 5), "snippet": snippet}]


async def test_cursor_is_put_into_an_empty_string_that_the_author_has_to_fill_in(
    server: AxeServer,
) -> None:
    knows(server, {**EVERYTHING, "snippetEditSupport": True})
    opened(server, "untitled:one", "a = 1")
    edit = (TextChange("untitled:one", TextRange(5, 5), '\nb = ""', guess=EMPTY_STRING),)
    (change,) = written(server, edit, has_guesses=True)["documentChanges"]
    snippet = {"kind": "snippet", "value": '\nb = "${1:}"'}
    assert change["edits"] == [{"range": at(0, 5, 5), "snippet": snippet}]


async def test_a_client_gets_its_own_spelling_of_a_uri(server: AxeServer) -> None:
    knows(server, EVERYTHING)
    opened(server, "file:///p/%61xe/agents/a.toml", "a = 1")
    ours = "file:///p/axe/agents/a.toml"
    change, moved = written(
        server, (TextChange(ours, TextRange(0, 1), "b"), MovedFile(ours, "file:///b"))
    )["documentChanges"]
    assert change["textDocument"]["uri"] == "file:///p/%61xe/agents/a.toml"
    assert moved["oldUri"] == "file:///p/%61xe/agents/a.toml"


@pytest.mark.parametrize(
    ("capabilities", "able"),
    [
        (EVERYTHING, True),
        ({"documentChanges": True, "resourceOperations": ["rename"]}, False),
        ({"documentChanges": True}, False),
        ({"resourceOperations": ["create"]}, False),
        ({}, False),
    ],
)
async def test_new_files_need_a_client_that_can_create_them(
    server: AxeServer, capabilities: dict[str, Any], able: bool
) -> None:
    knows(server, capabilities)
    assert can_apply(server.session, (NEW,)) is able
    assert can_apply(server.session, (TextChange(NEW.uri, TextRange(0, 0), ""),))


async def test_neovim_renames_files_without_saying_that_it_knows_document_changes(
    server: AxeServer,
) -> None:
    knows(server, {"resourceOperations": ["rename", "create", "delete"]})
    move = (MovedFile("file:///old.toml", "file:///new.toml"),)
    assert can_apply(server.session, move)
    assert written(server, move)["documentChanges"][0]["kind"] == "rename"
    assert not can_apply(server.session, (NEW,))
