"""The recorded behaviour of axe, where the kit with the recordings lies beside the project."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.command_line import COMMAND

KIT = Path(__file__).parents[3] / "shared" / "conformance"

LEFT_OUT = ("gc_", "cli_gc_")
"""Cases of `axe gc`, which this version does not have."""


@pytest.mark.skipif(not KIT.is_dir(), reason=f"there is no conformance kit at {KIT}")
def test_axes_recorded_cases_pass() -> None:
    names = [case.stem for case in (KIT / "cases").glob("*.json")]
    wanted = [name for name in names if not name.startswith(LEFT_OUT)]
    outcome = subprocess.run(
        [sys.executable, KIT / "run.py", "--cmd", " ".join(COMMAND), "--only", ",".join(wanted)],
        capture_output=True,
        text=True,
        check=False,
    )
    failed = [
        line
        for line in outcome.stdout.splitlines()
        if line.startswith("FAIL ") and line.removeprefix("FAIL ").partition(":")[0] in wanted
    ]
    assert failed == []
    assert int(outcome.stdout.splitlines()[-1].split()[0]) >= len(wanted)
