"""The recorded behaviour of axe, where the kit with the recordings lies beside the project."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.command_line import COMMAND

KIT = Path(__file__).parents[3] / "shared" / "conformance"


@pytest.mark.skipif(not KIT.is_dir(), reason=f"there is no conformance kit at {KIT}")
def test_axes_recorded_cases_pass() -> None:
    cases = [case.stem for case in (KIT / "cases").glob("*.json")]
    outcome = subprocess.run(
        [sys.executable, KIT / "run.py", "--cmd", " ".join(COMMAND)],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = outcome.stdout.splitlines()
    assert [line for line in lines if line.startswith("FAIL ")] == []
    assert int(lines[-1].split()[0]) >= len(cases)
