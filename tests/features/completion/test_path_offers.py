"""Paths and globs that are offered while one is typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.features.completion.path_offers import Entry, Listing, path_offers, path_typed
from support.any_text import TEXTS
from support.fixture import open_fixture, open_text

LISTING = Listing(
    (
        Entry("src", is_folder=True),
        Entry("a.py", is_folder=False),
        Entry("b.py", is_folder=False),
        Entry("README.md", is_folder=False),
        Entry(".git", is_folder=True),
        Entry("o[d]d", is_folder=False),
        Entry('say "x"', is_folder=False),
    )
)


def folder(text: str) -> str | None:
    opened = open_fixture(text)
    typed = path_typed(opened.file, opened.offset)
    return typed.folder if typed is not None else None


def offered(text: str) -> list[str]:
    """Return the lines that come of taking each offer."""
    opened = open_fixture(text)
    typed = path_typed(opened.file, opened.offset)
    assert typed is not None
    return [
        opened.text[: each.replace.start] + each.text + opened.text[each.replace.end :]
        for each in path_offers(typed, LISTING)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('skill = "<|>"', ""),
        ('skill = "skills/re<|>"', "skills/"),
        ('workdir = "~/a/<|>b/c"', "~/a/"),
        ('files = ["x", "src/de<|>ep/"]', "src/"),
        ('files = ["src/**/te<|>"]', "src/"),
        ('files = ["s[ab]/*/<|>"]', ""),
        ("files = ['<|>']", ""),
        ('files = ["src/<|>', "src/"),
        ('name = "<|>"', None),
        ("skill = <|>", None),
        (r'skill = "a\\<|>"', None),
        ('skill = """<|>\n"""', None),
        ('tools = ["<|>"]', None),
    ],
)
def test_only_the_folder_that_is_being_typed_is_listed(text: str, expected: str | None) -> None:
    assert folder(text) == expected


def test_working_directories_are_folders() -> None:
    assert offered('workdir = "<|>"') == ['workdir = "src/"']
    assert offered('workdir = "x/s<|>r/y"') == ['workdir = "x/src/y"']


def test_skills_are_files() -> None:
    assert offered('skill = "<|>"') == [
        f'skill = "{name}"' for name in ("src/", "README.md", "a.py", "b.py", "o[d]d")
    ]


def test_globs_by_suffix_come_before_single_files() -> None:
    assert offered('files = ["<|>"]') == [
        f'files = ["{name}"]'
        for name in ("src/", "**/", "*.py", "*.md", "*", "README.md", "a.py", "b.py")
    ]


def test_below_a_glob_other_globs_are_offered() -> None:
    assert offered('files = ["src/**/<|>"]') == [
        f'files = ["src/**/{name}"]' for name in ("*.py", "*.md", "*")
    ]


def test_hidden_names_are_for_those_who_ask() -> None:
    assert 'workdir = ".git/"' in offered('workdir = ".<|>"')


def test_a_string_that_is_not_closed_is_closed_behind_a_file() -> None:
    assert offered("workdir = 'x/<|>") == ["workdir = 'x/src/"]
    assert 'skill = "a.py"' in offered('skill = "a<|>')


@given(TEXTS, st.data())
def test_no_text_fails_at_any_offset(text: str, data: st.DataObject) -> None:
    typed = path_typed(open_text(text), data.draw(st.integers(0, len(text))))
    if typed is not None:
        assert 0 <= typed.part.start <= typed.part.end <= len(text)
        path_offers(typed, LISTING)
