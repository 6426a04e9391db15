"""Markdown on a terminal: styled as it streams, whatever the pieces are."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from axe_lsp.cli.markdown import MarkdownStream
from support.command_line import COMMAND, Home
from support.engines import agent
from support.scripted_provider import Call, Says, ScriptedProvider
from support.terminal import Terminal

NAMES = {"1": "b", "2": "d", "3": "i", "4": "u", "9": "s", "36": "c"}


def shown(text: str, pieces: int = 0, columns: int = 80) -> str:
    """Return the text on a terminal; styles as `<b>`, their end as `<>`."""
    stream = MarkdownStream(lambda: columns)
    parts = [text[i : i + pieces] for i in range(0, len(text), pieces)] if pieces else [text]
    written = "".join(map(stream.feed, parts)) + stream.end()
    tagged = re.sub(r"\x1b\[0m\x1b\[(?!0m)([\d;]+)m", lambda match: _tag(match[1]), written)
    return tagged.replace("\x1b[0m", "<>")


def _tag(parameters: str) -> str:
    return "<" + "".join(NAMES[each] for each in parameters.split(";")) + ">"


TABLE = r"""| file | n | how |
|:--|--:|:-:|
| `a.py` | 12 | **ok** |
| ü\|日本 | 1200 |
| x | 1 | y | left out |
"""

DRAWN = """<b>file<>       <b>n<>  <b>how<>
──────  ────  ───
<c>a.py<>      12  <b>ok<>
ü|日本  1200
x          1   y
"""

CASES = {
    "plain text": "plain text",
    "a **bold** word": "a <b>bold<> word",
    "a __bold__ and *italic* _one_": "a <b>bold<> and <i>italic<> <i>one<>",
    "***both***": "<bi>both<>",
    "**bold *and* so on**": "<b>bold <bi>and<b> so on<>",
    "2 * 3 * 4 and snake_case_name": "2 * 3 * 4 and snake_case_name",
    "**not closed": "<b>not closed<>",
    "**one line\nnext": "<b>one line<>\nnext",
    "call `f(*args)` now": "call <c>f(*args)<> now",
    "``a ` b``": "<c>a ` b<>",
    "a ` alone": "a ` alone",
    r"\*no\* \q": r"*no* \q",
    "# Title": "<bu>Title<>",
    "## Second\ntext": "<b>Second<>\ntext",
    "#hashtag": "#hashtag",
    "- one\n  - two\n* three": "• one\n  • two\n• three",
    "-1 is a number": "-1 is a number",
    "1. first": "1. first",
    "> quoted **bold**\n> - item": "<d>│ <>quoted <b>bold<>\n<d>│ <>• item",
    "---\n": f"<d>{'─' * 40}<>\n",
    "[text](https://x.y/z)": "<u>text<><d> (https://x.y/z)<>",
    "[1] and [a][b] and [x](": "[1] and [a][b] and [x](",
    "```py\nx = '**no**'\n\n# no\n```\nafter": "<d>```py<>\n<c>x = '**no**'\n\n# no\n<d>```<>\nafter",
    "~~~\n```\n~~~\n": "<d>~~~<>\n<c>```\n<d>~~~<>\n",
    "```\nnever closed": "<d>```<>\n<c>never closed<>",
    "~~gone~~ ~/x ~~~": "<s>gone<> ~/x ~~~",
    TABLE: DRAWN,
    f"{TABLE}\nafter": f"{DRAWN}\nafter",
    "| a | b |\n|---|---|\n": "<b>a<>  <b>b<>\n─  ─\n",
    "| no table |\n| **two** |\n": "| no table |\n| <b>two<> |\n",
    "|x| > 0": "|x| > 0",
    "| a |\n|---|---|\n| b |": "| a |\n|---|---|\n| b |",
    "é **ü** 🙂": "é <b>ü<> 🙂",
}


@pytest.mark.parametrize(("text", "expected"), CASES.items())
@pytest.mark.parametrize("pieces", [0, 1, 2, 3])
def test_text_is_styled(text: str, expected: str, pieces: int) -> None:
    assert shown(text, pieces) == expected


@given(st.text("ab \n*_`#->[]()\\~1.|", max_size=60), st.integers(1, 7))
@example("|a\n|-\n |b\n", 1)
def test_pieces_do_not_matter(text: str, pieces: int) -> None:
    assert shown(text, pieces) == shown(text, 0)


@given(
    st.text(st.characters(blacklist_characters="*_`#->[]\\~+|\x1b", blacklist_categories=["Cs"]))
)
def test_text_without_signs_stays_as_it_is(text: str) -> None:
    assert shown(text) == text


def test_text_is_not_held_back() -> None:
    stream = MarkdownStream(lambda: 80)
    assert stream.feed("Once upon a ") == "Once upon a "
    assert stream.feed("time **there") == "time \x1b[0m\x1b[1mthere"
    assert stream.feed(" was") == " was"


def test_a_table_that_does_not_fit_stays_as_it_is() -> None:
    assert shown(TABLE, columns=18) == DRAWN
    styled = TABLE.replace("`a.py`", "<c>a.py<>").replace("**ok**", "<b>ok<>").replace("\\|", "|")
    assert shown(TABLE, columns=16) == styled


def test_a_row_of_a_table_ends_at_a_line_feed_alone() -> None:
    assert shown("| a | b |\n|---|---|\n| x\u2028y | 2 |\n").endswith("x\u2028y  2\n")


def test_a_table_without_end_is_not_held_back_forever() -> None:
    stream = MarkdownStream(lambda: 80)
    rows = ["| a | b |\n", "|---|---|\n", *["| 1 | 2 |\n"] * 5000]
    written = [stream.feed(row) for row in rows]
    assert max(map(len, written)) < 25_000
    assert "".join(written) + stream.end() == "".join(rows)


ANSWER = "# Title\n\nA **bold** word and `code`.\n\n- one\n"


@pytest.fixture
def solo(home: Home, provider: ScriptedProvider) -> Home:
    home.add(agent("solo", tools=["list_directory"]))
    look = Call("list_directory", {"path": "."})
    provider.script("m-solo", Says("**I look.**", [look]), Says(ANSWER))
    return home


@pytest.mark.process
def test_an_answer_on_a_terminal_is_styled(solo: Home) -> None:
    command = [*COMMAND, "run", "solo", "-p", "go", "--stream"]
    with Terminal(command, solo.environment, solo.work) as terminal:
        code, rows = terminal.end()
    assert code == 0
    assert rows[-3:] == ["Title", "A bold word and code.", "• one"]
    assert "I look." in rows
    assert b"\x1b[0m\x1b[1mbold\x1b[0m" in terminal.written


@pytest.mark.process
@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}])
def test_a_terminal_without_styles_gets_the_text_as_it_is(
    solo: Home, environment: dict[str, str]
) -> None:
    command = [*COMMAND, "run", "solo", "-p", "go"]
    with Terminal(command, {**solo.environment, **environment}, solo.work) as terminal:
        _, rows = terminal.end()
    assert rows[-3:] == ["# Title", "A **bold** word and `code`.", "- one"]


@pytest.mark.process
def test_a_pipe_gets_the_text_as_it_is_unless_styles_are_forced(
    solo: Home, provider: ScriptedProvider
) -> None:
    assert solo.call("run", "solo", "-p", "go")[1] == ANSWER
    provider.script("m-solo", Says(ANSWER))
    solo.environment["FORCE_COLOR"] = "1"
    assert "\x1b[0m\x1b[1mbold\x1b[0m" in solo.call("run", "solo", "-p", "go")[1]
