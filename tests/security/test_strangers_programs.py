"""What a cloned repository tries by programs and by start-up files that it brings: none of them is executed unasked."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from support.scripted_provider import Call, Says, ScriptedProvider
from support.session import Project

LEAD = """\
name = "lead"
model = "ollama/m-lead"
tools = ["grep", "run_command"]
sub_agents = ["copied"]
"""

COPIED = """\
name = "copied"
model = "ollama/m-copied"
[isolation]
mode = "copy"
"""


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider) -> Project:
    project = Project(tmp_path / "editor", provider.environment)
    project.write("lead", LEAD)
    project.write("copied", COPIED)
    return project


def bring_program(folder: Path, name: str, mark: Path) -> None:
    """A program of the repository, which leaves a mark."""
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\ntouch {shlex.quote(str(mark))}\n")
    program.chmod(0o755)


def run(project: Project, *rules: str) -> Any:
    """Return the answer of the lead in an editor with these rules."""
    options = {"trusted": True, "tools": {"allow": rules}}
    with project.editor(initializationOptions=options) as editor:
        number = editor.client.start_request("axe/run", {"agent": "lead"})
        return editor.client.answer(number)


@pytest.mark.parametrize("in_front", ["./bin", "bin", ""])
@pytest.mark.parametrize("name", ["rg", "git", "sh"])
def test_no_program_of_the_repository_is_taken_for_one_of_the_user(
    project: Project, provider: ScriptedProvider, in_front: str, name: str
) -> None:
    mark = project.root / "started"
    bring_program(project.root / in_front, name, mark)
    project.environment["PATH"] = f"{in_front}{os.pathsep}{os.environ['PATH']}"
    calls = [
        Call("grep", {"pattern": "model"}),
        Call("run_command", {"command": "git --version"}),
        Call("call_agent", {"agent": "copied", "task": "look"}),
    ]
    provider.script("m-lead", *(Says(calls=[each]) for each in calls), Says("done"))
    provider.script("m-copied", Says("looked"))
    answer = run(project, "run_command(git --version)")
    assert answer["result"]["content"] == "done"
    assert not mark.exists()
    results = [each.body["messages"][-1]["content"] for each in provider.requests]
    assert "axe/agents/lead.toml:2:" in results[1]
    assert results[2].startswith("git version")


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_an_allowed_command_reads_no_start_up_file_of_the_repository(
    project: Project, provider: ScriptedProvider
) -> None:
    mark = project.root / "written"
    (project.root / ".curlrc").write_text(f"output = {mark}\n")
    fetch = f"curl file://{project.path('lead')}"
    provider.script("m-lead", Says(calls=[Call("run_command", {"command": fetch})]), Says("done"))
    assert run(project, f"run_command({fetch})")["result"]["content"] == "done"
    assert provider.requests[-1].body["messages"][-1]["content"].endswith(LEAD)
    assert not mark.exists()
