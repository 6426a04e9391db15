"""What changes of a text leave alone. `<|>` is in the part that is removed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.agentfile.text import splices
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.splices import Splice, spliced
from axe_lsp.agentfile.text.tree import Entry, Table, Value

CURSOR = "<|>"


def read(fixture: str) -> tuple[Parse, int]:
    return Parse(fixture.replace(CURSOR, "")), fixture.index(CURSOR)


def entry_at(table: Table, offset: int) -> Entry:
    return next(each for each in table.entries if each.range.touches(offset))


def without_part_at_cursor(fixture: str) -> str:
    parse, offset = read(fixture)
    whole = entry_at(parse.document.tables[0], offset).value
    assert whole is not None
    parts: Sequence[Value | Entry] = [*whole.items, *whole.entries]
    part = next(each for each in parts if each.range.touches(offset))
    return spliced(parse.text, [splices.without_part(parse.text, whole, part)])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('a = ["x<|>", "y", "z"]', 'a = ["y", "z"]'),
        ('a = ["x", "y<|>", "z"]', 'a = ["x", "z"]'),
        ('a = ["x", "y", "z<|>"]', 'a = ["x", "y"]'),
        ('a = ["x", "y<|>",]', 'a = ["x",]'),
        ('a = ["x<|>"]', "a = []"),
        ('a = [ "x<|>", ]', "a = []"),
        ('a = [\n  "x<|>",\n  "y",\n]', 'a = [\n  "y",\n]'),
        ('a = [\n  "x",\n  "y<|>",\n]', 'a = [\n  "x",\n]'),
        ('a = [\n  "x",\n  "y<|>"\n]', 'a = [\n  "x"\n]'),
        ('a = [\n  "x<|>"\n]', "a = [\n]"),
        ('a = [\r\n  "x",\r\n  "y<|>",\r\n]\r\n', 'a = [\r\n  "x",\r\n]\r\n'),
        ('a = [\r\n\t"x<|>",\r\n\t"y"\r\n]', 'a = [\r\n\t"y"\r\n]'),
        ('a = ["x",\n     "y<|>",\n     "z"]', 'a = ["x",\n     "z"]'),
        ('a = ["x",\n     "y",\n     "z<|>"]', 'a = ["x",\n     "y"]'),
        ('a = ["x<|>",\n     "y"]', 'a = [\n     "y"]'),
        ('a = ["x", "y<|>",\n     "z"]', 'a = ["x",\n     "z"]'),
        ('a = [\n  "x", "y<|>", # both\n]', 'a = [\n  "x", # both\n]'),
        ('a = [\n  "x", # one\n  "y<|>", # two\n]', 'a = [\n  "x", # one\n]'),
        ('a = [\n  "x", # one\n  "y<|>" # two\n]', 'a = [\n  "x", # one\n]'),
        ('a = [\n  "x<|>" # one\n  , "y"\n]', 'a = [\n  "y"\n]'),
        ('a = [\n  "x"\n  , "y<|>"\n]', 'a = [\n  "x"\n]'),
        ('a = ["x", # one\n  "y<|>"]', 'a = ["x", # one\n  ]'),
        ('a = [ # list\n  "x<|>",\n]', "a = [ # list\n]"),
        ("a = ['x, <|>y', \"#z\"]", 'a = ["#z"]'),
        ('a = ["😀<|>", "y"] # 😀', 'a = ["y"] # 😀'),
        ('a = ["x", "y<|>"', 'a = ["x"'),
        ("a = { b = 1<|>, c = 2 }", "a = { c = 2 }"),
        ("a = { b = 1, c<|> = 2 }", "a = { b = 1 }"),
        ("a = { b = 1<|> }", "a = {}"),
    ],
)
def test_removed_element_leaves_the_others_in_place(before: str, after: str) -> None:
    assert without_part_at_cursor(before) == after


@st.composite
def arrays(draw: st.DrawFn) -> str:
    """Arrays of strings, with blanks, line breaks and comments wherever they may stand."""
    new = draw(st.sampled_from(["\n", "\r\n"]))
    gap = st.lists(st.sampled_from([" ", "\t", new, f"# c,]{new}"]), max_size=3).map("".join)
    names = draw(st.lists(st.sampled_from(['"a"', "'b,'", '"#"', '"]"']), min_size=1, max_size=5))
    pieces = ["["]
    for number, name in enumerate(names):
        is_last = number == len(names) - 1
        comma = "" if is_last and draw(st.booleans()) else ","
        pieces += [draw(gap), name, draw(gap), comma]
    return "".join(["key = ", *pieces, draw(gap), f"]{new}after = 1{new}"])


@given(arrays(), st.data())
def test_removal_of_an_item_keeps_all_others_in_any_layout(text: str, data: st.DataObject) -> None:
    parse = Parse(text)
    array = parse.document.tables[0].entries[0].value
    assert array is not None
    index = data.draw(st.integers(0, len(array.items) - 1))
    values = tomli.loads(text)
    del values["key"][index]
    result = spliced(text, [splices.without_part(text, array, array.items[index])])
    assert tomli.loads(result) == values


def test_removed_entry_takes_its_comment_and_line() -> None:
    parse, offset = read("a = 1\nb = [<|>\n  1,\n] # note\n# next\nc = 2\n")
    entry = entry_at(parse.document.tables[0], offset)
    result = spliced(parse.text, [splices.without_entry(parse.text, entry)])
    assert result == "a = 1\n# next\nc = 2\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = 1\n\n[t<|>]\nb = 2 # x\n\n[u]\n", "a = 1\n\n[u]\n"),
        ("a = 1\n\n[t<|>]\nb = 2\n\n# about u\n[u]\n", "a = 1\n\n# about u\n[u]\n"),
        ("a = 1\n\n[t<|>]\n# b\nb = 2", "a = 1\n"),
        ("a = 1\r\n\r\n[t<|>]\r\nb = 2\r\n", "a = 1\r\n"),
        ("[t<|>]\nb = 2\n", ""),
        ("[t<|>]\n[t.u]\nb = 2\n", "[t.u]\nb = 2\n"),
        ("\ufeff[t<|>]\n[u]\n", "\ufeff[u]\n"),
        ("\ufeff[t<|>]\nb = 2\n", "\ufeff"),
    ],
)
def test_removed_table_takes_only_its_own_lines(before: str, after: str) -> None:
    parse, offset = read(before)
    table = next(each for each in parse.document.tables[1:] if each.range.touches(offset))
    assert spliced(parse.text, splices.without_tables(parse, [table])) == after


def test_adjacent_tables_are_removed_together() -> None:
    parse = Parse("a = 1\n\n[t]\nb = 2\n\n[t.u]\nc = 3\n")
    (removal,) = splices.without_tables(parse, parse.document.tables[1:])
    assert spliced(parse.text, [removal]) == "a = 1\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = []", 'a = ["n"]'),
        ('a = ["x"]', 'a = ["x", "n"]'),
        ('a = ["x", "y",]', 'a = ["x", "y", "n",]'),
        ('a = [\n  "x",\n  "y", # two\n]', 'a = [\n  "x",\n  "y",\n  "n", # two\n]'),
        ('a = [\r\n\t"x"\r\n]', 'a = [\r\n\t"x",\r\n\t"n"\r\n]'),
        ('a = [ # list\n  "x", "y"\n]', 'a = [ # list\n  "x", "y", "n"\n]'),
        ("a = [ # empty\n]", 'a = ["n" # empty\n]'),
    ],
)
def test_appended_item_has_the_layout_of_the_last_one(before: str, after: str) -> None:
    array = Parse(before).document.tables[0].entries[0].value
    assert array is not None
    assert spliced(before, [splices.with_item(before, array, '"n"')]) == after


@given(arrays())
def test_appended_item_comes_last_in_any_layout(text: str) -> None:
    array = Parse(text).document.tables[0].entries[0].value
    assert array is not None
    values = tomli.loads(text)
    values["key"].append("n")
    assert tomli.loads(spliced(text, [splices.with_item(text, array, '"n"')])) == values


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = 1 # x\n\n[t]\n", "a = 1 # x\nk = 0\n\n[t]\n"),
        ("a = [\n  1,\n]", "a = [\n  1,\n]\nk = 0"),
        ("# head\n", "# head\nk = 0\n"),
        ("", "k = 0\n"),
        ("# head\n\n[t]\nb = 1\n", "# head\n\nk = 0\n\n[t]\nb = 1\n"),
    ],
)
def test_added_top_level_key_goes_before_the_first_table(before: str, after: str) -> None:
    assert with_line(before, (), "k = 0") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[t]\nb = 1 # x\n\n[u]\n", "[t]\nb = 1 # x\nk = 0\n\n[u]\n"),
        ("[t] # x\n[u]\n", "[t] # x\nk = 0\n[u]\n"),
        ("a = 1\n", "a = 1\n\n[t]\nk = 0\n"),
        ("a = 1\r\n", "a = 1\r\n\r\n[t]\r\nk = 0\r\n"),
        ("a = 1", "a = 1\n\n[t]\nk = 0\n"),
        ("", "[t]\nk = 0\n"),
    ],
)
def test_added_table_key_goes_below_its_header(before: str, after: str) -> None:
    assert with_line(before, ("t",), "k = 0") == after


@pytest.mark.parametrize("text", ["t = { a = 1 }", "t.a = 1", "[[t]]\na = 1"])
def test_table_without_a_header_gets_no_added_key(text: str) -> None:
    assert splices.with_line(Parse(text), ("t",), "k = 0") is None


def with_line(before: str, table: tuple[str, ...], line: str) -> str:
    splice = splices.with_line(Parse(before), table, line)
    assert splice is not None
    return spliced(before, [splice])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# head\n\na = 1\n", "# head\n\nk = 0\na = 1\n"),
        ("\ufeffa = 1\r\n", "\ufeffk = 0\r\na = 1\r\n"),
        ("# head\n[t]\n", "# head\nk = 0\n\n[t]\n"),
        ("# head", "# head\nk = 0\n"),
        ("", "k = 0\n"),
    ],
)
def test_first_added_line_goes_below_the_leading_comments(before: str, after: str) -> None:
    assert spliced(before, [splices.first_line(Parse(before), "k = 0")]) == after


@pytest.mark.parametrize("content", ['a"b', "a\\b", "\x7f\x00\t\n", "😀", "it's", "plain"])
@pytest.mark.parametrize("token", ['"x"', "'x'", "'''x'''", '"""x"""'])
def test_string_is_quoted_so_that_it_keeps_its_value(token: str, content: str) -> None:
    written = splices.requoted(token, content)
    assert tomli.loads(f"k = {written}") == {"k": content}
    is_literal = token[0] == "'" and content in ('a"b', "a\\b", "😀", "plain")
    assert written.startswith("'") == is_literal
    if token[0] == '"' or is_literal:
        assert written.startswith(token.partition("x")[0])


def test_arrays_change_between_one_line_and_many() -> None:
    one, many = 'a = ["x", "y"]\r\n', 'a = [\r\n  "x",\r\n  "y",\r\n]\r\n'
    for before, after, change in (
        (one, many, splices.on_many_lines),
        (many, one, splices.on_one_line),
    ):
        array = Parse(before).document.tables[0].entries[0].value
        assert array is not None
        assert spliced(before, [change(before, array)]) == after


def test_splices_apply_in_any_order() -> None:
    first, last = Splice(TextRange(0, 1), "xyz"), Splice(TextRange(2, 3), "")
    assert spliced("abc", [first, last]) == spliced("abc", [last, first]) == "xyzb"


@pytest.mark.parametrize(
    ("text", "comment"),
    [
        ("# a\n\n# b\r\n  # c\n[t<|>]", "# b\r\n  # c\n"),
        ("a = 1 # a\n[t<|>]", ""),
        ('a = """\n# a\n"""\n[t<|>]', ""),
        ("\ufeff# a\n[t<|>]", "# a\n"),
        ("[t<|>]", ""),
    ],
)
def test_comment_of_an_entry_is_directly_above_it(text: str, comment: str) -> None:
    parse, offset = read(text)
    assert splices.comment_above(parse, offset).of(parse.text) == comment
