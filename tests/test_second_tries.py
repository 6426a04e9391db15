"""Tests that start processes are tried once more in CI, and the first failure is told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

BY_CHANCE = """
import asyncio
import pathlib

import pytest


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    yield folder
    folder.rmdir()


def test_in_no_process():
    pass


{mark}
async def test_by_chance(shared, tmp_path):
    await asyncio.sleep(0)
    assert shared.is_dir()
    seen = pathlib.Path("seen")
    if not seen.exists():
        seen.touch()
        print("what it had printed")
        raise ValueError("lost a race")
"""


@pytest.mark.parametrize(
    ("mark", "ci", "passes"),
    [
        ("@pytest.mark.process", "true", True),
        ("@pytest.mark.process", "", False),
        ("", "true", False),
    ],
)
def test_what_fails_by_chance_fails_at_once_or_is_told(
    tmp_path: Path, mark: str, ci: str, passes: bool
) -> None:
    (tmp_path / "test_it.py").write_text(BY_CHANCE.format(mark=mark))
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "conftest", "-o", "asyncio_mode=auto", "-n", "1"],
        cwd=tmp_path,
        env={
            **os.environ,
            "CI": ci,
            "PYTHONPATH": str(Path(__file__).parent),
            "PYTEST_ADDOPTS": "",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode == 0) == passes, ended.stdout + ended.stderr
    assert ("first try of test_it.py::test_by_chance" in ended.stdout) == passes
    assert 'raise ValueError("lost a race")' in ended.stdout
    assert "what it had printed" in ended.stdout
