"""Lines drawn again and again in place, judged by a terminal emulator."""

from __future__ import annotations

import io

import pyte

from axe_lsp.cli.display import LiveRegion
from axe_lsp.cli.progress import Line, Span, Style

COLUMNS = 20


class Paper(io.StringIO):
    """What is written appears on a screen, as behind a terminal's line discipline."""

    def __init__(self) -> None:
        super().__init__()
        self.screen = pyte.Screen(COLUMNS, 12)
        self._stream = pyte.Stream(self.screen)
        self._stream.feed("$ command\r\n")
        self.writes: list[str] = []

    def write(self, text: str) -> int:
        self.writes.append(text)
        self._stream.feed(text.replace("\n", "\r\n"))
        return len(text)

    @property
    def rows(self) -> list[str]:
        return [row.rstrip() for row in self.screen.display[1 : self.screen.cursor.y]]


def lines(*texts: str) -> list[Line]:
    return [(Span(text),) for text in texts]


def test_live_lines_are_drawn_over() -> None:
    paper = Paper()
    region = LiveRegion(paper, coloured=False)
    region.draw([], lines("a is working", "b is working"), COLUMNS)
    region.draw([], lines("a", "b", "c"), COLUMNS)
    assert paper.rows == ["a", "b", "c"]
    region.draw([], lines("c"), COLUMNS)
    assert paper.rows == ["c"]
    region.draw([], [], COLUMNS)
    assert paper.rows == []
    assert paper.screen.display[0].startswith("$ command")


def test_settled_lines_stay_above() -> None:
    paper = Paper()
    region = LiveRegion(paper, coloured=False)
    region.draw([], lines("a is working", "b is working"), COLUMNS)
    region.draw(lines("a is done"), lines("b is working"), COLUMNS)
    region.draw(lines("b is done"), [], COLUMNS)
    assert paper.rows == ["a is done", "b is done"]


def test_a_settled_line_may_wrap_and_may_end_at_the_edge() -> None:
    paper = Paper()
    region = LiveRegion(paper, coloured=False)
    region.draw([], lines("x" * 19, "y" * 19), COLUMNS)
    region.draw(lines("0123456789" * 2, "0123456789" * 3), lines("live"), COLUMNS)
    region.draw([], lines("alive"), COLUMNS)
    assert paper.rows == ["0123456789" * 2, "0123456789" * 2, "0123456789", "alive"]


def test_each_picture_is_one_write_below_which_the_cursor_waits() -> None:
    paper = Paper()
    region = LiveRegion(paper, coloured=True)
    region.draw(lines("a is done"), lines("b is working", "c is working"), COLUMNS)
    assert len(paper.writes) == 1
    assert (paper.screen.cursor.y, paper.screen.cursor.x) == (4, 0)
    assert not paper.screen.cursor.hidden


def test_typed_text_does_not_disturb_the_live_lines() -> None:
    paper = Paper()
    region = LiveRegion(paper, coloured=False)
    region.draw([], lines("a is working"), COLUMNS)
    paper.write("^C")
    region.draw([], lines("a is stopping"), COLUMNS)
    assert paper.rows == ["a is stopping"]
    assert "^C" not in "".join(paper.screen.display)


def test_a_narrower_window_has_wrapped_what_was_drawn() -> None:
    paper = Paper()
    region = LiveRegion(paper, coloured=False)
    region.draw([], lines("12345678901234567", "123"), COLUMNS)
    region.draw([], lines("new"), width=6)
    assert paper.writes[1].startswith("\r\x1b[4A"), "17 cells are three rows of 6, 3 are one"


def test_live_lines_are_coloured_only_if_asked() -> None:
    line: Line = (Span("[a]", Style.AGENT), Span(" plain "), Span("failed", Style.BAD))
    paper = Paper()
    LiveRegion(paper, coloured=True).draw([line], [], COLUMNS)
    cells = paper.screen.buffer[1]
    assert [cells[column].fg for column in (0, 5, 12)] == ["cyan", "default", "red"]
    assert "\x1b[36m[a]\x1b[0m plain \x1b[31mfailed\x1b[0m" in paper.writes[0]
    LiveRegion(paper, coloured=False).draw([line], [], COLUMNS)
    assert "m" not in paper.writes[1]


def test_a_terminal_that_has_gone_is_no_error() -> None:
    class Gone(io.StringIO):
        def write(self, _: str) -> int:
            raise OSError(5, "Input/output error")

    LiveRegion(Gone(), coloured=False).draw([], lines("a"), COLUMNS)
