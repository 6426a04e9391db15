"""What a growing selection takes in."""

from __future__ import annotations

import pytest

from axe_lsp.features.selection_range import selections
from support.carets import dedented
from support.fixture import open_fixture


def grown(fixture: str) -> list[str]:
    """Return what is selected step by step, from the cursor on; the last step, the file, is left out."""
    opened = open_fixture(fixture)
    *steps, file = selections(opened.file, opened.offset)
    assert file.of(opened.text) == opened.text
    return [step.of(opened.text) for step in steps]


def test_a_word_in_an_array_in_a_table() -> None:
    fixture = '[tool_policy]\nallow = ["read_file", "run_<|>command"]\n\n[memory]\n'
    assert grown(fixture) == [
        "run_command",
        '"run_command"',
        '"read_file", "run_command"',
        '["read_file", "run_command"]',
        'allow = ["read_file", "run_command"]',
        '[tool_policy]\nallow = ["read_file", "run_command"]',
    ]


def test_a_word_in_a_prompt_grows_by_line_and_paragraph() -> None:
    text = dedented('''
        system_prompt = """
        You review.
        Be bri<|>ef, please.

        Thanks."""
    ''')
    assert grown(text) == [
        "brief",
        "Be brief, please.",
        "You review.\nBe brief, please.",
        "\nYou review.\nBe brief, please.\n\nThanks.",
        '"""\nYou review.\nBe brief, please.\n\nThanks."""',
        text.replace("<|>", "").rstrip(),
    ]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_paragraphs_end_at_blank_lines(line_end: str) -> None:
    fixture = line_end.join(['p = """a', "b<|>", "", 'c"""'])
    assert grown(fixture)[:3] == ["b", f"a{line_end}b", f"a{line_end}b{line_end * 2}c"]


def test_the_parts_of_a_model() -> None:
    assert grown('a = 1\nmodel = "anthropic/cla<|>ude-5"') == [
        "claude",
        "anthropic/claude-5",
        '"anthropic/claude-5"',
        'model = "anthropic/claude-5"',
    ]


def test_a_dotted_key() -> None:
    assert grown("a = 1\nsub-agents<|>.max = 2") == [
        "agents",
        "sub-agents",
        "sub-agents.max",
        "sub-agents.max = 2",
    ]


def test_a_header_and_the_tables_around() -> None:
    assert grown("a = 1\n[params]\nb = 2\n[params.resp<|>onse_format]\nc = 3\n") == [
        "response_format",
        "params.response_format",
        "[params.response_format]",
        "[params.response_format]\nc = 3",
        "[params]\nb = 2\n[params.response_format]\nc = 3",
    ]


def test_an_inline_table() -> None:
    assert grown('a = 1\nmemory = { enabled = tr<|>ue, path = "x" }') == [
        "true",
        "enabled = true",
        ' enabled = true, path = "x" ',
        '{ enabled = true, path = "x" }',
        'memory = { enabled = true, path = "x" }',
    ]


def test_a_comment() -> None:
    assert grown("c = 3\n[t]\na = 1  # what fo<|>r?\nb = 2") == [
        "for",
        "# what for?",
        "[t]\na = 1  # what for?\nb = 2",
    ]


def test_behind_astral_characters() -> None:
    assert grown('x = 1\nd = "😀 é<|>t"') == ["ét", "😀 ét", '"😀 ét"', 'd = "😀 ét"']


@pytest.mark.parametrize("fixture", ["<|>", "a = 1\n<|>\n[t]\n", "a = 1\n\n<|>"])
def test_between_statements_there_is_only_the_file(fixture: str) -> None:
    assert grown(fixture) == []


def test_half_typed() -> None:
    assert grown('a = 1\nfiles = ["a", "b<|>\n') == [
        "b",
        '"b',
        '"a", "b',
        '["a", "b',
        'files = ["a", "b',
    ]
    assert grown("a = 1\n[para<|>") == ["para", "[para"]
