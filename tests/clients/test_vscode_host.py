"""The tests of the extension that run inside VS Code (vscode-extension/test-host), in the extension as it is packaged."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from support.editors import PROJECT, missing, server_program
from support.extension import TRUSTING, path_without_server, vscode
from support.scripted_provider import Answer, Hold, Says, ScriptedProvider

FAKES = Path(__file__).parent / "vscode"

AGENT = """\
name = "{name}"
model = "ollama/llama3"
system_prompt = "You help."
sub_agents = ["ghost"]
"""

FILES = {
    "axe/agents/lead.toml": AGENT.format(name="lead"),
    "axe/agents/lint.toml": 'name = "lint"\nmodel = "ollama/llama3"\n',
    "axe/agents/broken.toml": 'name = "broken"\nmodel = \n',
    "axe/agents/untidy.toml": AGENT.format(name="untidy").replace(" = ", "="),
    ".axe/agents/hidden.toml": AGENT.format(name="hidden"),
    ".config/axe/config.toml": "",
    "bots/plain.toml": 'name = "plain"\nmodel = "ollama/llama3"\n',
    "elsewhere/helper.toml": AGENT.format(name="helper"),
    "elsewhere/other.toml": AGENT.format(name="other"),
    "pyproject.toml": '[project]\nname="p"\n',
}


@pytest.mark.editor
def test_the_extension_inside_vscode(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    for path, text in FILES.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text, encoding="utf-8")
    with zipfile.ZipFile(extension) as package:
        package.extractall(tmp_path / "unpacked")
    provider.script("llama3", Answer(Says("Late."), match="Wait", hold=Hold()))
    provider.script("llama3", Answer(Says("Done."), match="Work", repeat=True))
    settings = {**TRUSTING, "axe.agentPaths": ["bots"]}
    variables = {
        **provider.environment,
        "PATH": path_without_server(),
        "AXE_TEST_SELECTED_PYTHON": str(server_program().with_name("python")),
    }
    others = [FAKES / "other-toml", FAKES / "python"]
    tests = _built_tests()
    with vscode(None, project, tmp_path, settings, variables, others=others) as window:
        print(window.run_tests(tmp_path / "unpacked" / "extension", tests))


def _built_tests() -> Path:
    npm = shutil.which("npm")
    folder = PROJECT / "vscode-extension"
    if npm is None or not (folder / "node_modules").exists():
        missing("tools of the VS Code extension", "`npm ci` in vscode-extension")
    command = [npm, "run", "--silent", "build-host-tests"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "out" / "test-host" / "index.js"
