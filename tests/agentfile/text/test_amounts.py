from __future__ import annotations

from axe_lsp.agentfile.text.amounts import counted, duration


def test_amounts_are_texts_for_people() -> None:
    assert [counted(number, "file") for number in (0, 1, 1200)] == [
        "0 files",
        "1 file",
        "1,200 files",
    ]
    assert [duration(milliseconds) for milliseconds in (999, 3449)] == ["999 ms", "3.4 s"]
