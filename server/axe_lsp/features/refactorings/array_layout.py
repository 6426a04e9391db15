"""An array on one line, or with each item on its own."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.text import splices
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.splices import Splice
from axe_lsp.agentfile.text.tree import Document, Value, ValueKind
from axe_lsp.features.edit import ActionKind, CodeAction, TextChange
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot


def actions(_: Snapshot, file: AgentFile, where: TextRange) -> Iterator[CodeAction]:
    """Yield the other layout of the array that the selection is in."""
    if file.open is None:
        return
    document, text = file.open.parse.document, file.open.parse.text
    array = _array_around(document, where)
    if array is None or not array.items:
        return
    if not any(character in array.range.of(text) for character in "\r\n"):
        if len(array.items) > 1:
            splice = splices.on_many_lines(text, array)
            yield _action(file, "Put each item on a line of its own", splice)
    elif not any(array.range.start < start < array.range.end for start, _ in document.comments):
        yield _action(file, "Put the array on one line", splices.on_one_line(text, array))


def _array_around(document: Document, where: TextRange) -> Value | None:
    for table in document.tables:
        for entry in table.entries:
            value = entry.value
            if value is not None and value.range.start <= where.start <= value.range.end:
                is_whole = value.kind is ValueKind.ARRAY and value.complete
                return value if is_whole and where.end <= value.range.end else None
    return None


def _action(file: AgentFile, title: str, splice: Splice) -> CodeAction:
    return CodeAction(title, ActionKind.REWRITE, (TextChange(file.uri, *splice),))
