"""The clients know where agents of all dialects lie, as the server's table says."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import tomli
import yaml

from axe_lsp.agentfile.dialects import (
    agent_globs,
    markdown_globs,
    settings_globs,
    user_markdown_globs,
)
from axe_lsp.agentfile.schema.providers import PROVIDERS
from axe_lsp.cli.main import COMMANDS
from support.editors import PROJECT, clean_environment, emacsen, missing, neovims

EXTENSION = PROJECT / "vscode-extension"
AGENTS, SETTINGS = list(agent_globs()), list(settings_globs())
PROJECTS = list(markdown_globs())
MARKDOWN = [*PROJECTS, *user_markdown_globs()]


def examples(globs: list[str]) -> list[str]:
    """Return a file for each glob, and one in a folder below it where the glob has folders."""
    paths = [glob.replace("**/", "", 1).replace("**/", "").replace("*", "a") for glob in globs]
    deep = [each.replace("**/", "", 1).replace("**/", "b/c/").replace("*", "a") for each in globs]
    return list(dict.fromkeys([*paths, *deep]))


OTHERS = [
    "Cargo.toml",
    "axe/agents/b/a.toml",
    ".codex/a.toml",
    ".codex/agents/a.md",
    "codex/agents/a.toml",
    "agents/a.md",
    ".claude/a.md",
    ".opencode/plugin/a.md",
    ".gemini/agents/b/a.md",
]


def test_extension_activates_for_every_agent_folder() -> None:
    manifest = json.loads((EXTENSION / "package.json").read_text("utf-8"))
    (agent,) = [each for each in manifest["contributes"]["languages"] if each["id"] == "axe-agent"]
    assert agent["filenamePatterns"] == AGENTS
    contains = [each for each in manifest["activationEvents"] if each.startswith("workspaceC")]
    assert contains == [f"workspaceContains:{each}" for each in (*AGENTS, *PROJECTS)]
    source = (EXTENSION / "src" / "agentFiles.ts").read_text("utf-8")
    for name, globs in (
        ("AGENT_FILES", AGENTS),
        ("SETTINGS_FILES", SETTINGS),
        ("MARKDOWN_FILES", MARKDOWN),
    ):
        listed = re.search(rf"const {name} = \[(.*?)\];", source, re.DOTALL)
        assert listed is not None
        assert re.findall(r"'(.*?)'", listed[1]) == globs


def test_the_extension_offers_the_keys_of_all_providers() -> None:
    source = (EXTENSION / "src" / "apiKeys.ts").read_text("utf-8")
    table = re.search(r"KEY_VARIABLES[^{]*\{(.*?)\};", source, re.DOTALL)
    assert table is not None
    wanted = [row.key_variable for row in PROVIDERS.values() if row.needs_key and row.key_variable]
    assert re.findall(r"'(.*?)'", table[1]) == wanted


def test_helix_configuration_names_every_agent_folder() -> None:
    languages = tomli.loads((PROJECT / "clients" / "helix" / "languages.toml").read_text("utf-8"))
    language, markdown = languages["language"]
    assert [each["glob"] for each in markdown["file-types"]] == [
        each.removeprefix("**/") for each in MARKDOWN
    ]
    globs = [each["glob"] for each in language["file-types"]]
    expected = [each.removeprefix("**/") for each in (*AGENTS, *SETTINGS)]
    assert sorted(globs) == sorted([*expected, ".config/axe/config.toml"])


def test_pre_commit_hooks_run_for_every_agent_folder() -> None:
    hooks = yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    for hook in hooks:
        assert hook["entry"].split()[:2] == ["axe-lsp", hook["id"].removeprefix("axe-lsp-")]
        assert hook["entry"].split()[1] in COMMANDS
    check, test = (re.compile(hook["files"]) for hook in hooks)
    assert [
        each for each in examples([*AGENTS, *SETTINGS, *PROJECTS]) if not check.search(each)
    ] == []
    assert [each for each in OTHERS if check.search(each)] == []
    assert test.search("axe/tests/recordings/a.toml")


@pytest.mark.editor
def test_neovim_client_names_every_agent_folder(tmp_path: Path) -> None:
    for nvim in neovims() or [missing("Neovim", ".ci/install-neovim")]:
        script = """
        local files = require('axe_lsp.files')
        for path in vim.gsplit(vim.env.PATHS, ':', true) do
          io.stdout:write(tostring(files.is_agent(path)), ' ', tostring(files.root(path)), '\\n')
        end
        vim.cmd('qall!')
        """
        program = tmp_path / "say.lua"
        program.write_text(script, encoding="utf-8")
        arguments = ["--clean", "--headless", "--cmd", f"set rtp^={PROJECT}/clients/neovim"]
        said = _said([nvim, *arguments, "-c", f"luafile {program}"], tmp_path)
        agents, settings = len(examples(AGENTS)), len(examples([*SETTINGS, *MARKDOWN]))
        assert said[:agents] == ["true /work"] * agents
        assert said[agents : agents + settings] == ["false /work"] * settings
        others = said[agents + settings : -1]
        assert others == ["false nil"] * len(OTHERS)
        assert said[-1] == f"true {tmp_path / 'home' / '.codex'}", "a home is no project"


@pytest.mark.editor
def test_emacs_client_names_every_agent_folder(tmp_path: Path) -> None:
    script = """(dolist (path (split-string (getenv "PATHS") ":"))
      (princ (format "%s\n" (and (memq (assoc-default path auto-mode-alist #'string-match) '(axe-agent-mode axe-markdown-agent-mode)) t))))"""
    for emacs in emacsen() or [missing("Emacs", ".ci/install-emacs")]:
        load = ["-Q", "--batch", "-l", str(PROJECT / "tests" / "clients" / "emacs" / "support.el")]
        said = _said([emacs, *load, "--eval", script], tmp_path)
        ours = len(examples([*AGENTS, *SETTINGS, *MARKDOWN]))
        assert said == ["t"] * ours + ["nil"] * len(OTHERS) + ["t"]


def _said(command: list[object], tmp_path: Path) -> list[str]:
    """Return the lines that a program says about the examples, other files, and an agent of the user."""
    home = tmp_path / "home"
    environment = clean_environment(home)
    relative = [*examples(AGENTS), *examples([*SETTINGS, *MARKDOWN]), *OTHERS]
    paths = [*(f"/work/{each}" for each in relative), str(home / ".codex" / "agents" / "a.toml")]
    done = subprocess.run(
        [str(each) for each in command],
        env={
            **os.environ,
            **environment,
            "PATHS": ":".join(paths),
            "AXE_EMACS": str(PROJECT / "clients" / "emacs"),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout.split("\n")[:-1]
