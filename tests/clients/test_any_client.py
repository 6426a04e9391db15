"""What docs/any-client.md tells users of other clients to write is what those clients and the server understand."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tomli

from support.editors import PROJECT, clean_environment, missing, server_program
from support.raw_client import RawClient
from support.review_project import write_project
from support.scripted_provider import Says, ScriptedProvider

ALE = Path("/usr/share/vim-ale")
"""Where Debian puts it."""

# What a user does who opens a file and looks at it, until so many problems are shown or the time is over.
LOOK = """
set runtimepath^={ale}
runtime plugin/ale.vim
{snippet}
filetype on
edit {file}
let s:begun = reltime()
while len(ale#engine#GetLoclist(bufnr(''))) < {problems} && reltimefloat(reltime(s:begun)) < {patience}
  sleep 50m
endwhile
let s:found = map(copy(ale#engine#GetLoclist(bufnr(''))), 'v:val.lnum . " " . v:val.text')
call writefile([string(AxeRoot(bufnr('')))] + s:found, '{out}')
qall!
"""


PUSHED = "textDocument/publishDiagnostics"


def snippets(title: str) -> list[str]:
    """Return the examples in the section of the page that has this title."""
    page = (PROJECT / "docs" / "any-client.md").read_text("utf-8")
    _, _, section = page.partition(f"\n## {title}\n")
    return re.findall(r"```\w*\n(.*?)```", section.partition("\n## ")[0], re.DOTALL)


def snippet(title: str) -> str:
    """Return the only one."""
    (example,) = snippets(title)
    return example


def test_the_client_of_thirty_lines_has_the_session_of_the_page(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    client, session = snippets("A client of thirty lines")
    assert len([line for line in client.splitlines() if line.strip()]) <= 32
    project = tmp_path / "project ü"
    reviewer = project / "axe" / "agents" / "reviewer.toml"
    reviewer.parent.mkdir(parents=True)
    reviewer.write_text('name = "reviewer"\nmodel = "openai/m"\nsub_agents = ["lint"]\n')
    (tmp_path / "client.py").write_text(client, "utf-8")
    provider.script("m", Says("It is fine."))
    environment = clean_environment(tmp_path / "home", **provider.environment)
    environment["PATH"] = f"{_listening(tmp_path)}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        [sys.executable, tmp_path / "client.py", "axe/agents/reviewer.toml", "Look at a.py"],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    message = 'no agent file defines "lint"; calling it will fail.'
    assert f"{reviewer.as_uri()}:3: {message}\n" in done.stdout
    assert "It is fine." in done.stdout
    shown = re.findall(r"^([→←]) (.*(?:\n   .*)*)", session, re.MULTILINE)
    for arrow, way in (("→", "in"), ("←", "out")):
        real = _messages(tmp_path / way)
        # The last word about the file; what is pushed before depends on how fast the folder is read.
        pushed = [each for each in real if each.get("method") == PUSHED]
        real = _joined([each for each in real if each not in pushed])
        for written in _joined([json.loads(text) for by, text in shown if by == arrow]):
            _check(pushed[-1] if written.get("method") == PUSHED else real.pop(0), written)
        assert real == []


def _listening(folder: Path) -> Path:
    """Return a folder with an `axe-lsp` that writes down what it hears and says."""
    bin_ = folder / "bin"
    bin_.mkdir()
    program = bin_ / "axe-lsp"
    program.write_text(
        f'#!/bin/sh\ntee "{folder}/in" | {server_program()} "$@" | tee "{folder}/out"\n', "utf-8"
    )
    program.chmod(0o755)
    return bin_


def _messages(log: Path) -> list[Any]:
    found, rest = [], log.read_bytes()
    while rest:
        head, _, rest = rest.partition(b"\r\n\r\n")
        size = int(head.split(b":")[1])
        found.append(json.loads(rest[:size]))
        rest = rest[size:]
    return found


def _joined(messages: list[Any]) -> list[Any]:
    """Return the same with one piece of a text, however many came."""
    found: list[Any] = []
    for each in messages:
        if each.get("method") == "axe/text" == (found and found[-1].get("method")):
            found[-1]["params"]["delta"] += each["params"]["delta"]
        else:
            found.append(each)
    return found


def _check(real: Any, written: Any) -> None:
    """Everything that is written is so; `…` stands for anything, and members may be left out."""
    if isinstance(written, dict):
        for name, value in written.items():
            _check(real[name], value)
    elif isinstance(written, list):
        for one, other in zip(real, written, strict=True):
            _check(one, other)
    elif written != "…":
        assert real == written


@pytest.mark.editor
def test_ale_checks_agents_and_leaves_other_files_alone(tmp_path: Path) -> None:
    manager = write_project(tmp_path / "project")
    other = tmp_path / "project" / "other.toml"
    other.write_text("max_depth = 6\n", encoding="utf-8")
    root, *found = _looked_at_with_ale(manager, tmp_path / "home", problems=3, patience=60)
    assert root == repr(str(tmp_path / "project"))
    assert [line.partition(" ")[0] for line in sorted(found)] == ["12", "8", "9"]
    assert _looked_at_with_ale(other, tmp_path / "home", problems=1, patience=0.5) == ["''"]


def _looked_at_with_ale(file: Path, home: Path, problems: int, patience: float) -> list[str]:
    """Return the project that ALE finds for a file, and the problems that it shows: so many, it is expected."""
    nvim = shutil.which("nvim")
    if nvim is None or not ALE.exists():
        missing("Neovim with ALE", ".ci/install-neovim")
    environment = clean_environment(home, OPENAI_API_KEY="none")
    environment["PATH"] = f"{server_program().parent}{os.pathsep}{environment['PATH']}"
    script, out = home / "look.vim", home / "out"
    expected = {"problems": problems, "patience": patience}
    example = snippet("Vim, with ALE")
    text = LOOK.format(ale=ALE, snippet=example, file=file, out=out, **expected)
    script.write_text(text, encoding="utf-8")
    command = [nvim, "--clean", "--headless", "-S", str(script), "-c", "cquit 9"]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return out.read_text("utf-8").splitlines()


def _commands() -> dict[str, list[str]]:
    sublime = json.loads(snippet("Sublime Text, with the package LSP"))["clients"]["axe-lsp"]
    kate = json.loads(snippet("Kate"))["servers"]["toml"]
    coc = json.loads(snippet("Vim and Neovim, with coc.nvim"))["languageserver"]["axe-lsp"]
    inner = re.findall(r"lsp_servers %\{\n(.*?)\n  \}", snippet("Kakoune, with kakoune-lsp"), re.S)
    ((name, kakoune),) = tomli.loads(inner[0]).items()
    return {
        "sublime": sublime["command"],
        "kate": kate["command"],
        "coc": [coc["command"], *coc["args"]],
        "kakoune": [name, *kakoune["args"]],
    }


@pytest.mark.parametrize("client", ["sublime", "kate", "coc", "kakoune"])
def test_the_command_of_each_example_starts_the_server(
    client: str, provider: ScriptedProvider, tmp_path: Path
) -> None:
    program, *options = _commands()[client]
    assert program == server_program().name
    command = [str(server_program()), *options]
    with RawClient.spawn(command, env=provider.environment, cwd=tmp_path) as raw:
        answer = raw.request("initialize", {"capabilities": {}, "rootUri": tmp_path.as_uri()})
    assert answer["serverInfo"]["name"] == "axe-lsp"
