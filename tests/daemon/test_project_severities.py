"""`check.toml` of a project that somebody else has written."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from axe_lsp.agentfile.text.nearest import nearest
from axe_lsp.daemon import project_severities
from axe_lsp.daemon.project_severities import severities_for
from axe_lsp.features.finding import Severity


def settled(folder: Path, text: str) -> tuple[dict[str, Severity | None], list[str]]:
    """Return what counts, and the complaints without the file in front."""
    file = folder / "axe" / "check.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    found = severities_for(file.parent / "agents")
    return dict(found.severities), [each.removeprefix(f"{file}: ") for each in found.complaints]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a = " + "[" * 3_000, "TOML inline arrays/tables are nested more than"),
        ('[diagnostics]\nunused-ignore = ["off"]', "unused-ignore is one of "),
        ("[diagnostics.unused-ignore]\na = 1", "unused-ignore is one of "),
        ('[diagnostics]\nmissing-key = "off"\n' + "#" * 100_000, "it has more than 100,000"),
        (f"{'k' * 9_000} = 1", f"'{'k' * 60}…' is unknown"),
        ('"\\u202e\\u001b" = 1', r"'\u202e\x1b' is unknown"),
    ],
)
def test_invalid_severity_is_a_complaint(tmp_path: Path, text: str, complaint: str) -> None:
    severities, complaints = settled(tmp_path, text)
    assert severities == {}
    assert len(complaints) == 1
    assert complaints[0].startswith(complaint)
    assert len(complaints[0]) < 200


def test_thousands_of_unknown_codes_are_ten_complaints_and_ten_suggestions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []

    def counted(name: str, names: Iterable[str]) -> str | None:
        compared.append(name)
        return nearest(name, names)

    monkeypatch.setattr(project_severities, "nearest", counted)
    lines = "".join(f'x{number} = "off"\n' for number in range(7_000))
    severities, complaints = settled(tmp_path, f'[diagnostics]\nunused-ignore = "error"\n{lines}')
    assert compared == [f"x{number}" for number in range(10)]
    assert severities == {"unused-ignore": Severity.ERROR}
    assert complaints[0].startswith("'x0' is not a diagnostic code")
    assert complaints[10:] == ["6,990 more of its keys do not count"]
