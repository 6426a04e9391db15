"""Which words are coloured as what."""

from __future__ import annotations

import pytest

from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.semantic_tokens import semantic_tokens
from support.carets import annotate, dedented, source
from support.fixture import open_fixture


def check(fixture: str) -> None:
    """Carets below each word say what it is; `!` means that it is named there."""
    opened = open_fixture(source(fixture))
    marks = [
        (token.range, f"{token.kind.value}{'!' if token.is_declaration else ''}")
        for token in semantic_tokens(opened.file)
    ]
    assert annotate(opened.text, marks) == dedented(fixture)


def test_keys_and_tables_that_count_and_those_that_do_not() -> None:
    check("""
        timeout = 30
        ^^^^^^^ key
        timeuot = 30
        ^^^^^^^ unknown
        [params]
         ^^^^^^ table
        temperature = 1
        ^^^^^^^^^^^ key
        top_kk = 2
        ^^^^^^ unknown
        [parms]
         ^^^^^ unknown
        temperature = 1
        ^^^^^^^^^^^ unknown
    """)


def test_dotted_and_inner_keys() -> None:
    check("""
        sub_agents_config.max_depth = 3
        ^^^^^^^^^^^^^^^^^ key
                          ^^^^^^^^^ key
        memory = { enabled = true, on = 1 }
        ^^^^^^ key
                   ^^^^^^^ key
                                   ^^ unknown
        [params.response_format.kind]
         ^^^^^^ table
                ^^^^^^^^^^^^^^^ table
                                ^^^^ unknown
    """)


def test_keys_that_the_user_may_choose() -> None:
    check("""
        [input.properties.path]
         ^^^^^ table
               ^^^^^^^^^^ table
                          ^^^^ table
        type = "string"
        ^^^^ key
        [[mcp_servers]]
          ^^^^^^^^^^^ table
        headers.Accept = "*/*"
        ^^^^^^^ key
                ^^^^^^ key
        [task.type.test]
         ^^^^ table
              ^^^^ table
                   ^^^^ agent!
    """)


def test_agents() -> None:
    check('''
        name = "parent"
        ^^^^ key
                ^^^^^^ agent!
        sub_agents = ["lint", 'fix', """x"""]
        ^^^^^^^^^^ key
                       ^^^^ agent
                               ^^^ agent
                                        ^ agent
    ''')


def test_models() -> None:
    check("""
        model = "ollama/llama3.1:8b"
        ^^^^^ key
                 ^^^^^^ provider
                        ^^^^^^^^^^^ choice
    """)


def test_tools_words_and_what_only_looks_like_one() -> None:
    check("""
        tools = ["read_file", "bash", "url_*", "frobnicate"]
        ^^^^^ key
                  ^^^^^^^^^ tool
                               ^^^^ tool
                                       ^^^^^ tool
                                                ^^^^^^^^^^ unknown
        description = "tree"
        ^^^^^^^^^^^ key
        [budget]
         ^^^^^^ table
        scope = "tree"
        ^^^^^ key
                 ^^^^ choice
    """)


def test_the_rest_is_left_to_the_grammar() -> None:
    check("""
        # lint
        files = ["*.md"]
        ^^^^^ key
        stream = true
        ^^^^^^ key
        workdir = "lint"
        ^^^^^^^ key
    """)


@pytest.mark.parametrize("value", ['model = ""', 'sub_agents = [""]', 'name = "'])
def test_empty_words_have_no_colour(value: str) -> None:
    opened = open_fixture(value)
    words = [token.range.of(opened.text) for token in semantic_tokens(opened.file)]
    assert words == [value.partition(" ")[0]]


def test_a_part_of_a_file() -> None:
    opened = open_fixture('[params]\ntemperature = 1\n[memory]\npath = "x"\nenabled = true\n')
    near = opened.text.index("path")
    found = semantic_tokens(opened.file, TextRange(near, near + 4))
    assert [token.range.of(opened.text) for token in found] == ["path"]
