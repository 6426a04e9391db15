"""The GitHub Action: its shell, as a runner starts it, with the axe-lsp of this checkout in place of an installed one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.command_line import Home

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[1]
ACTION: Any = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))

BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
"""How runners start the steps of `shell: bash`."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Return a project, and the folder in which the action has installed axe-lsp."""
    home = Home(tmp_path)
    (home.work / "axe" / "agents").mkdir(parents=True)
    bin_ = tmp_path / "temp" / "axe-lsp" / "bin"
    bin_.mkdir(parents=True)
    command = bin_ / "axe-lsp"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m axe_lsp "$@"\n')
    command.chmod(0o755)
    home.environment["RUNNER_TEMP"] = str(tmp_path / "temp")
    return home


def step(home: Home, name: str, **inputs: str) -> tuple[int, str]:
    """Run a step with inputs in place of the defaults; its exit code and output."""
    (found,) = (each for each in ACTION["runs"]["steps"] if each["name"] == name)
    values = {key: each["default"] for key, each in ACTION["inputs"].items()} | inputs
    given = {
        variable: values[text.removeprefix("${{ inputs.").removesuffix(" }}")]
        for variable, text in found["env"].items()
    }
    ended = subprocess.run(
        [*BASH, found["run"]],
        cwd=home.work,
        env={**home.environment, **given, "LANG": os.environ.get("LANG", "C.UTF-8")},
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.returncode, ended.stdout


def test_the_installation_executes_nothing_of_the_project(home: Home) -> None:
    """A change that a job shall check could bring a module with the name of one of Python's."""
    for name in ("venv", "ensurepip", "pip", "logging"):
        (home.work / f"{name}.py").write_text("open('hacked', 'w')\nraise SystemExit(1)\n")
    install = ACTION["runs"]["steps"][0]["run"].partition("pip")[0].rpartition("\n")[0]
    assert "-m venv" in install
    subprocess.run([*BASH, install], cwd=home.work, env=home.environment, check=True)
    assert not (home.work / "hacked").exists()


def test_a_warning_fails_the_job_unless_it_shall_not(home: Home) -> None:
    agent = home.work / "axe" / "agents" / "lead.toml"
    agent.write_text('name = "lead"\nmodel = "ollama/m"\nzzz = 1\n')
    code, out = step(home, "Check agent files")
    assert code == 1
    assert out.startswith("::warning file=axe/agents/lead.toml,line=3")
    assert step(home, "Check agent files", strict="false")[0] == 0
    agent.write_text('name = "lead"\nmodel = "ollama/m"\n')
    assert step(home, "Check agent files") == (0, "")


def test_paths_are_lines_and_nothing_that_a_shell_obeys(home: Home) -> None:
    for name in ("one", "two words", "three"):
        agent = home.work / "axe" / "agents" / f"{name}.toml"
        agent.write_text(f'name = "{name}"\nmodel = "ollama/m"\nzzz = 1\n')
    paths = "axe/agents/one.toml\naxe/agents/two words.toml\n"
    code, out = step(home, "Check agent files", paths=paths)
    assert (code, out.count("::warning")) == (1, 2)
    step(home, "Check agent files", paths="$(touch hacked)\n`touch hacked`; touch hacked")
    assert not (home.work / "hacked").exists()


def test_a_project_without_tests_of_agents_passes(home: Home) -> None:
    (home.work / "axe" / "agents" / "lead.toml").write_text('name = "lead"\nmodel = "ollama/m"\n')
    code, out = step(home, "Replay the tests of agents")
    assert (code, out) == (0, "")


def test_tests_are_replayed(home: Home) -> None:
    (home.work / "axe" / "agents" / "lead.toml").write_text('name = "lead"\nmodel = "ollama/m"\n')
    tests = home.work / "axe" / "tests"
    tests.mkdir()
    (tests / "lead.toml").write_text('agent = "lead"\n[[case]]\nname = "a"\ntask = "Go"\n')
    code, out = step(home, "Replay the tests of agents")
    assert code == 1
    assert "::error file=axe/tests/lead.toml" in out
