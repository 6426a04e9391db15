"""Who is measured: axe-lsp as it is installed here, and its peers from PyPI in an environment of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from axe_lsp.agentfile.schema.agent_keys import AGENT
from axe_lsp.agentfile.schema.published_schema import json_schema
from benchmarks.client import Client

ROOT = Path(__file__).resolve().parents[2]
PEERS = Path(__file__).parent / "peers"

_ENVIRONMENT = ROOT / ".cache" / "benchmark-peers"
_REQUIREMENTS = PEERS / "requirements.txt"

Command = Sequence[str | Path]

OURS = "axe-lsp"
BARE = "bare pygls"
BARE_TOMLI = "bare pygls + tomli"
TOMBI = "tombi"
TAPLO = "taplo"
STUB = "stub"

PYTHON = Path(sys.executable)
PEERS_PYTHON = _ENVIRONMENT / "bin" / "python"

COMMANDS: dict[str, Command] = {
    OURS: [PYTHON.with_name("axe-lsp"), "--stdio"],
    BARE: [PEERS_PYTHON, PEERS / "bare_server.py"],
    BARE_TOMLI: [PEERS_PYTHON, PEERS / "tomli_server.py"],
    TOMBI: [_ENVIRONMENT / "bin" / "tombi", "lsp", "--offline"],
    STUB: [PEERS_PYTHON, PEERS / "stub_server.py"],
}

CHECKERS: dict[str, Command] = {
    OURS: [PYTHON.with_name("axe-lsp"), "check"],
    TOMBI: [_ENVIRONMENT / "bin" / "tombi", "lint", "--offline"],
    TAPLO: [_ENVIRONMENT / "bin" / "taplo", "lint"],
}


def install_peers(
    requirements: Path = _REQUIREMENTS, into: Path = _ENVIRONMENT, python: Path = PYTHON
) -> None:
    """Make an environment of peers, unless it is there and as its requirements say."""
    wanted, stamp = requirements.read_text(), into / "requirements.txt"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print(f"installing the peers into {into.relative_to(ROOT)} …", flush=True)
    subprocess.run([python, "-m", "venv", "--clear", into], check=True)
    command: Command = [
        into / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--quiet",  # Not even warnings about where it looked.
        "--only-binary=:all:",
        "--requirement",
        requirements,
    ]
    subprocess.run(command, check=True)
    stamp.write_text(wanted)


def install_npm_peers(wanted: Path, into: Path) -> None:
    """Install what a package.json names into a folder, unless it is there."""
    there, modules = into / "package.json", into / "node_modules"
    is_complete = (modules / ".package-lock.json").exists()  # What npm writes last.
    if is_complete and there.exists() and there.read_text() == wanted.read_text():
        return
    shutil.rmtree(modules, ignore_errors=True)
    shutil.copy(wanted, there)
    npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--no-package-lock"]
    subprocess.run(npm, cwd=into, check=True)


def start(contender: str, folder: Path) -> Client:
    """Return a server at work in `folder`, with a home in which there is nothing."""
    return Client(COMMANDS[contender], folder, environment(folder))


def environment(folder: Path) -> dict[str, str]:
    """Our own variables, but nothing of the user's; and a key, so that no agent lacks one."""
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    home = folder / ".home"
    places = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    own = {"HOME": str(home), "ANTHROPIC_API_KEY": "of nobody"}
    return {**ours, **own, **{name: str(home / name) for name in places}}


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Provide a folder that goes away again, in which tombi and taplo find a schema of agent files."""
    with TemporaryDirectory(prefix="axe-lsp-benchmarks-") as name:
        folder = Path(name)
        (folder / "agent.schema.json").write_text(json.dumps(json_schema(AGENT)))
        (folder / "tombi.toml").write_text(_TOMBI)
        (folder / ".taplo.toml").write_text(_TAPLO)
        yield folder


_TOMBI = """\
[[schemas]]
path = "agent.schema.json"
include = ["**/axe/agents/*.toml"]
"""

_TAPLO = """\
include = ["**/axe/agents/*.toml"]
[schema]
path = "agent.schema.json"
enabled = true
"""
