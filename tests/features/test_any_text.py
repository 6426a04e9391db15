"""Whatever somebody types, and wherever the cursor is: no feature fails, and none points outside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.call_hierarchy import hierarchy_of, incoming_calls, outgoing_calls
from axe_lsp.features.code_lens import code_lenses
from axe_lsp.features.delegation_graph import delegation_graph, dot, mermaid
from axe_lsp.features.document_symbol import Symbol, document_symbols
from axe_lsp.features.edit import RenameError
from axe_lsp.features.folding_range import folding
from axe_lsp.features.inlay_hint import inlay_hints
from axe_lsp.features.references import highlights, references
from axe_lsp.features.rename import renamable
from axe_lsp.features.selection_range import selections
from axe_lsp.features.semantic_tokens import semantic_tokens
from axe_lsp.workspace.workspace import Change, Workspace
from support.any_text import TEXTS
from support.fixture import PLACES, open_text


def _walk(symbols: tuple[Symbol, ...]) -> Iterator[Symbol]:
    for symbol in symbols:
        yield symbol
        yield from _walk(symbol.children)


@given(TEXTS)
def test_symbols_have_names_and_lie_in_their_ranges(text: str) -> None:
    for symbol in _walk(document_symbols(open_text(text))):
        assert symbol.name.strip()
        assert 0 <= symbol.range.start <= symbol.selection.start
        assert symbol.selection.end <= symbol.range.end <= len(text)
        for child in symbol.children:
            assert symbol.range.start <= child.range.start
            assert child.range.end <= symbol.range.end


@given(TEXTS)
def test_folds_go_over_lines_that_there_are(text: str) -> None:
    file = open_text(text)
    assert file.open is not None
    for fold in folding(file):
        assert 0 <= fold.first_line < fold.last_line < len(file.open.parse.lines.starts)
        assert 0 <= fold.range.start <= fold.range.end <= len(text)


@given(TEXTS, st.data())
def test_selections_grow(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    steps = selections(open_text(text), offset)
    assert steps[-1] == TextRange(0, len(text))
    assert all(step.touches(offset) for step in steps)
    for inner, outer in pairwise(steps):
        assert outer.start <= inner.start <= inner.end <= outer.end
        assert inner != outer


@given(TEXTS, st.data())
def test_what_is_named_lies_in_the_text_and_can_be_followed(text: str, data: st.DataObject) -> None:
    file = open_text(text)
    snapshot = Workspace(PLACES).apply([Change(file.uri, text, in_buffer=True)]).snapshot
    offset = data.draw(st.integers(0, len(text)))
    for each in references(snapshot, file, offset, include_declaration=True):
        assert 0 <= each.range.start <= each.range.end <= len(text)
    ranges = [each.range for each in highlights(snapshot, file, offset)]
    assert ranges == sorted(ranges)
    with suppress(RenameError):
        found = renamable(snapshot, file, offset)
        assert found is None or 0 <= found.range.start <= found.range.end <= len(text)
    agent = hierarchy_of(snapshot, file, offset)
    for call in (
        [*incoming_calls(snapshot, agent), *outgoing_calls(snapshot, agent)] if agent else ()
    ):
        assert all(name.of(text) for name in call.names)
    graph = delegation_graph(snapshot)
    assert mermaid(graph).count("\n") == dot(graph).count("\n")
    for lens in code_lenses(snapshot, file):
        assert 0 <= lens.range.start <= lens.range.end <= len(text)


@given(TEXTS)
def test_tokens_follow_each_other(text: str) -> None:
    tokens = [token.range for token in semantic_tokens(open_text(text))]
    assert all(token.start < token.end <= len(text) for token in tokens)
    assert all(one.end <= other.start for one, other in pairwise(tokens))


@given(TEXTS)
@example("a.b.c = { d = 0 }\n[retry]\ninitial_delay_ms = 0\n[retry]")
def test_hints_stand_in_the_text(text: str) -> None:
    for hint in inlay_hints(open_text(text), TextRange(0, len(text))):
        assert 0 <= hint.offset <= len(text)
        assert 0 <= hint.place <= len(text)
