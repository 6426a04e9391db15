"""What is written twice, or once as one thing and once as another: all of it, in the user's words."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.redefinitions import redefinitions
from axe_lsp.agentfile.text.toml import parse_tree
from support.carets import annotate, dedented, source

CORPUS = json.loads((Path(__file__).parent / "toml_test_corpus.json").read_text("utf-8"))["files"]


def check_clashes(fixture: str) -> None:
    parse = Parse(source(fixture))
    marks = [(problem.range, problem.message) for problem in parse.problems]
    assert annotate(parse.text, marks) == dedented(fixture)


def test_all_repeated_keys_and_tables_are_reported() -> None:
    check_clashes("""
        name = "a"
        name = "b"
        ^^^^ the key `name` is already set above
        name = "c"
        ^^^^ the key `name` is already set above
        [params]
        [memory]
        [params]
         ^^^^^^ the table `params` is already defined above
        [memory]
         ^^^^^^ the table `memory` is already defined above
    """)


def test_key_that_is_value_and_table_is_reported() -> None:
    check_clashes("""
        memory = true
        memory.enabled = true
        ^^^^^^^^^^^^^^ `memory` already has a value above, so it can't be a table
        [memory]
         ^^^^^^ `memory` already has a value above, so it can't be a table
        [a.b]
        [a]
        b = 1
        ^ `b` is already a table above, so it can't have a value
    """)


def test_table_with_header_and_dotted_keys_is_reported() -> None:
    check_clashes("""
        params = { temperature = 1 }
        params.max_tokens = 3
        ^^^^^^^^^^^^^^^^^ the table `params` is already written in braces above, \
and can't grow outside of them
        memory.enabled = true
        [memory]
         ^^^^^^ the table `memory` is already begun above, by a key like `memory.enabled`
        [a.b.c]
        [a]
        b.d = 1
        ^^^ the table `b` already has a header above; its keys belong below that
    """)


def test_name_of_table_and_array_of_tables_is_reported() -> None:
    check_clashes("""
        servers = [{ name = "a" }]
        [[servers]]
          ^^^^^^^ `servers` is already written in brackets above; further tables belong in there
        [one]
        [[one]]
          ^^^ `one` is already a table above, so it can't be an array of tables
        [[many]]
        [many]
         ^^^^ `many` is already an array of tables above: each one begins with `[[many]]`
    """)


def test_clashes_are_reported_beside_other_mistakes_but_never_with_what_is_half_typed() -> None:
    check_clashes("""
        name =
             ^ expected a value
        name = "a"
        model = "x
                ^^ the string is not closed: expected `"`
        model = "y"
        name = "b"
        ^^^^ the key `name` is already set above
    """)


def is_clash(text: str) -> bool | None:
    """Return what tomli thinks of it; None if it stumbles over something else first."""
    try:
        tomli.loads(text.removeprefix("\ufeff"))
    except tomli.TOMLDecodeError as error:
        return True if error.msg.startswith(("Cannot", "Duplicate")) else None
    return False


def corpus_texts() -> list[tuple[str, str]]:
    decoded = ((name, base64.b64decode(each)) for name, each in CORPUS.items())
    return [(name, raw.decode("utf-8", "replace")) for name, raw in decoded]


def test_the_corpus_clashes_exactly_where_tomli_says_so() -> None:
    judged = [(name, text, is_clash(text)) for name, text in corpus_texts()]
    assert sum(clash is True for *_, clash in judged) > 50
    for name, text, clash in judged:
        if clash is not None:
            assert bool(list(redefinitions(parse_tree(text)[0]))) == clash, name


NAMES = st.sampled_from(["a", "b", "c", "a.b", "b.a", "a.b.c", "b.c"])
LINES = st.one_of(
    NAMES.map("[{}]".format),
    NAMES.map("[[{}]]".format),
    NAMES.map("{} = 1".format),
    NAMES.map("{} = [1]".format),
    st.tuples(NAMES, NAMES, NAMES).map(lambda each: "{} = {{ {} = 1, {} = 2 }}".format(*each)),
)


@given(st.lists(LINES, max_size=8).map("\n".join))
def test_whatever_clashes_for_tomli_clashes_here_and_nothing_else(text: str) -> None:
    assert bool(list(redefinitions(parse_tree(text)[0]))) == is_clash(text)


@pytest.mark.parametrize("text", ["[[a]]\n[a.b]\n[[a]]\n[a.b]", "[a.b]\n[a]\n[a.c]"])
def test_tables_of_different_parents_do_not_clash(text: str) -> None:
    assert not list(redefinitions(parse_tree(text)[0]))
