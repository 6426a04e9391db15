"""Line starts that are kept up to date are those that a fresh look finds."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from axe_lsp.agentfile.text.ranges import LineIndex
from axe_lsp.rpc.documents import EditedText

texts = st.text(st.sampled_from("a\n\r\u2028"), max_size=12)


@given(texts, st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12), texts)))
@example("a\rb", [(2, 2, "\n")])
@example("a\r\nb", [(2, 2, "x")])
@example("a\r\n\nb", [(2, 3, "")])
def test_lines_begin_where_they_would_in_a_new_text(
    text: str, edits: list[tuple[int, int, str]]
) -> None:
    edited = EditedText(text)
    for start, end, new in edits:
        first, last = sorted(min(each, len(edited.text)) for each in (start, end))
        expected = edited.text[:first] + new + edited.text[last:]
        edited.replace(first, last, new)
        assert edited.text == expected
        fresh = LineIndex(expected)
        lines = range(len(fresh.starts) + 1)
        assert [edited.offset(n, 0, "utf-16") for n in lines] == [
            fresh.offset(n, 0, "utf-16") for n in lines
        ]
