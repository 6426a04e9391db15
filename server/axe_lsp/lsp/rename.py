"""`textDocument/rename` and `textDocument/prepareRename`: an agent and its file get another name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lsprotocol import types

from axe_lsp.daemon.uris import path_of
from axe_lsp.features.edit import Edit, MovedFile, RenameError
from axe_lsp.features.rename import renamable, rename
from axe_lsp.lsp.file_operations import exists, same
from axe_lsp.lsp.positions import Locations, position_of
from axe_lsp.lsp.session import Session
from axe_lsp.lsp.workspace_edit import can_apply, workspace_edit
from axe_lsp.rpc.client import Client
from axe_lsp.rpc.language_server import RequestFailed
from axe_lsp.serving.json_rpc import JsonObject


def register(session: Session) -> None:
    @session.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def on_prepare_rename(
        params: types.PrepareRenameParams,
    ) -> types.PrepareRenamePlaceholder | None:
        place = position_of(session, params)
        if place is None:
            return None
        with _refusals():
            found = renamable(session.view.snapshot, place.file, place.offset)
        if found is None:
            return None
        return types.PrepareRenamePlaceholder(place.range(found.range), found.name)

    @session.feature(types.TEXT_DOCUMENT_RENAME, _options)
    def on_rename(params: types.RenameParams) -> JsonObject | None:
        place = position_of(session, params)
        if place is None:
            return None
        snapshot, locations = session.view.snapshot, Locations(session)
        with _refusals():
            text_of = locations.text_of
            edit = rename(
                snapshot,
                place.file,
                place.offset,
                params.new_name,
                text_of,
                exists=exists,
                same=same,
            )
        if edit is None:
            return None
        _check_can_move(session, edit)
        return workspace_edit(session, edit, locations)


def _options(client: Client) -> JsonObject | bool:
    """Return the server capability, with options for clients that support `prepareRename` (LSP 3.17, "Rename Request")."""
    knows_prepare = client.supports("textDocument.rename.prepareSupport")
    return {"prepareProvider": True} if knows_prepare else True


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn what the user should know into the error that clients show."""
    try:
        yield
    except RenameError as error:
        raise RequestFailed(str(error)) from error


def _check_can_move(session: Session, edit: Edit) -> None:
    if can_apply(session, edit):
        return
    for moved in (step for step in edit if isinstance(step, MovedFile)):
        old, new = path_of(moved.old), path_of(moved.new)
        raise RequestFailed(
            f"this editor does not rename files on behalf of a language server; rename {old} to "
            f"{new.name if new is not None else moved.new} in its file browser or by hand"
        )
