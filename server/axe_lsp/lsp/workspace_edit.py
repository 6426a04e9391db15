"""`WorkspaceEdit`: from our edits to LSP's, as far as the client can apply them.

A guess in a text is selected for the author in clients with snippet edits (3.18). Edits are made as plain JSON: an answer
may have thousands of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from axe_lsp.features.edit import EMPTY_STRING, Edit, MovedFile, NewFile, TextChange
from axe_lsp.lsp.positions import Locations
from axe_lsp.lsp.session import Session
from axe_lsp.serving.json_rpc import JsonObject

_CHANGES = "workspace.workspaceEdit.documentChanges"
_SNIPPETS = "workspace.workspaceEdit.snippetEditSupport"
_OPERATIONS = "workspace.workspaceEdit.resourceOperations"
_KINDS = {NewFile: "create", MovedFile: "rename"}
"""The names of the operations in LSP (ResourceOperationKind)."""

_START = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}


def can_apply(session: Session, edit: Edit) -> bool:
    """Return whether the client can create and rename files, as far as the edit needs it.

    Neovim renames them, but does not say `documentChanges`, which is the only place for that. It would
    leave the text of a file that it creates unsaved in a buffer that nobody sees.
    """
    needed = {_KINDS[type(step)] for step in edit if not isinstance(step, TextChange)}
    known = session.client.capability(_OPERATIONS)
    knows_all = needed.issubset(known if isinstance(known, list) else ())
    return knows_all and ("create" not in needed or session.client.supports(_CHANGES))


def workspace_edit(
    session: Session, edit: Edit, locations: Locations | None = None, *, has_guesses: bool = False
) -> JsonObject:
    """Return the edit as the client knows it: with versions of documents, else by URI.

    The client must be able to apply it. A caller that has read files already passes its `locations`.
    With `has_guesses` the author is in the editor, and can change what was guessed.
    """
    locations = locations or Locations(session)
    moves_files = any(isinstance(step, MovedFile) for step in edit)
    if moves_files or session.client.supports(_CHANGES):
        has_guesses = has_guesses and session.client.supports(_SNIPPETS)
        return {"documentChanges": list(_operations(session, edit, locations, has_guesses))}
    changes = [step for step in edit if isinstance(step, TextChange)]
    return {
        "changes": {
            session.opened.name(uri): [_text_edit(each, locations) for each in found]
            for uri, found in _by_file(changes).items()
        }
    }


def _operations(
    session: Session, edit: Edit, locations: Locations, has_guesses: bool
) -> Iterator[JsonObject]:
    """Yield the edit as operations. Changes between two file operations are one, as their ranges are of one text."""
    changes: list[TextChange] = []
    for step in edit:
        if isinstance(step, TextChange):
            changes.append(step)
            continue
        yield from _documents(session, changes, locations, has_guesses)
        changes = []
        if isinstance(step, MovedFile):
            old = session.opened.name(step.old)
            yield {"kind": "rename", "oldUri": old, "newUri": step.new}
        else:
            yield {"kind": "create", "uri": step.uri}
            yield _document(step.uri, None, [{"range": _START, "newText": step.text}])
    yield from _documents(session, changes, locations, has_guesses)


def _documents(
    session: Session, changes: Sequence[TextChange], locations: Locations, has_guesses: bool
) -> Iterator[JsonObject]:
    for uri, found in _by_file(changes).items():
        document = session.opened.document(uri)
        version = document.version if document is not None else None
        edits = [
            _snippet_edit(each, locations)
            if has_guesses and each.guess
            else _text_edit(each, locations)
            for each in found
        ]
        yield _document(session.opened.name(uri), version, edits)


def _document(uri: str, version: int | None, edits: list[JsonObject]) -> JsonObject:
    return {"textDocument": {"uri": uri, "version": version}, "edits": edits}


def _by_file(changes: Sequence[TextChange]) -> dict[str, list[TextChange]]:
    found: dict[str, list[TextChange]] = {}
    for each in changes:
        found.setdefault(each.uri, []).append(each)
    return found


def _text_edit(change: TextChange, locations: Locations) -> JsonObject:
    return {"range": locations.json_range(change.uri, change.range), "newText": change.text}


def _snippet_edit(change: TextChange, locations: Locations) -> JsonObject:
    before, guess, after = change.text.rpartition(change.guess)
    if guess == EMPTY_STRING:
        before, guess, after = f'{before}"', "", f'"{after}'
    snippet = f"{_escaped(before)}${{1:{_escaped(guess)}}}{_escaped(after)}"
    return {
        "range": locations.json_range(change.uri, change.range),
        "snippet": {"kind": "snippet", "value": snippet},
    }


def _escaped(text: str) -> str:
    """Return a text that a snippet has as it is."""
    return re.sub(r"[\\$}]", r"\\\g<0>", text)
