"""Globs as Go's filepath.Match has them."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.agentfile.text.globs import (
    BadPatternError,
    compile_segment,
    has_magic,
    matches,
    may_match_below,
    segments_of,
)
from support.growth import calls_of

# Names that match, names that do not. From the documentation and the tests of Go's path/filepath.
CASES = [
    ("abc", "abc", "abd"),
    ("*", "abc .a", None),
    ("*c", "abc", "abd"),
    ("a*", "a abc", "b"),
    ("a?c", "abc", "ac"),
    ("a*b*c", "aXbYc abc", "acb"),
    ("*ab*ab*", "abab XabYabZ", "aba ab"),
    ("*a?*[bc]*d", "axbd aacXcd axbbdXd", "abd axd"),
    ("*.md", "x.md .md .hidden.md", "x.MD x.mdx"),
    ("ab[c]", "abc", "abd"),
    ("ab[b-d]", "abc", "abe"),
    ("ab[^c]", "abd ab!", "abc"),
    ("ab[^b-d]", "abe", "abc"),
    ("[a-ζ]*", "α", "A"),
    ("a[!a]b", "a!b aab", "axb"),
    (r"a\*b", "a*b", "ab aXb"),
    (r"[\]a]", "] a", "b"),
    (r"[\-]", "-", "x"),
    (r"[x\-]", "x -", "z"),
    (r"[\-x]", "x -", "a"),
    ("[z-a]", None, "z a m"),
    ("[^z-a]", "m", None),
    ("**", "abc", None),
    ("**.md", "x.md", "x.txt"),
    ("é", "é", "e"),
    ("a.b", "a.b", "aXb"),
    ("(a|b)", "(a|b)", "a"),
]


@pytest.mark.parametrize(("pattern", "matching", "others"), CASES)
def test_segment_matches_names(pattern: str, matching: str | None, others: str | None) -> None:
    compiled = compile_segment(pattern)
    for name in (matching or "").split():
        assert compiled.fullmatch(name), name
    for name in (others or "").split():
        assert not compiled.fullmatch(name), name


@pytest.mark.parametrize(
    "pattern",
    [
        "[",
        "[x",
        "[^",
        "[^bc",
        "[]",
        "[]a]",
        "[-]",
        "[x-]",
        "[-x]",
        "a[",
        "a[b-",
        "\\",
        "a\\",
        "[\\",
    ],
)
def test_malformed_segment_is_refused(pattern: str) -> None:
    with pytest.raises(BadPatternError, match="syntax error in pattern"):
        compile_segment(pattern)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("**/*.md", "a.md", True),
        ("**/*.md", "x/y/a.md", True),
        ("**/*.md", "a.txt", False),
        ("a/**/b.md", "a/b.md", True),
        ("a/**/b.md", "a/x/y/b.md", True),
        ("a/**/b.md", "b.md", False),
        ("a/**", "a", True),
        ("a/**", "a/b/c", True),
        ("**/x/**", "q/x/r", True),
        ("**", "any/thing", True),
        ("*/a", "b/c/a", False),
    ],
)
def test_two_stars_cross_folders(pattern: str, path: str, expected: bool) -> None:
    assert matches(tuple(pattern.split("/")), tuple(path.split("/"))) is expected


def test_only_special_characters_make_a_pattern() -> None:
    assert not has_magic("plain.md")
    assert all(has_magic(name) for name in ("*", "a?", "[a]", "\\*"))


@pytest.mark.parametrize(
    ("pattern", "segments"),
    [
        ("src/**/*.py", ("src", "**", "*.py")),
        ("./a//b/../c", ("a", "c")),
        ("/a.md", ("a.md",)),
        ("../a", ("..", "a")),
    ],
)
def test_the_segments_of_a_pattern(pattern: str, segments: tuple[str, ...]) -> None:
    assert segments_of(pattern) == segments


def test_one_malformed_segment_is_enough() -> None:
    with pytest.raises(BadPatternError):
        segments_of("**/[x")


@pytest.mark.parametrize(
    ("pattern", "folder", "expected"),
    [
        ("src/**/*.py", "src", True),
        ("src/**/*.py", "src/a/b", True),
        ("src/**/*.py", "node_modules", False),
        ("s*/x.md", "src", True),
        ("s*/x.md", "src/deep", False),
        ("**/x.md", "anything/at/all", True),
        ("a.md", "a.md", False),
    ],
)
def test_folders_that_no_match_lies_below_need_not_be_entered(
    pattern: str, folder: str, expected: bool
) -> None:
    assert may_match_below(segments_of(pattern), tuple(folder.split("/"))) is expected


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 30 + "b", "a" * 255),
        ("*a" * 5_000, "a" * 255),
        ("**/" * 40 + "x", "/".join("a" * 60)),
        ("**/a/" * 20 + "x", "/".join("a" * 60)),
        ("**/" * 5_000 + "x", "a"),
    ],
)
def test_pattern_of_many_stars_is_not_tried_at_every_place(pattern: str, path: str) -> None:
    """One that tries each star at each place would not come to an end."""
    assert not matches(segments_of(pattern), tuple(path.split("/")))


def _matches_slowly(pattern: str, name: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(_matches_slowly(pattern[1:], name[at:]) for at in range(len(name) + 1))
    return bool(name) and pattern[0] in ("?", name[0]) and _matches_slowly(pattern[1:], name[1:])


@given(st.text("ab*?", max_size=9), st.text("ab", max_size=9))
def test_stars_match_as_if_all_places_were_tried(pattern: str, name: str) -> None:
    assert bool(compile_segment(pattern).fullmatch(name)) == _matches_slowly(pattern, name)


@given(
    st.lists(st.sampled_from(["**", "a", "b", "*"]), max_size=6),
    st.lists(st.sampled_from(["a", "b"]), max_size=6),
)
def test_folders_match_as_if_all_places_were_tried(segments: list[str], path: list[str]) -> None:
    def slowly(rest: list[str], names: list[str]) -> bool:
        if not rest:
            return not names
        if rest[0] == "**":
            return any(slowly(rest[1:], names[at:]) for at in range(len(names) + 1))
        return bool(names) and rest[0] in ("*", names[0]) and slowly(rest[1:], names[1:])

    assert matches(tuple(segments), tuple(path)) == slowly(segments, path)


def test_malformed_segment_is_parsed_once() -> None:
    pattern = "[" + "a" * 200

    def compile_it() -> None:
        with suppress(BadPatternError):
            compile_segment(pattern)

    assert calls_of(compile_it) > 200
    assert calls_of(compile_it) < 20
