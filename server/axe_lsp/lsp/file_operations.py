"""`workspace/willRenameFiles`, `didRenameFiles`, `didDeleteFiles`: files that the user moves in the editor."""

from __future__ import annotations

import logging

from lsprotocol import types

from axe_lsp.agentfile.lookup_order import SUFFIX
from axe_lsp.daemon.uris import canonical, path_of
from axe_lsp.features.edit import Edit, MovedFile, RenameError
from axe_lsp.features.rename import follow_move
from axe_lsp.lsp.positions import Locations
from axe_lsp.lsp.session import Session
from axe_lsp.lsp.workspace_edit import workspace_edit
from axe_lsp.serving.json_rpc import JsonObject

_log = logging.getLogger(__name__)

_AGENT_FILES = {
    "filters": [{"scheme": "file", "pattern": {"glob": f"**/*{SUFFIX}", "matches": "file"}}]
}
"""The files that may be agents. Which are depends on settings, so a handler decides that.

Folders are not among them: an agent is called by the name of its file, in whichever folder it is.
"""

_FILES_AND_FOLDERS = {
    "filters": [
        *_AGENT_FILES["filters"],
        {"scheme": "file", "pattern": {"glob": "**/*", "matches": "folder"}},
    ]
}
"""Folders too: agents move with them, and a client that watches agent folders doesn't report
changes of the folders far above them."""


def register(session: Session) -> None:
    own: set[tuple[str, str]] = set()
    """The moves of the last answer. VS Code asks about these too, before anything has moved."""

    @session.feature(types.WORKSPACE_WILL_RENAME_FILES, _AGENT_FILES)
    def on_will_rename_files(params: types.RenameFilesParams) -> JsonObject | None:
        locations = Locations(session)
        moves = [(canonical(each.old_uri), canonical(each.new_uri)) for each in params.files]
        users = [each for each in moves if each not in own]
        if not users:
            return None
        moving = frozenset(old for old, _ in users)
        edit = tuple(
            step for moved in users for step in _follow(session, *moved, locations, moving)
        )
        own.clear()
        own.update(
            (canonical(step.old), canonical(step.new))
            for step in edit
            if isinstance(step, MovedFile)
        )
        return workspace_edit(session, edit, locations) if edit else None

    @session.feature(types.WORKSPACE_DID_RENAME_FILES, _FILES_AND_FOLDERS)
    def on_did_rename_files(params: types.RenameFilesParams) -> None:
        # The change on the disk is reported too, but later: until then the names would be unknown.
        uris = (uri for moved in params.files for uri in (moved.old_uri, moved.new_uri))
        session.view.changed_on_disk([canonical(uri) for uri in uris])

    @session.feature(types.WORKSPACE_DID_DELETE_FILES, _FILES_AND_FOLDERS)
    def on_did_delete_files(params: types.DeleteFilesParams) -> None:
        session.view.changed_on_disk([canonical(each.uri) for each in params.files])


def exists(uri: str) -> bool:
    """Return whether there is a file on the disk."""
    path = path_of(uri)
    return path is not None and path.is_file()


def same(uri: str, other: str) -> bool:
    """Return whether two URIs that differ in case alone lead to one file: on many disks of macOS and Windows."""
    one, two = path_of(uri), path_of(other)
    if one is None or two is None or str(one).casefold() != str(two).casefold():
        return False
    try:
        return one.samefile(two) and not one.is_symlink()
    except OSError:
        return False


def _follow(
    session: Session, old: str, new: str, locations: Locations, moving: frozenset[str]
) -> Edit:
    """Return the edit that adapts the names of one of the moved files in others; a message says why there is none."""
    try:
        snapshot, text_of = session.view.snapshot, locations.text_of
        return follow_move(snapshot, old, new, text_of, exists, same=same, moving=moving)
    except RenameError as error:
        message = f"The names in other files were not changed: {error}."
        _log.info("%s", message)
        session.show_message(message)
        return ()
