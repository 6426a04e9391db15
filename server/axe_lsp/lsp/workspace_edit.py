"""`WorkspaceEdit`: from our edits to LSP's (3.17), as far as the client can apply them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types

from axe_lsp.features.edit import Edit, MovedFile, NewFile, TextChange
from axe_lsp.lsp.positions import Locations
from axe_lsp.lsp.session import Session

_Operation = types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile

_CHANGES = "workspace.workspaceEdit.documentChanges"
_OPERATIONS = "workspace.workspaceEdit.resourceOperations"
_KINDS = {NewFile: "create", MovedFile: "rename"}
"""The names of the operations in LSP (ResourceOperationKind)."""


def can_apply(session: Session, edit: Edit) -> bool:
    """Whether the client can create and rename files, as far as the edit needs it.

    Neovim renames them, but does not say `documentChanges`, which is the only place for that. It would
    leave the text of a file that it creates unsaved in a buffer that nobody sees.
    """
    needed = {_KINDS[type(step)] for step in edit if not isinstance(step, TextChange)}
    known = session.client.capability(_OPERATIONS)
    knows_all = needed.issubset(known if isinstance(known, list) else ())
    return knows_all and ("create" not in needed or session.client.supports(_CHANGES))


def workspace_edit(
    session: Session, edit: Edit, locations: Locations | None = None
) -> types.WorkspaceEdit:
    """The edit as the client knows it: with versions of documents, else by URI.

    The client must be able to apply it. A caller that has read files already passes its `locations`.
    """
    locations = locations or Locations(session)
    moves_files = any(isinstance(step, MovedFile) for step in edit)
    if moves_files or session.client.supports(_CHANGES):
        return types.WorkspaceEdit(document_changes=list(_operations(session, edit, locations)))
    changes = [step for step in edit if isinstance(step, TextChange)]
    by_file = _by_file(changes, locations).items()
    return types.WorkspaceEdit(changes={session.opened.name(uri): edits for uri, edits in by_file})


def _operations(session: Session, edit: Edit, locations: Locations) -> Iterator[_Operation]:
    """The edit as operations. Changes between two file operations are one, as their ranges are of one text."""
    changes: list[TextChange] = []
    for step in edit:
        if isinstance(step, TextChange):
            changes.append(step)
            continue
        yield from _documents(session, changes, locations)
        changes = []
        yield from _file_operation(session, step)
    yield from _documents(session, changes, locations)


def _documents(
    session: Session, changes: Sequence[TextChange], locations: Locations
) -> Iterator[types.TextDocumentEdit]:
    for uri, edits in _by_file(changes, locations).items():
        document = session.opened.document(uri)
        version = document.version if document is not None else None
        yield _document(session.opened.name(uri), version, edits)


def _by_file(
    changes: Sequence[TextChange], locations: Locations
) -> dict[str, list[types.TextEdit]]:
    found: dict[str, list[types.TextEdit]] = {}
    for each in changes:
        edit = types.TextEdit(locations.range(each.uri, each.range), each.text)
        found.setdefault(each.uri, []).append(edit)
    return found


def _file_operation(session: Session, step: NewFile | MovedFile) -> Iterator[_Operation]:
    if isinstance(step, MovedFile):
        yield types.RenameFile(session.opened.name(step.old), step.new)
        return
    yield types.CreateFile(step.uri)
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    yield _document(step.uri, None, [types.TextEdit(start, step.text)])


def _document(
    uri: str, version: int | None, edits: Sequence[types.TextEdit]
) -> types.TextDocumentEdit:
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri, version)
    return types.TextDocumentEdit(identifier, [*edits])
