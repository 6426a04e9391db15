"""What the tests of clients share: things that take long to make are made once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.extension import packaged

_LONGEST = 1200
"""Seconds that a test may take which waits for an editor many times, on a machine that is very busy."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """An editor on a busy machine loses a click or a key now and then: what fails in one is tried twice more."""
    for item in items:
        if item.get_closest_marker("editor"):
            # Before the mark of tests that start processes: the first one counts.
            item.add_marker(pytest.mark.flaky(reruns=2), append=False)
            item.add_marker(pytest.mark.timeout(_LONGEST))


@pytest.fixture(scope="session")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the VS Code extension, built and packaged, by the first worker that needs it."""
    folder = tmp_path_factory.getbasetemp()
    return packaged(folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder)
