"""Text that shows what it is."""

from __future__ import annotations

import pytest

from axe_lsp.runtime.plain_text import escaped, harmless, os_fault, visible


def test_what_the_system_says_comes_without_its_number() -> None:
    denied = PermissionError(13, "Permission denied", "/a/b")
    assert os_fault(denied) == "/a/b: Permission denied"
    assert os_fault(OSError(28, "No space left on device")) == "No space left on device"


def test_what_is_visible_is_as_long_as_the_text() -> None:
    assert visible("a\tb\x1b[0m\x7f\x85\u2028\u2066é👨\u200d👩") == "a\tb␛[0m␡���é👨\u200d👩"


def test_what_is_harmless_keeps_lines_and_languages() -> None:
    rtl = "\u200fשלום\u200f"
    assert harmless("a\u202eb\u202dc") == "a\ufffdb\ufffdc"
    assert harmless(f"a\tb\r\nc\n\x1b]0;d\x07\x9b {rtl}") == f"a\tb\nc\n␛]0;d␇� {rtl}"


_UNSEEN = (
    "\x1b\r\x7f\x9b\u00a0\u00ad\u034f\u061c\u115f\u180e\u200b\u200d\u202e\u2028\u2060\u2066\u2800\u3164"
    "\ufe0f\ufeff\uffa0\udc80\U000e0041\U000e0100\U0001d173"
)


@pytest.mark.parametrize("hidden", _UNSEEN)
def test_what_nobody_sees_is_written_out(hidden: str) -> None:
    shown = escaped(f"rm{hidden}x")
    assert hidden not in shown
    assert shown == f"rm{hidden.encode('unicode_escape').decode()}x"


def test_what_is_seen_stays_as_it_is() -> None:
    text = "a\tb  é 漢字 हिन्दी עברית 👨 \\u202e"
    assert escaped(text) == text
