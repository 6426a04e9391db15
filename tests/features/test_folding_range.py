"""What can be folded, line by line."""

from __future__ import annotations

from axe_lsp.features.folding_range import folding
from support.carets import dedented
from support.fixture import open_fixture


def folds(text: str) -> list[str]:
    """First and last line of each fold, from 1, in the order of the text."""
    found = folding(open_fixture(text).file)
    return [
        f"{each.first_line + 1}-{each.last_line + 1}{' comment' if each.is_comment else ''}"
        for each in sorted(found, key=lambda each: each.range)
    ]


def test_a_table_folds_to_its_last_entry() -> None:
    assert folds("a = 1\n[t]\nb = 2\nc = 3\n\n# about u\n[u]\nd = 4\n") == ["2-4", "7-8"]


def test_a_table_holds_the_tables_right_below_it() -> None:
    assert folds("[t]\nb = 2\n[t.u]\nc = 3\n[v]\n") == ["1-4", "3-4"]


def test_a_bracket_on_a_line_of_its_own_stays_to_be_seen() -> None:
    assert folds('files = [\n  "a",\n  "b",\n]\n') == ["1-3"]
    assert folds('files = ["a",\n  "b"]\n') == ["1-2"]
    assert folds('files = [\n  "a"]\n') == ["1-2"]


def test_quotes_on_a_line_of_their_own_stay_to_be_seen() -> None:
    assert folds('p = """\nYou\nreview.\n"""\n') == ["1-3"]
    assert folds("p = '''\nYou\nreview.'''\n") == ["1-3"]
    assert folds('p = """\nYou\nreview.\n""""\n') == ["1-4"]


def test_what_is_nested_folds_too() -> None:
    text = dedented("""
        x = [
          [
            1,
          ],
          {
            a = 2
          }
        ]
    """)
    assert folds(text) == ["1-7", "2-3", "5-6"]


def test_comments_below_each_other_are_a_block() -> None:
    text = "# a\n# b\n\n# alone\nx = 1 # c\n# d\n# e\ny = [\n  # f\n  # g\n]\n"
    assert folds(text) == ["1-2 comment", "6-7 comment", "8-10", "9-10 comment"]


def test_an_open_end_folds_to_where_it_ends() -> None:
    assert folds('p = """\nYou\nreview.') == ["1-3"]
    assert folds("x = [\n  1,\n\ny = 2") == ["1-2"]


def test_line_ends_of_every_kind() -> None:
    assert folds('p = """\r\nYou\r\nreview.\r\n"""\r\n[t]\r\na = 1\r\n') == ["1-3", "5-6"]


def test_lines_that_hold_all_of_something_do_not_fold() -> None:
    assert folds("x = [1, 2]\ny = { a = 1 }\n[t]\n[u] # c\n# d\n") == []


def test_columns_for_editors_that_fold_parts_of_lines() -> None:
    opened = open_fixture('[t]\nfiles = [\n  "a",\n]\n')
    table, array = folding(opened.file)
    assert table.range.of(opened.text) == '\nfiles = [\n  "a",\n]'
    assert array.range.of(opened.text) == '\n  "a",\n'


def test_outer_folds_come_first_for_editors_that_take_only_some() -> None:
    found = folding(open_fixture("# a\n# b\n[t]\nx = [\n [\n 1\n]\n]\n").file)
    assert [fold.first_line for fold in found] == [2, 0, 3, 4]
