from __future__ import annotations

from pathlib import Path

import pytest

from support.agent_tests import Project
from support.command_line import Home
from support.scripted_provider import ScriptedProvider


@pytest.fixture
def home(tmp_path: Path, provider: ScriptedProvider) -> Home:
    """Return a user whose models are scripted."""
    return Home(tmp_path, provider.environment)


@pytest.fixture
def project(home: Home) -> Project:
    """Return a project of this user with tests of agents."""
    return Project(home.work)
