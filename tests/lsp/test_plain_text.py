"""Explanations for clients that show no Markdown."""

from __future__ import annotations

import pytest

from axe_lsp.lsp.hover import plain_text


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("**`src/**/*.py`** · 2 files", "src/**/*.py · 2 files"),
        ("**lint** · agent", "lint · agent"),
        ("`a*b` and `c*d`, *really*", "a*b and c*d, really"),
        ("*An extension: `x` is ignored.*", "An extension: x is ignored."),
        ("2 * 3 * 4, a*b*c, `", "2 * 3 * 4, a*b*c, `"),
        ("before\n```toml\nx = 1\n```\nafter", "before\nx = 1\nafter"),
        ("- `a`\n- `b`", "- a\n- b"),
    ],
)
def test_marks_go_and_the_text_stays(markdown: str, expected: str) -> None:
    assert plain_text(markdown) == expected
