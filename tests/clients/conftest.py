"""What the tests of clients share: things that take long to make are made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.extension import packaged


@pytest.fixture(scope="session")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The VS Code extension, built and packaged."""
    return packaged(tmp_path_factory.mktemp("extension"))
