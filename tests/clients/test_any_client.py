"""What docs/any-client.md tells users of other clients to write is what those clients and the server understand."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import tomli

from support.editors import PROJECT, clean_environment, missing, server_program
from support.raw_client import RawClient
from support.review_project import write_project
from support.scripted_provider import ScriptedProvider

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


def snippet(title: str) -> str:
    """The example in the section of the page that has this title."""
    page = (PROJECT / "docs" / "any-client.md").read_text("utf-8")
    _, _, section = page.partition(f"\n## {title}\n")
    (example,) = re.findall(r"```\w*\n(.*?)```", section.partition("\n## ")[0], re.DOTALL)
    return str(example)


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
    """The project that ALE finds for a file, and the problems that it shows: so many, it is expected."""
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
