"""A client that applies workspace edits: to its open documents, and to the disk."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from axe_lsp.agentfile.text.ranges import LineIndex, PositionEncoding
from support.raw_client import Json
from support.session import Editor

EVERYTHING = {
    "textDocument": {
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}},
            "isPreferredSupport": True,
            "disabledSupport": True,
        }
    },
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {
            "documentChanges": True,
            "resourceOperations": ["create", "rename", "delete"],
        },
        "didChangeWatchedFiles": {"dynamicRegistration": True},
    },
    "window": {"showDocument": {"support": True}},
    "general": {"positionEncodings": ["utf-16"]},
}
"""The capabilities of a client that can take whatever there is."""


def apply_edit(editor: Editor, edit: Json) -> None:
    """Do what a WorkspaceEdit says. Files that are created must not be there yet."""
    steps = edit.get("documentChanges")
    if steps is None:
        named = ((uri, edits) for uri, edits in edit["changes"].items())
        steps = [{"textDocument": {"uri": uri}, "edits": edits} for uri, edits in named]
    for step in steps:
        if step.get("kind") == "create":
            path = _path(step["uri"])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(exist_ok=False)
            editor.changed_on_disk(path)
        elif step.get("kind") == "rename":
            old, new = _path(step["oldUri"]), _path(step["newUri"])
            assert not new.exists()
            old.rename(new)
            editor.changed_on_disk(old, new)
        else:
            _edit_document(editor, step["textDocument"]["uri"], step["edits"])


def _edit_document(editor: Editor, uri: str, edits: list[Json]) -> None:
    name = next((each for each in editor.texts if editor.uri(each) == uri), None)
    if name is None:
        path = _path(uri)
        text = _edited(path.read_bytes().decode(), edits, editor.encoding)
        path.write_bytes(text.encode())
        editor.changed_on_disk(path)
        return
    editor.texts[name] = _edited(editor.texts[name], edits, editor.encoding)
    editor.versions[name] += 1
    document = {"uri": uri, "version": editor.versions[name]}
    changes = [{"text": editor.texts[name]}]
    editor.client.notify(
        "textDocument/didChange", {"textDocument": document, "contentChanges": changes}
    )


def _edited(text: str, edits: list[Json], encoding: PositionEncoding) -> str:
    lines = LineIndex(text)

    def offset(position: Json) -> int:
        return lines.offset(position["line"], position["character"], encoding)

    found = [
        (offset(edit["range"]["start"]), offset(edit["range"]["end"]), edit["newText"])
        for edit in edits
    ]
    for start, end, new in sorted(found, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _path(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path))
