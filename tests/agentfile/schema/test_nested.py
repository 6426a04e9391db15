"""A value in one piece, however it is written."""

from __future__ import annotations

from typing import Any

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.nested import Node, nested
from axe_lsp.agentfile.text.parse import Parse


def plain(node: Node | None) -> Any:
    if node is None:
        return None
    if node.members is not None:
        return {name: plain(each) for name, each in node.members.items()}
    return [plain(each) for each in node.items] if node.items is not None else node.value


@pytest.mark.parametrize(
    "text",
    [
        "s = { a.b = 1, c = [1, { d = 2 }] }",
        "s.a.b = 1\ns.c = 'x'",
        "[s]\na = 1\n[s.b.c]\nd = 2\n[other]\nx = 1\n[s.b]\ne.f = 3",
        "[[s.list]]\na = 1\n[[s.list]]\n[s.list.b]\nc = 2\n[[s.list.d]]\ne = 3",
        "[s]\n'quoted key'.\"x\" = 1\n",
        "[other]\ns = 1",
    ],
)
def test_the_value_is_what_tomli_reads(text: str) -> None:
    assert plain(nested(Lookup(Parse(text)), ("s",))) == tomli.loads(text).get("s")


def test_a_path_into_an_inline_table() -> None:
    lookup = Lookup(Parse("p = { q = { r = [1] } }"))
    assert plain(nested(lookup, ("p", "q"))) == {"r": [1]}


def test_ranges_are_of_the_value_or_of_the_name_of_a_table() -> None:
    text = "[s.a]\nb = [10]\n"
    table = nested(Lookup(Parse(text)), ("s", "a"))
    assert table is not None
    assert table.range.of(text) == "a"
    assert table.members is not None
    array = table.members["b"]
    assert array.range.of(text) == "[10]"
    assert array.items is not None
    assert array.items[0].range.of(text) == "10"


def test_half_typed_entry_is_left_out() -> None:
    assert plain(nested(Lookup(Parse("[s]\na = \nb = [1\n[s.c")), ("s",))) == {}


PIECES = st.sampled_from(["[s", "]", "[[s.a]]", "s.a = ", "{", "}", "a.b = 1", "\n", ",", "'"])


@given(st.lists(PIECES, max_size=20).map("".join))
def test_any_text_is_parsed_without_an_exception(text: str) -> None:
    nested(Lookup(Parse(text)), ("s",))
