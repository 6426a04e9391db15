"""Renames, which the user begins at a name, or by moving a file."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lsprotocol import types

from axe_lsp.agentfile.agent_name import SUFFIX
from axe_lsp.daemon.uris import canonical, path_of
from axe_lsp.features.edit import Edit, MovedFile
from axe_lsp.features.rename import RenameError, follow_move, renamable, rename
from axe_lsp.lsp import to_proto
from axe_lsp.lsp.locations import Locations
from axe_lsp.lsp.positions import position_of
from axe_lsp.lsp.workspace_edit import can_apply, workspace_edit
from axe_lsp.rpc.client import Client
from axe_lsp.rpc.json_rpc import JsonObject
from axe_lsp.rpc.language_server import RequestFailed

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer

_log = logging.getLogger(__name__)

_AGENT_FILES = {
    "filters": [{"scheme": "file", "pattern": {"glob": f"**/*{SUFFIX}", "matches": "file"}}]
}
"""Which of them are agents depends on settings that may change, so that is asked when one moves.

Folders are not among them: an agent is called by the name of its file, wherever that lies.
"""

_ANYTHING = {
    "filters": [
        *_AGENT_FILES["filters"],
        {"scheme": "file", "pattern": {"glob": "**/*", "matches": "folder"}},
    ]
}
"""What may take agents along. Who watches folders of agents is not told of those far above them."""


def register(server: AxeServer) -> None:
    """Offer the features to the client of `server`."""

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def on_prepare_rename(
        params: types.PrepareRenameParams,
    ) -> types.PrepareRenamePlaceholder | None:
        place = position_of(server, params)
        if place is None:
            return None
        with _refusals():
            found = renamable(server.view.snapshot, place.file, place.offset)
        if found is None:
            return None
        where = to_proto.text_range(found.range, place.lines, server.position_encoding)
        return types.PrepareRenamePlaceholder(where, found.name)

    @server.feature(types.TEXT_DOCUMENT_RENAME)
    def on_rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        place = position_of(server, params)
        if place is None:
            return None
        snapshot, locations = server.view.snapshot, Locations(server)
        with _refusals():
            edit = rename(snapshot, place.file, place.offset, params.new_name, locations.text_of)
        if edit is None:
            return None
        _check_can_move(server, edit)
        return workspace_edit(server, edit, locations)

    @server.feature(types.WORKSPACE_WILL_RENAME_FILES, _AGENT_FILES)
    def on_will_rename_files(params: types.RenameFilesParams) -> types.WorkspaceEdit | None:
        locations = Locations(server)
        edit = tuple(step for moved in params.files for step in _follow(server, moved, locations))
        return workspace_edit(server, edit, locations) if edit else None

    @server.feature(types.WORKSPACE_DID_RENAME_FILES, _ANYTHING)
    def on_did_rename_files(params: types.RenameFilesParams) -> None:
        # Whoever watches the disk says so too, but later: until then the names would be unknown.
        uris = (uri for moved in params.files for uri in (moved.old_uri, moved.new_uri))
        server.view.changed_on_disk([canonical(uri) for uri in uris])

    @server.feature(types.WORKSPACE_DID_DELETE_FILES, _ANYTHING)
    def on_did_delete_files(params: types.DeleteFilesParams) -> None:
        server.view.changed_on_disk([canonical(each.uri) for each in params.files])


def announce(capabilities: JsonObject, client: Client) -> None:
    """Clients that ask whether something can be renamed are told that they may."""
    if client.supports("textDocument.rename.prepareSupport"):  # Else no options are allowed.
        capabilities["renameProvider"] = {"prepareProvider": True}


@contextmanager
def _refusals() -> Iterator[None]:
    """Turns what the user should know into the error that clients show."""
    try:
        yield
    except RenameError as error:
        raise RequestFailed(str(error)) from error


def _check_can_move(server: AxeServer, edit: Edit) -> None:
    if can_apply(server, edit):
        return
    for moved in (step for step in edit if isinstance(step, MovedFile)):
        old, new = path_of(moved.old), path_of(moved.new)
        raise RequestFailed(
            f"this editor does not rename files on behalf of a language server; rename {old} to "
            f"{new.name if new is not None else moved.new} in its file browser or by hand"
        )


def _follow(server: AxeServer, moved: types.FileRename, locations: Locations) -> Edit:
    """What goes with a move. That nothing does is told, since the move is made all the same."""
    old, new = canonical(moved.old_uri), canonical(moved.new_uri)
    try:
        return follow_move(server.view.snapshot, old, new, locations.text_of)
    except RenameError as error:
        message = f"The lists that name the agent were left as they are: {error}."
        _log.info("%s", message)
        server.notify(
            types.WINDOW_SHOW_MESSAGE, types.ShowMessageParams(types.MessageType.Warning, message)
        )
        return ()
