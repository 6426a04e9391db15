"""Text that shows what it is."""

from __future__ import annotations

from axe_lsp.runtime.plain_text import harmless, os_fault, visible


def test_what_the_system_says_comes_without_its_number() -> None:
    denied = PermissionError(13, "Permission denied", "/a/b")
    assert os_fault(denied) == "/a/b: Permission denied"
    assert os_fault(OSError(28, "No space left on device")) == "No space left on device"


def test_what_is_visible_is_as_long_as_the_text() -> None:
    assert visible("a\tb\x1b[0m\x7f\x85\u2028\u2066é👨\u200d👩") == "a\tb␛[0m␡���é👨\u200d👩"


def test_what_is_harmless_keeps_lines_and_languages() -> None:
    rtl = "\u200fשלום\u200f"
    assert harmless(f"a\tb\r\nc\n\x1b]0;d\x07\x9b {rtl}") == f"a\tb\nc\n␛]0;d␇� {rtl}"
