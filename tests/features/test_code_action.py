"""Code actions in whatever somebody types: they never fail, and what they change can be applied."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.code_action import code_actions
from axe_lsp.features.diagnostics import diagnostics
from axe_lsp.features.edit import NewFile, TextChange
from axe_lsp.workspace.snapshot import Snapshot
from support.actions import HEAD, after, context
from support.any_text import TEXTS
from support.fixture import PLACES, open_text

CONTEXT = context(Snapshot(places=PLACES, complete=True), {})


@given(TEXTS, st.data())
def test_actions_can_be_applied_wherever_the_cursor_is(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    where = TextRange(start, data.draw(st.integers(start, len(text))))
    file = open_text(text)
    for action in code_actions(CONTEXT, file, where):
        assert action.title.strip()
        assert action.edit
        after(text, file.uri, action.edit)
        for step in action.edit:
            if isinstance(step, TextChange):
                assert 0 <= step.range.start <= step.range.end <= len(text)
            if isinstance(step, NewFile):
                assert step.text.endswith("\n")


def test_a_file_that_nobody_has_open_offers_nothing() -> None:
    closed = replace(open_text("x = 1"), open=None)
    assert code_actions(CONTEXT, closed, TextRange(0, 0)) == []


def test_what_fixes_several_findings_is_offered_once_and_at_each_of_them() -> None:
    text = f"{HEAD}[zzz.a]\nb = 1\n[params]\n[zzz.c]\n[zzz]\nd = 1\n"
    file = open_text(text)
    snapshot = Snapshot(places=PLACES, complete=True)
    around = context(snapshot, {file.uri: text})
    places = [TextRange(0, len(text)), *(each.range for each in diagnostics(snapshot, file))]
    for where in places:
        titles = [each.title for each in code_actions(around, file, where)]
        assert titles.count("Remove `zzz`") == 1
    everywhere = code_actions(around, file, places[0])
    removal = next(each for each in everywhere if each.title == "Remove `zzz`")
    assert after(text, file.uri, removal.edit) == f"{HEAD}[params]\n"
