"""Text in the cells of a terminal."""

from __future__ import annotations

import pytest

from axe_lsp.cli.text_width import cells, cut, folded, one_line, shown_cells


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", 5),
        ("日本語", 6),
        ("ｆｕｌｌ", 8),
        ("e\N{COMBINING ACUTE ACCENT}", 1),
        ("😀", 2),
        ("❤\N{VARIATION SELECTOR-16}", 2),
        ("👨\N{ZERO WIDTH JOINER}👩", 4),
        ("\u200bx\u00ad", 2),
        ("", 0),
    ],
)
def test_cells_are_what_the_terminal_gives(text: str, expected: int) -> None:
    assert cells(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("👨\N{ZERO WIDTH JOINER}👩\N{ZERO WIDTH JOINER}👧", 2),
        ("❤\N{VARIATION SELECTOR-16}\N{ZERO WIDTH JOINER}🔥", 2),
        ("👍\N{EMOJI MODIFIER FITZPATRICK TYPE-4}", 2),
        ("🇳🇱", 2),
        ("日本 a", 6),
        ("", 0),
    ],
)
def test_joined_emoji_take_two_cells(text: str, expected: int) -> None:
    assert shown_cells(text) == expected


@pytest.mark.parametrize(
    ("text", "room", "expected"),
    [
        ("explore", 7, "explore"),
        ("explore", 6, "explo…"),
        ("go there", 4, "go…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("explore", 1, "…"),
        ("explore", 0, ""),
        ("explore", -3, ""),
        ("", 0, ""),
    ],
)
def test_shortened_text_fits_and_ends_with_an_ellipsis(text: str, room: int, expected: str) -> None:
    assert cut(text, room) == expected
    assert cells(expected) <= max(0, room)


def test_a_line_is_one_line_and_obeyed_by_no_terminal() -> None:
    assert one_line(" a\tb\r\n  c \N{LINE SEPARATOR} d ") == "a b c d"
    assert one_line("\x1b[31mred\x9b2J \x07\N{RIGHT-TO-LEFT OVERRIDE}end") == "[31mred2J end"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a short line", ["a short line"]),
        ("words that do not fit into one line", ["words that do not", "fit into one line"]),
        ("first\n  an indented line of words", ["first", "  an indented line", "of words"]),
        ("run `axe-lsp check a.toml` to see it.", ["run", "`axe-lsp check a.toml`", "to see it."]),
        (
            "so --allow 'run_command(git status)' helps",
            ["so", "--allow 'run_command(git status)'", "helps"],
        ),
        ("日本語日本 日本語日本 x", ["日本語日本", "日本語日本 x"]),
        ("an-address-without-any-blank-in-it", ["an-address-without-any-blank-in-it"]),
    ],
)
def test_folded_text_is_broken_between_words_and_keeps_commands(
    text: str, lines: list[str]
) -> None:
    assert folded(text, 18).split("\n") == lines
