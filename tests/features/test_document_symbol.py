"""The outline: every table and key, and what they are set to in short."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from axe_lsp.features.document_symbol import Symbol, document_symbols
from support.carets import dedented
from support.fixture import open_fixture


def outline(text: str) -> list[str]:
    """Return a line for each symbol, indented like the tree: name, kind, detail."""
    return [
        f"{'  ' * depth}{symbol.name}: {symbol.kind.value} {symbol.detail}".rstrip()
        for depth, symbol in _walk(document_symbols(open_fixture(text).file))
    ]


def _walk(symbols: tuple[Symbol, ...], depth: int = 0) -> Iterator[tuple[int, Symbol]]:
    for symbol in symbols:
        yield depth, symbol
        yield from _walk(symbol.children, depth + 1)


def check(text: str, expected: str) -> None:
    assert "\n".join(outline(text)) == dedented(expected).rstrip()


def test_keys_and_tables_with_their_values() -> None:
    check(
        """
        name = "parent"
        timeout = 30
        stream = true
        [sub_agents_config]
        max_depth = 3
        """,
        """
        name: string parent
        timeout: number 30
        stream: boolean true
        sub_agents_config: table
          max_depth: number 3
        """,
    )


def test_a_prompt_shows_its_first_line_that_says_something() -> None:
    check(
        'system_prompt = """\n\n  You review code.  \nBe brief.\n"""',
        "system_prompt: string You review code.",
    )


def test_an_array_shows_its_elements_as_long_as_there_is_room() -> None:
    many = ", ".join(f'"an-agent-with-a-long-name-{number}"' for number in range(3))
    check(
        f'sub_agents = ["lint", "fix"]\nfiles = [{many}]',
        """
        sub_agents: array lint, fix
          lint: string
          fix: string
        files: array 3 items
          an-agent-with-a-long-name-0: string
          an-agent-with-a-long-name-1: string
          an-agent-with-a-long-name-2: string
        """,
    )


def test_elements_without_words_have_their_number() -> None:
    check(
        'x = [[1], "", 2]',
        """
        x: array 1, …, 2
          [0]: array 1
            [0]: number 1
          [1]: string
          [2]: number 2
        """,
    )


def test_inline_tables_hold_their_keys() -> None:
    check(
        'memory = { enabled = true, path = "m.md" }',
        """
        memory: table
          enabled: boolean true
          path: string m.md
        """,
    )


def test_arrays_of_tables_are_counted_and_tell_their_first_value() -> None:
    check(
        """
        [[mcp_servers]]
        name = "one"
        [mcp_servers.headers]
        Accept = "*/*"
        [[mcp_servers]]
        name = "two"
        """,
        """
        mcp_servers[0]: table one
          name: string one
          headers: table
            Accept: string */*
        mcp_servers[1]: table two
          name: string two
        """,
    )


def test_arrays_in_elements_of_arrays_are_counted_anew() -> None:
    check(
        "[[a]]\n[[a.b]]\n[[a.b]]\n[[a]]\n[[a.b]]\n[c]\n[[a.b]]",
        """
        a[0]: table
          b[0]: table
          b[1]: table
        a[1]: table
          b[0]: table
        c: table
        a.b[1]: table
        """,
    )


def test_a_table_belongs_to_the_one_above_only_without_another_in_between() -> None:
    check(
        "[params]\n[params.response_format]\n[memory]\n[params.response_format.schema]",
        """
        params: table
          response_format: table
        memory: table
        params.response_format.schema: table
        """,
    )


def test_dotted_and_quoted_keys_as_they_are_written() -> None:
    check(
        'sub_agents_config . max_depth = 3\n"" = 1\n["a b" . c]\n["a b".c.\'d\']',
        """
        sub_agents_config . max_depth: number 3
        "": number 1
        "a b" . c: table
          'd': table
        """,
    )


def test_half_typed_lines_have_names_too() -> None:
    check(
        'name = "par\ntimeout =\nmodel\n= 3\n[[\nx = 1\n[',
        """
        name: string par
        timeout: key
        model: key
        [[: table 1
          x: number 1
        [: table
        """,
    )


def test_long_values_are_cut() -> None:
    (line,) = outline(f'description = "{"word " * 30}"')
    assert line.startswith("description: string word word")
    assert line.endswith("word…")
    assert len(line) < 90


def test_of_a_very_long_array_not_every_element_is_a_line() -> None:
    lines = outline(f"x = [{'1, ' * 5000}]")
    assert lines[0] == "x: array 5000 items"
    assert len(lines) == 101


def test_ranges_cover_all_that_belongs_to_a_symbol() -> None:
    opened = open_fixture('a = 1 # c\n[t] # d\nb = [\n 2\n]\n[t.u]\nc = "😀"\n# e\n[v]\n')
    found = {each.name: each for _, each in _walk(document_symbols(opened.file))}
    assert found["a"].range.of(opened.text) == "a = 1"
    assert found["t"].range.of(opened.text) == '[t] # d\nb = [\n 2\n]\n[t.u]\nc = "😀"'
    assert found["t"].selection.of(opened.text) == "t"
    assert found["u"].selection.of(opened.text) == "t.u"
    assert found["v"].range.of(opened.text) == "[v]"


@pytest.mark.parametrize("nested", ["[" + ".".join("a" * 500) + "]", "x = " + "[" * 99 + "]" * 99])
def test_what_is_nested_deep_is_shown_flat_in_the_end(nested: str) -> None:
    headers = "\n".join(f"[{'.'.join('a' * depth)}]" for depth in range(1, 200))
    symbols = document_symbols(open_fixture(f"{nested}\n{headers}").file)
    assert max(depth for depth, _ in _walk(symbols)) <= 17
