from __future__ import annotations

from pathlib import Path

import pytest

from support.command_line import Home
from support.scripted_provider import ScriptedProvider


@pytest.fixture
def home(tmp_path: Path, provider: ScriptedProvider) -> Home:
    """A user whose models are scripted."""
    return Home(tmp_path, provider.environment)
