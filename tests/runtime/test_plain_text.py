"""Text that shows what it is."""

from __future__ import annotations

from axe_lsp.runtime.plain_text import visible


def test_what_is_visible_is_as_long_as_the_text() -> None:
    assert visible("a\tb\x1b[0m\x7f\x85\u2028\u2066é👨\u200d👩") == "a\tb␛[0m␡���é👨\u200d👩"
