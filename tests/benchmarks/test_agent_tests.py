"""The measured tests of agents pass, and each of their checks can fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.agent_tests import make_project
from support.agent_tests import Project


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Release 1: yes.", "Release 1: no."),
        ("Release 1:", "Issue 1:"),
        ("All fine.", "Broken."),
    ],
)
async def test_measured_cases_pass_until_a_recording_changes(
    tmp_path: Path, old: str, new: str
) -> None:
    project = Project(tmp_path)
    make_project(tmp_path, 2)
    project.edit("axe/tests/recordings/release/case-1.toml", old, new)
    outcomes = await project.outcomes(project.tests / "release.toml")
    assert [each.verdict for each in outcomes] == ["passed", "failed"]
