"""opencode as a client, where it is installed (`npm install opencode-ai`); `.ci/run` does not install its 350 MB."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.command_line import COMMAND
from support.editors import clean_environment

OPENCODE = os.environ.get("AXE_TEST_OPENCODE") or shutil.which("opencode")

WITHOUT_NETWORK = ["unshare", "--map-root-user", "--net"]

pytestmark = [
    pytest.mark.editor,
    pytest.mark.skipif(
        OPENCODE is None or shutil.which("unshare") is None,
        reason="no opencode on this machine: `npm install opencode-ai` installs it",
    ),
]


def diagnostics(project: Path, environment: dict[str, str], name: str) -> Any:
    """Return what opencode has received for a file after it has opened it."""
    server = {"command": [*COMMAND, "--stdio"], "extensions": [".toml"]}
    settings = {"autoupdate": False, "share": "disabled", "lsp": {"axe": server}}
    (project / "opencode.json").write_text(json.dumps(settings))
    done = subprocess.run(
        [*WITHOUT_NETWORK, str(OPENCODE), "debug", "lsp", "diagnostics", name],
        cwd=project,
        env={**environment, "OPENCODE_DISABLE_MODELS_FETCH": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / "axe" / "agents").mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", str(project)], check=True)
    return project


def test_problems_of_an_agent_reach_opencode(project: Path, tmp_path: Path) -> None:
    lead = project / "axe" / "agents" / "lead.toml"
    lead.write_text('name = "lead"\nmodel = "ollama/m"\nsub_agents = ["nobody"]\n')
    received = diagnostics(project, clean_environment(tmp_path / "home"), "axe/agents/lead.toml")
    assert [each["code"] for each in received[str(lead)]] == ["unknown-agent"]


def test_file_that_is_no_agent_gets_an_empty_list_in_opencode(
    project: Path, tmp_path: Path
) -> None:
    file = project / "pyproject.toml"
    file.write_text("[tool.x]\na = 1\n")
    received = diagnostics(project, clean_environment(tmp_path / "home"), "pyproject.toml")
    assert received == {str(file): []}
