"""`WorkspaceEdit`: from our edits to LSP's, as far as the client can apply them.

A guess in a text is selected for the author in clients with snippet edits (3.18).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lsprotocol import types

from axe_lsp.features.edit import Edit, MovedFile, NewFile, TextChange
from axe_lsp.lsp.positions import Locations
from axe_lsp.lsp.session import Session
from axe_lsp.serving.json_rpc import JsonObject

_Operation = types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile

_Change = types.TextEdit | types.SnippetTextEdit

_CHANGES = "workspace.workspaceEdit.documentChanges"
_SNIPPETS = "workspace.workspaceEdit.snippetEditSupport"
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
    session: Session, edit: Edit, locations: Locations | None = None, *, has_guesses: bool = False
) -> types.WorkspaceEdit:
    """The edit as the client knows it: with versions of documents, else by URI.

    The client must be able to apply it. A caller that has read files already passes its `locations`.
    With `has_guesses` the author is in the editor, and can change what was guessed.
    """
    has_guesses = has_guesses and session.client.supports(_SNIPPETS)
    locations = locations or Locations(session)
    moves_files = any(isinstance(step, MovedFile) for step in edit)
    if moves_files or session.client.supports(_CHANGES):
        return types.WorkspaceEdit(
            document_changes=list(_operations(session, edit, locations, has_guesses))
        )
    changes = [step for step in edit if isinstance(step, TextChange)]
    by_file = _by_file(changes).items()
    edits = {
        session.opened.name(uri): [_text_edit(each, locations) for each in found]
        for uri, found in by_file
    }
    return types.WorkspaceEdit(changes=edits)


def workspace_edit_json(
    session: Session, edit: Edit, locations: Locations, *, has_guesses: bool = False
) -> types.WorkspaceEdit | JsonObject:
    """The same for an answer with thousands of edits, which nearly always change one file."""
    uris = {step.uri if isinstance(step, TextChange) else "" for step in edit}
    has_guesses = has_guesses and session.client.supports(_SNIPPETS)
    is_plain = all(
        isinstance(step, TextChange) and not (has_guesses and step.guess) for step in edit
    )
    if len(uris) != 1 or not is_plain:
        return workspace_edit(session, edit, locations, has_guesses=has_guesses)
    uri = uris.pop()
    name, document = session.opened.name(uri), session.opened.document(uri)
    edits = [
        {"range": locations.json_range(uri, step.range), "newText": step.text}
        for step in edit
        if isinstance(step, TextChange)
    ]
    if not session.client.supports(_CHANGES):
        return {"changes": {name: edits}}
    version = document.version if document is not None else None
    identifier = {"uri": name, "version": version}
    return {"documentChanges": [{"textDocument": identifier, "edits": edits}]}


def _operations(
    session: Session, edit: Edit, locations: Locations, has_guesses: bool
) -> Iterator[_Operation]:
    """The edit as operations. Changes between two file operations are one, as their ranges are of one text."""
    changes: list[TextChange] = []
    for step in edit:
        if isinstance(step, TextChange):
            changes.append(step)
            continue
        yield from _documents(session, changes, locations, has_guesses)
        changes = []
        yield from _file_operation(session, step)
    yield from _documents(session, changes, locations, has_guesses)


def _documents(
    session: Session, changes: Sequence[TextChange], locations: Locations, has_guesses: bool
) -> Iterator[types.TextDocumentEdit]:
    for uri, found in _by_file(changes).items():
        document = session.opened.document(uri)
        version = document.version if document is not None else None
        edits: list[_Change] = [
            _snippet_edit(each, locations)
            if has_guesses and each.guess
            else _text_edit(each, locations)
            for each in found
        ]
        yield _document(session.opened.name(uri), version, edits)


def _by_file(changes: Sequence[TextChange]) -> dict[str, list[TextChange]]:
    found: dict[str, list[TextChange]] = {}
    for each in changes:
        found.setdefault(each.uri, []).append(each)
    return found


def _text_edit(change: TextChange, locations: Locations) -> types.TextEdit:
    return types.TextEdit(locations.range(change.uri, change.range), change.text)


def _snippet_edit(change: TextChange, locations: Locations) -> types.SnippetTextEdit:
    before, guess, after = change.text.rpartition(change.guess)
    snippet = f"{_escaped(before)}${{1:{_escaped(guess)}}}{_escaped(after)}"
    where = locations.range(change.uri, change.range)
    return types.SnippetTextEdit(where, types.StringValue(snippet))


def _escaped(text: str) -> str:
    """A text that a snippet has as it is."""
    return re.sub(r"[\\$}]", r"\\\g<0>", text)


def _file_operation(session: Session, step: NewFile | MovedFile) -> Iterator[_Operation]:
    if isinstance(step, MovedFile):
        yield types.RenameFile(session.opened.name(step.old), step.new)
        return
    yield types.CreateFile(step.uri)
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    yield _document(step.uri, None, [types.TextEdit(start, step.text)])


def _document(uri: str, version: int | None, edits: Sequence[_Change]) -> types.TextDocumentEdit:
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri, version)
    return types.TextDocumentEdit(identifier, [*edits])
