"""Codes of diagnostics in a comment that silences them, and the comment itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.completion.item import Completion, CompletionKind
from axe_lsp.features.diagnostics import diagnostics, not_silenced
from axe_lsp.features.rules import RULES
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot

_CODES = re.compile(r"# *axe: *ignore *\[([^\]\r\n]*)(\]?)")
_CODE = re.compile(r"[\w-]*")
_MARKER = re.compile(r"#[ \t]*(\w[\w: ]*)")
_IGNORE = "axe: ignore"


def ignore_offers(
    snapshot: Snapshot, file: AgentFile, lookup: Lookup, offset: int
) -> Iterator[Completion]:
    """The completions in the comment at `offset`, if there is one."""
    comments = lookup.parse.document.comments
    comment = next((each for each in comments if each.start < offset <= each.end), None)
    if comment is None:
        return
    text = lookup.parse.text
    codes = _CODES.search(text, *comment)
    if codes is None:
        marker = _MARKER.fullmatch(text, *comment)
        if marker is not None and _IGNORE.startswith(marker[1]):
            where = TextRange(*marker.span(1))
            new = f"{_IGNORE}[$1]"
            yield Completion(_IGNORE, CompletionKind.CHOICE, where, f"{_IGNORE}[]", new)
    elif codes.start(1) <= offset <= codes.end(1):
        in_file = {each.code for each in diagnostics(snapshot, file)}
        yield from _codes(codes, offset, in_file, not_silenced(file))


def _codes(
    comment: re.Match[str], offset: int, in_file: set[str], kept: frozenset[str]
) -> Iterator[Completion]:
    """The codes that are not listed and not `kept`, those that the file has first."""
    text, end = comment.string, comment.end(1)
    words = [TextRange(*word.span()) for word in _CODE.finditer(text, *comment.span(1))]
    touched = (each for each in words if each.touches(offset))
    word = max(touched, key=lambda each: each.end - each.start, default=TextRange(offset, offset))
    listed = {each.of(text) for each in words if each != word}
    closing = "]" if word.end == end and not comment[2] else ""
    for rule in sorted(RULES, key=lambda rule: rule.code not in in_file):
        if rule.code not in listed and rule.code not in kept:
            yield Completion(
                label=rule.code,
                kind=CompletionKind.CHOICE,
                replace=word,
                text=rule.code + closing,
                detail="found in this file" if rule.code in in_file else "",
                documentation=rule.summary,
            )
