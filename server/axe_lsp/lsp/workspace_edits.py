"""From our edits to LSP's (3.17, WorkspaceEdit), as far as the client can apply them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from lsprotocol import types

from axe_lsp.features.edit import Edit, MovedFile, NewFile, TextChange
from axe_lsp.lsp import to_proto
from axe_lsp.lsp.to_proto import LinesOf

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer

_Operation = types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile

_CHANGES = "workspace.workspaceEdit.documentChanges"
_OPERATIONS = "workspace.workspaceEdit.resourceOperations"
_KINDS = {NewFile: "create", MovedFile: "rename"}
"""What LSP calls the operations (ResourceOperationKind)."""


def can_apply(server: AxeServer, edit: Edit) -> bool:
    """Whether the client can create and rename files, as far as the edit needs it."""
    needed = {_KINDS[type(step)] for step in edit if not isinstance(step, TextChange)}
    known = server.client.capability(_OPERATIONS)
    knows_all = needed.issubset(known if isinstance(known, list) else ())
    return not needed or (server.client.supports(_CHANGES) and knows_all)


def workspace_edit(
    server: AxeServer, edit: Edit, lines_of: LinesOf | None = None
) -> types.WorkspaceEdit:
    """The edit in the client's words: with versions where it knows versions, else by URI.

    The client must be able to apply it. `lines_of` serves those who have read the files already.
    """
    writer = _Writer(server, lines_of or cache(server.daemon.lines))
    if server.client.supports(_CHANGES):
        return types.WorkspaceEdit(document_changes=list(writer.operations(edit)))
    changes = [step for step in edit if isinstance(step, TextChange)]
    return types.WorkspaceEdit(
        changes={writer.name(uri): edits for uri, edits in writer.by_file(changes).items()}
    )


class _Writer:
    """What is needed to say anything about a file."""

    def __init__(self, server: AxeServer, lines_of: LinesOf) -> None:
        self._opened = server.opened
        self._encoding = server.position_encoding
        self._lines_of = lines_of

    def operations(self, edit: Edit) -> Iterator[_Operation]:
        """All changes of a file between two operations on files are one, as their ranges are of one text."""
        changes: list[TextChange] = []
        for step in edit:
            if isinstance(step, TextChange):
                changes.append(step)
                continue
            yield from self._documents(changes)
            changes = []
            yield from self._file_operation(step)
        yield from self._documents(changes)

    def by_file(self, changes: list[TextChange]) -> dict[str, list[types.TextEdit]]:
        """The changes by our URIs."""
        found: dict[str, list[types.TextEdit]] = {}
        for each in changes:
            where = to_proto.text_range(each.range, self._lines_of(each.uri), self._encoding)
            found.setdefault(each.uri, []).append(types.TextEdit(where, each.text))
        return found

    def name(self, uri: str) -> str:
        """The URI as the client spells it."""
        document = self._opened.document(uri)
        return document.uri if document is not None else uri

    def _documents(self, changes: list[TextChange]) -> Iterator[types.TextDocumentEdit]:
        for uri, edits in self.by_file(changes).items():
            document = self._opened.document(uri)
            version = document.version if document is not None else None
            identifier = types.OptionalVersionedTextDocumentIdentifier(self.name(uri), version)
            yield types.TextDocumentEdit(identifier, [*edits])

    def _file_operation(self, step: NewFile | MovedFile) -> Iterator[_Operation]:
        if isinstance(step, MovedFile):
            yield types.RenameFile(self.name(step.old), step.new)
            return
        yield types.CreateFile(step.uri)
        start = types.Range(types.Position(0, 0), types.Position(0, 0))
        identifier = types.OptionalVersionedTextDocumentIdentifier(step.uri, None)
        yield types.TextDocumentEdit(identifier, [types.TextEdit(start, step.text)])
