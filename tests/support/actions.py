"""Code actions as a person takes them: by title, with the cursor at `<|>`, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.splices import Splice, spliced
from axe_lsp.features.code_action import code_actions
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.edit import CodeAction, Edit, NewFile, TextChange
from axe_lsp.features.fix import Context
from axe_lsp.workspace.snapshot import Snapshot
from support.facts import with_facts
from support.fixture import CURSOR, Fixture, files_of, open_fixture

HEAD = 'name = "main"\nmodel = "openai/gpt"\n'


class Offered:
    """What is offered at the cursor of a fixture."""

    def __init__(self, fixture: str, *kinds: str, facts: Mapping[str, Any] | None = None) -> None:
        self.opened: Fixture = with_facts(open_fixture(fixture), **(facts or {}))
        texts = {uri: text.replace(CURSOR, "") for uri, text in files_of(fixture).items()}
        where = TextRange(self.opened.offset, self.opened.offset)
        self.context = context(self.opened.snapshot, texts)
        self.actions: list[CodeAction] = code_actions(
            self.context, self.opened.file, where, frozenset(kinds) if kinds else None
        )

    @property
    def titles(self) -> list[str]:
        return [each.title for each in self.actions]

    def action(self, title: str) -> CodeAction:
        assert title in self.titles, self.titles
        return self.actions[self.titles.index(title)]

    def taken(self, title: str) -> str:
        """Return the text of the file after the action."""
        return after(self.opened.text, self.opened.file.uri, self.action(title).edit)

    def new_file(self, title: str) -> NewFile:
        """Return the only file that the action makes."""
        (new,) = [step for step in self.action(title).edit if isinstance(step, NewFile)]
        return new


def context(snapshot: Snapshot, texts: Mapping[str, str]) -> Context:
    return Context(
        snapshot, lambda file: diagnostics(snapshot, file), lambda uri: texts.get(uri, "")
    )


def after(text: str, uri: str, edit: Edit) -> str:
    """Return the text of the file at `uri` after an edit, whose changes must not overlap."""
    splices = [
        Splice(step.range, step.text)
        for step in edit
        if isinstance(step, TextChange) and step.uri == uri
    ]
    ordered = sorted(splices)
    for one, other in pairwise(ordered):
        assert one.range.end <= other.range.start, "editors refuse changes that overlap"
    return spliced(text, ordered)
