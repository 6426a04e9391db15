"""`workspace/didChangeWorkspaceFolders`: the folders of the workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from lsprotocol import types

from axe_lsp.daemon.uris import canonical, path_of
from axe_lsp.lsp.session import Session


def register(session: Session, changed: Callable[[], None]) -> None:
    @session.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def on_did_change(params: types.DidChangeWorkspaceFoldersParams) -> None:
        session.view.remove_roots(list(_paths(each.uri for each in params.event.removed)))
        session.view.add_roots(_paths(each.uri for each in params.event.added))
        changed()


def add_first_folders(session: Session) -> None:
    """Add the folders that the client named in `initialize`."""
    session.view.add_roots(_paths(session.client.folders))


def _paths(uris: Iterable[str]) -> Iterator[Path]:
    paths = (path_of(canonical(uri)) for uri in uris)
    return (path for path in paths if path is not None)
