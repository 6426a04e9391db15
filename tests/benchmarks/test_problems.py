"""The files full of problems have them, of nearly every kind that there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from axe_lsp.cli.check import check
from axe_lsp.features.finding import Severity
from axe_lsp.features.rule import Dialects, Subject
from axe_lsp.features.rules import RULES
from benchmarks.problems import KINDS, write

AT_MOST_ONE = {
    "bad-skill",
    "differing-twin",
    "duplicate-name",
    "ending-model",
    "model-format",
    "name-mismatch",
    "no-effect",
    "shadowed-tool",
    "side-run-writes",
    "similar-model",
    "unknown-provider",
    "unread-picture",
    "unreachable-depth",
    "unseen-tool",
}
"""Diagnostics of which a file has one, or of which there are thousands only among thousands of files
or after a run."""


def test_each_diagnostic_is_in_one_of_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    found = set[str]()
    axes = [kind for kind in KINDS.values() if kind.path.startswith("axe/agents/")]
    for number, kind in enumerate(axes):
        path = write(tmp_path / str(number), kind)
        severities = dict.fromkeys(kind.settings, Severity.WARNING)
        found |= {each.code for file in check([path], severities) for each in file.findings}
    ours = {
        rule.code
        for rule in RULES
        if rule.is_for is not Dialects.OTHERS and rule.about is not Subject.RUNS
    }
    assert found == ours - AT_MOST_ONE
