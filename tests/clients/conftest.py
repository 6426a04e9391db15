"""What the tests of clients share: things that take long to make are made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.extension import packaged


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser on a busy machine loses a click now and then: what fails in it is tried once more.

    pytest names what it has tried again, so that a test which needs it often is found and mended.
    """
    for item in items:
        in_browser = item.path.name.startswith("test_vscode") and item.get_closest_marker("editor")
        if in_browser:
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The VS Code extension, built and packaged."""
    return packaged(tmp_path_factory.mktemp("extension"))
