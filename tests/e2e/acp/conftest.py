"""A project with two agents, and a client in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.acp_client import AcpClient
from support.scripted_provider import ScriptedProvider
from support.session import Project, agent_file


@pytest.fixture
def key() -> str:
    """Return the key of the user."""
    return "sk-ant-0123456789-the-key-of-the-user"


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider, key: str) -> Project:
    environment = {**provider.environment, "ANTHROPIC_API_KEY": key, "OPENAI_API_KEY": ""}
    project = Project(tmp_path, environment)
    project.write("lead", agent_file("lead", tools=["write_file"], sub_agents=["writer"]))
    project.write("writer", agent_file("writer", tools=["write_file", "read_file"]))
    project.write("broken", "name = 3\n")
    return project


@pytest.fixture
def client(project: Project) -> Iterator[AcpClient]:
    with AcpClient.start(project) as client:
        yield client
