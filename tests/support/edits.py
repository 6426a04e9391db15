"""What is left of a workspace after an edit."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from axe_lsp.features.edit import Edit, MovedFile, NewFile, TextChange


def edited(texts: Mapping[str, str], edit: Edit) -> dict[str, str]:
    """Return the files by URI, as an editor leaves them. Changes that overlap are a mistake."""
    after = dict(texts)
    for uri in {step.uri for step in edit if isinstance(step, TextChange)}:
        changes = [step for step in edit if isinstance(step, TextChange) and step.uri == uri]
        after[uri] = _changed(texts[uri], changes)
    for step in edit:
        if isinstance(step, NewFile):
            assert step.uri not in after, f"{step.uri} already exists"
            after[step.uri] = step.text
        elif isinstance(step, MovedFile):
            assert step.new not in after, f"{step.new} already exists"
            after[step.new] = after.pop(step.old)
    return after


def _changed(text: str, changes: list[TextChange]) -> str:
    ordered = sorted(changes, key=lambda each: each.range)
    for first, second in pairwise(ordered):
        assert first.range.end <= second.range.start, f"{first} overlaps {second}"
    for change in reversed(ordered):
        text = text[: change.range.start] + change.text + text[change.range.end :]
    return text
