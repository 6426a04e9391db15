"""`axe-lsp check` on agents in Markdown. Each verdict was recorded with its program (`tests/recorded/markdown`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.recorded_checks import RECORDED, Case, deviations, load_cases

NOT_YET = frozenset(
    [
        *(
            f"opencode-json-{each}"
            for each in ("bad-mode", "bad-permission", "bad-color", "no-file")
        ),
        *(
            f"opencode-json-{each}"
            for each in ("default-agent-missing", "unknown-top", "in-dot-folder")
        ),
        "real-claude-32",
    ]
)
"""Cases whose verdict depends on opencode.json, and one with the finding a line below, at the name; docs/markdown-agents.md has them."""

CASES = load_cases(RECORDED / "markdown" / "cases.json.xz")


KNOWN = [each for each in CASES if each["name"] not in NOT_YET]


@pytest.mark.parametrize("case", KNOWN, ids=[each["name"] for each in KNOWN])
def test_check_says_what_the_program_does(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert deviations(case, tmp_path, monkeypatch) == []
