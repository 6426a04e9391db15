"""`axe-lsp completion`, in the shells that are there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from axe_lsp.cli.main import main
from support.command_line import Home
from support.editors import missing
from support.engines import agent

pytestmark = pytest.mark.process

BASH = """\
source {script}
COMP_WORDS=({words}); COMP_CWORD={number}
_shtab_axe_lsp
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def home(home: Home) -> Home:
    """With agents, and `axe-lsp` on the PATH."""
    home.add(agent("lead") | agent("writer"))
    bin_ = home.work / "bin"
    bin_.mkdir()
    command = bin_ / "axe-lsp"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m axe_lsp "$@"\n')
    command.chmod(0o755)
    home.environment["PATH"] = f"{bin_}{os.pathsep}{home.environment['PATH']}"
    return home


def script(home: Home, shell: str) -> Path:
    code, out, err = home.call("completion", shell)
    assert (code, err) == (0, "")
    path = home.work / f"script.{shell}"
    path.write_text(out)
    return path


def offered(home: Home, shell: str, line: str) -> list[str]:
    """Return what a shell offers at the end of a line."""
    if shutil.which(shell) is None:
        missing(shell, ".ci/install-shells")
    path = script(home, shell)
    words = [*line.split(), *([""] if line.endswith(" ") else [])]
    program = (
        BASH.format(
            script=path, words=" ".join(f"'{word}'" for word in words), number=len(words) - 1
        )
        if shell == "bash"
        else f"source {path}; complete -C '{line}'"
    )
    ended = subprocess.run(
        [shell, "-c", program],
        cwd=home.work,
        env=home.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stderr == ""
    return [each.partition("\t")[0] for each in ended.stdout.splitlines()]


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_commands_agents_options_and_models_are_offered(home: Home, shell: str) -> None:
    assert offered(home, shell, "axe-lsp chec") == ["check"]
    assert {"lead", "writer"} <= {*offered(home, shell, "axe-lsp run ")}
    assert "--model" in offered(home, shell, "axe-lsp run lead --mod")
    models = offered(home, shell, "axe-lsp run lead --model anthropic/claude-sonnet-5-")
    assert models == ["anthropic/claude-sonnet-5-5"]


def test_zsh_finds_the_script(home: Home) -> None:
    if shutil.which("zsh") is None:
        missing("zsh", ".ci/install-shells")
    folder = home.work / "functions"
    folder.mkdir()
    script(home, "zsh").rename(folder / "_axe-lsp")
    program = (
        f"fpath=({folder} $fpath) && autoload -Uz compinit && compinit -D -u && "
        "print $_comps[axe-lsp] && autoload +X _axe-lsp && print loaded"
    )
    ended = subprocess.run(
        ["zsh", "-fc", program], capture_output=True, text=True, check=False, env=home.environment
    )
    assert (ended.stdout, ended.stderr) == ("_axe-lsp\nloaded\n", "")


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["completion", "ksh"])
    assert left.value.code == 1
    assert "'ksh'" in capsys.readouterr().err


def test_names_are_those_by_which_agents_are_run(home: Home) -> None:
    (home.config / "agents" / "file.toml").write_text(agent("other")["other"])
    assert home.call("agents", "list", "--names") == (0, "file\nlead\nwriter\n", "")
