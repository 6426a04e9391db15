"""The Dockerfile: its installation, in a folder in place of the image, from what `.dockerignore` lets in."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.command_line import Home

pytestmark = [pytest.mark.process, pytest.mark.slow]

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")


def test_what_the_image_is_built_from_installs_and_checks_a_project(tmp_path: Path) -> None:
    source, program = tmp_path / "source", tmp_path / "opt"
    source.mkdir()
    for name in _let_in():
        origin = ROOT / name
        copy = shutil.copytree if origin.is_dir() else shutil.copy
        copy(origin, source / name)
    (install,) = re.findall(r"^RUN (python3 -m venv .*)$", DOCKERFILE, re.MULTILINE)
    command = install.replace("/opt/axe-lsp", str(program)).replace("/source", str(source))
    done = subprocess.run(
        ["/bin/sh", "-ec", command], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr

    home = Home(tmp_path)
    agents = home.work / "axe" / "agents"
    agents.mkdir(parents=True)
    (agents / "lead.toml").write_text('name = "lead"\n', encoding="utf-8")
    (entry,) = re.findall(r'^ENTRYPOINT \["/opt/axe-lsp/(.*)"\]$', DOCKERFILE, re.MULTILINE)
    (default,) = re.findall(r'^CMD \["(.*)"\]$', DOCKERFILE, re.MULTILINE)
    checked = subprocess.run(
        [program / entry, default],
        cwd=home.work,
        env=home.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 1
    assert "missing-key" in checked.stdout
    helped = subprocess.run(
        [program / entry, "mcp", "--help"], capture_output=True, text=True, check=False
    )
    assert helped.returncode == 0, "the image has the extra for MCP"


def _let_in() -> list[str]:
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert "*" in lines, "nothing else gets into the image"
    return [line.removeprefix("!") for line in lines if line.startswith("!") and line != "!.git"]
