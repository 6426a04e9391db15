"""Long lines of an answer on a terminal: they end between words, whatever the pieces are."""

from __future__ import annotations

import pyte
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from axe_lsp.cli.markdown import MarkdownStream
from axe_lsp.cli.text_width import cells
from support.command_line import COMMAND, Home
from support.engines import agent
from support.scripted_provider import Says, ScriptedProvider
from support.terminal import Terminal

COLUMNS = 24


def rows(text: str, pieces: int, *, columns: int = COLUMNS, wraps: bool = True) -> list[str]:
    """Return the rows of a terminal to which a text was written in pieces; no wide character has lost its second half."""
    screen = pyte.Screen(columns, 60)
    terminal = pyte.Stream(screen)
    stream = MarkdownStream(lambda: columns, wraps=wraps)
    for start in range(0, len(text), pieces):
        terminal.feed(stream.feed(text[start : start + pieces]).replace("\n", "\r\n"))
    terminal.feed(stream.end().replace("\n", "\r\n"))
    for row in screen.buffer.values() if wraps else ():
        assert all(row[at + 1].data == "" for at in range(columns) if cells(row[at].data) == 2)
    return [row.rstrip() for row in "\n".join(screen.display).rstrip().split("\n")]


CASES = {
    "Once upon a time there was a programmer.": ["Once upon a time there", "was a programmer."],
    "a b c d e f g h i j k ll mm": ["a b c d e f g h i j k ll", "mm"],
    "Two lines,\nof which none is too long.": ["Two lines,", "of which none is too", "long."],
    "See https://example.org/a/long/path/of/it now": [
        "See",
        "https://example.org/a/lo",
        "ng/path/of/it now",
    ],
    "- an item that is longer than a line": ["• an item that is longer", "  than a line"],
    "12. an item that is longer": ["12. an item that is", "    longer"],
    "> - quoted, and longer than this": ["│ • quoted, and longer", "│   than this"],
    "  indented, and longer than it": ["  indented, and longer", "  than it"],
    "It is **bold, and too long** here": ["It is bold, and too long", "here"],
    "It is known as `a_long_name`, so": ["It is known as", "a_long_name, so"],
    "```\nx = 'code stays as it is written'\n```\nso": [
        "```",
        "x = 'code stays as it is",
        " written'",
        "```",
        "so",
    ],
    "日本語の文章は単語の間に空白がありません。": [
        "日本語の文章は単語の間に",
        "空白がありません。",
    ],
    "日本語日本語日本語日foobar": ["日本語日本語日本語日", "foobar"],
    "日本語日本語日本語日本語が": ["日本語日本語日本語日本語", "が"],
    "a\tb\tccccccc dddd e": ["a       b       ccccccc", "dddd e"],
    "a\tb\tcccccccdddd": ["a       b", "cccccccdddd"],
    "a \t b\tccccccccccc": ["a        b", "ccccccccccc"],
    "\ta tab at the beginning": ["        a tab at the", "        beginning"],
    "a tab\t**before bold text**": ["a tab   before bold text"],
    "a bold **word**\tand a tab": ["a bold word     and a", "tab"],
}


@pytest.mark.parametrize(("text", "expected"), CASES.items())
@pytest.mark.parametrize("pieces", [1, 2, 5, 1000])
def test_a_long_line_ends_between_words(text: str, expected: list[str], pieces: int) -> None:
    assert rows(text, pieces) == expected


WORDS = st.text("ab*`_é日 .\n\t->1#", max_size=120)
WIDTHS = st.integers(20, 33)


@given(WORDS, st.integers(1, 9), WIDTHS)
@example("12. aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa aaaaa", 1, COLUMNS)
@example("日日日日日日日日foobar", 1, 20)
@example("#  1", 1, COLUMNS)
@example("\t\t\t1", 1, 20)
@example("\t\t11>é1", 1, 20)
def test_the_pieces_of_a_long_line_do_not_matter(text: str, pieces: int, columns: int) -> None:
    assert rows(text, pieces, columns=columns) == rows(text, 1000, columns=columns)


@given(WORDS, WIDTHS)
@example("a\tb\tccccccccccc dddddddd ee", 20)
def test_no_character_of_a_long_line_is_lost(text: str, columns: int) -> None:
    def characters(found: list[str]) -> str:
        return "".join("".join(found).replace("│", "").split())

    plain = rows(text, 3, columns=1000, wraps=False)  # A tab stays within its line.
    assert characters(rows(text, 3, columns=columns)) == characters(plain)


@given(
    st.lists(st.sampled_from(["a", "bc", "日", "defghi", "日本", "\t", " "]), max_size=60), WIDTHS
)
def test_no_row_of_one_long_line_is_empty(parts: list[str], columns: int) -> None:
    shown = rows("x" + "".join(parts), 2, columns=columns)
    assert all(shown)


def test_a_style_goes_on_in_the_next_line_but_not_at_its_beginning() -> None:
    stream = MarkdownStream(lambda: COLUMNS, wraps=True)
    shown = stream.feed("- a **bold text that is longer** than a line\n")
    bold = "\x1b[0m\x1b[1m"
    assert shown == f"• a {bold}bold text that is\x1b[0m\n  \x1b[1mlonger\x1b[0m than a line\n"


def test_a_word_is_shown_as_soon_as_it_begins() -> None:
    stream = MarkdownStream(lambda: COLUMNS, wraps=True)
    assert stream.feed("Once upon a time there w") == "Once upon a time there w"
    assert stream.feed("as") == "\x1b[1D\x1b[K\nwas"
    stream = MarkdownStream(lambda: COLUMNS, wraps=True)
    assert stream.feed("日本語日本語日本語日本go") == "日本語日本語日本語日本go"
    assert stream.feed("ne") == "\x1b[2D\x1b[C\x1b[K\ngone"


@pytest.mark.process
def test_an_answer_is_wrapped_on_a_terminal_and_nowhere_else(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("solo"))
    answer = "A line that is much longer than the terminal is wide, and that ends between words."
    provider.script("m-solo", *[Says(answer)] * 3)
    command = [*COMMAND, "run", "solo", "-p", "go"]
    with Terminal(command, home.environment, home.work, columns=30) as terminal:
        _, screen = terminal.end()
    assert screen[-3:] == [
        "A line that is much longer",
        "than the terminal is wide, and",
        "that ends between words.",
    ]
    assert home.call("run", "solo", "-p", "go")[1] == answer
    home.environment["FORCE_COLOR"] = "1"
    assert home.call("run", "solo", "-p", "go")[1] == answer
