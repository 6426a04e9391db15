"""Line endings and byte order marks of files that are changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.runtime.files.line_ends import in_style_of, plain, replace_text

BOM = b"\xef\xbb\xbf"

LINES = st.lists(st.sampled_from([b"", b"a", b"ab", b"\xc3\xbc", b"a b"]), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("content", "old", "new", "expected"),
    [
        (b"a\r\nb\r\n", b"a\nb", b"c\nd\ne", b"c\r\nd\r\ne\r\n"),
        (b"a\r\nb\r\n", b"b", b"c\nd", b"a\r\nc\r\nd\r\n"),
        (b"a\r\nb\r\n", b"\nb", b"\nc", b"a\r\nc\r\n"),
        (b"a\nb\n", b"a\r\nb", b"c\r\nd", b"c\nd\n"),
        (b"a\r\nb\nc\n", b"a\nb", b"d\ne", b"d\r\ne\nc\n"),
        (b"a\r\nb\nc\n", b"b\r\nc", b"d\r\ne", b"a\r\nd\ne\n"),
        (BOM + b"a\n", BOM + b"a", b"b", BOM + b"b\n"),
        (BOM + b"a\n", b"a", b"b", BOM + b"b\n"),
        (b"a\n", b"a", b"b\r\nc", b"b\r\nc\n"),
    ],
)
def test_replace_text_matches_over_line_endings_and_keeps_them(
    content: bytes, old: bytes, new: bytes, expected: bytes
) -> None:
    assert replace_text(content, old, new) == (expected, 1)


def test_replace_text_counts_all_and_none() -> None:
    assert replace_text(b"x\r\nx\r\n", b"x\n", b"y\n") == (b"y\r\ny\r\n", 2)
    assert replace_text(b"x\r\n", b"y", b"z") == (b"x\r\n", 0)


@given(LINES, LINES, st.booleans())
def test_rewritten_file_keeps_line_endings_and_mark(
    before: list[bytes], after: list[bytes], has_mark: bool
) -> None:
    original = (BOM if has_mark else b"") + b"\r\n".join([*before, b""])
    written = in_style_of(original, b"\n".join(after))
    assert written.startswith(BOM) is has_mark
    assert written.count(b"\n") == written.count(b"\r\n") == len(after) - 1
    assert plain(written) == b"\n".join(after)


@given(LINES, st.integers(0, 5), st.integers(1, 3), st.booleans())
def test_replace_text_of_crlf_file_equals_replace_text_of_lf_file(
    lines: list[bytes], start: int, count: int, has_mark: bool
) -> None:
    lf = b"\n".join([b"head", *lines, b""])
    crlf = (BOM if has_mark else b"") + lf.replace(b"\n", b"\r\n")
    old = b"\n".join([b"head", *lines][start : start + count]) or b"head"
    expected, replacements = replace_text(lf, old, b"new\ntext")
    changed, same_replacements = replace_text(crlf, old, b"new\ntext")
    assert (plain(changed), same_replacements) == (expected, replacements)
    assert changed.count(b"\n") == changed.count(b"\r\n")
    assert changed.startswith(BOM) is has_mark
