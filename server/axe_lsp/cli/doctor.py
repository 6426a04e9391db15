"""`axe-lsp doctor`: what a run needs of this machine and this folder, each with its next step."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import socket
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from axe_lsp import __version__
from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.schema.providers import PROVIDERS
from axe_lsp.agentfile.text.amounts import counted
from axe_lsp.cli.arguments import Parser
from axe_lsp.cli.streams import compact, is_coloured
from axe_lsp.cli.trust import trust_requests_at
from axe_lsp.hosting.history.database import history_file
from axe_lsp.runtime.agent_search import agent_search, ways_to_agents
from axe_lsp.runtime.errors import RunError
from axe_lsp.runtime.files.folders import config_folder
from axe_lsp.runtime.files.search_path import find_program
from axe_lsp.runtime.files.user_config import UserConfig, load_user_config, usable_config
from axe_lsp.runtime.plain_text import os_fault, shown_path, visible
from axe_lsp.runtime.safety.trust import TrustStore

Level = Literal["ok", "note", "warning", "fault"]

_MARKS = {
    "ok": ("ok     ", "32"),
    "note": ("-      ", "2"),
    "warning": ("warning", "33"),
    "fault": ("FAULT  ", "31"),
}

_PATIENCE = 3.0
"""Seconds that a provider has to accept a connection."""

_EXTRAS = {
    "mcp": "MCP servers and `axe-lsp mcp`",
    "opentelemetry-sdk": "telemetry",
    "distributed": "Dask",
}
_EXTRA_NAMES = {"mcp": "mcp", "opentelemetry-sdk": "otel", "distributed": "dask"}

_EDITORS = {"code": "vscode", "nvim": "neovim", "emacs": "emacs", "hx": "helix", "zed": "acp"}
"""Programs of editors, and the pages about their clients."""


class Finding(Struct, frozen=True):
    """One fact about the set-up; `next_step` is what helps, "" if nothing has to be done."""

    topic: str
    level: Level
    text: str
    next_step: str = ""


def main(arguments: Sequence[str]) -> int:
    """Print the findings; return 1 if one of them keeps agents from running."""
    options = _parser().parse_args(arguments)
    findings = list(_findings(asks_network=options.network))
    if options.json:
        print(compact([_as_json(each) for each in findings]))
    else:
        for each in findings:
            _print(each)
    return int(any(each.level == "fault" for each in findings))


def _findings(*, asks_network: bool) -> Iterator[Finding]:
    yield _python()
    yield from _packages()
    yield _configuration()
    config = usable_config(os.environ)
    yield from _keys(config)
    if asks_network:
        yield from _reachable(config)
    yield _ollama(config, asks_network=asks_network)
    yield from _programs()
    yield _history()
    yield from _folder()


def _python() -> Finding:
    system = f"{platform.system()} {platform.machine()}"
    text = f"axe-lsp {__version__} on Python {platform.python_version()}, {system}"
    return Finding("python", "ok", text)


def _packages() -> Iterator[Finding]:
    """Find required packages that are missing, and extras that are not installed."""
    try:
        lines = importlib.metadata.requires("axe-lsp") or []
    except importlib.metadata.PackageNotFoundError:
        yield Finding(
            "packages",
            "warning",
            "axe-lsp is not installed as a package",
            "Install it: `pip install .` in a clone.",
        )
        return
    required = [re.split(r"[^\w-]", line)[0] for line in lines if "extra ==" not in line]
    missing = [name for name in required if not _is_installed(name)]
    if missing:
        yield Finding(
            "packages", "fault", f"missing: {', '.join(missing)}", "Install axe-lsp again."
        )
    else:
        yield Finding("packages", "ok", f"{len(required)} packages")
    for name, purpose in _EXTRAS.items():
        if not _is_installed(name):
            extra = _EXTRA_NAMES[name]
            step = f"`pip install 'axe-lsp[{extra}]'` adds it, if you need it."
            yield Finding(
                "packages", "note", f"the extra {extra} is not installed ({purpose})", step
            )


def _is_installed(name: str) -> bool:
    try:
        importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _configuration() -> Finding:
    path = config_folder(os.environ) / "config.toml"
    try:
        load_user_config(os.environ)
        status = path.stat()
    except FileNotFoundError:
        return Finding("config", "ok", f"no {shown_path(path)}, which is not needed", "")
    except RunError as error:
        return Finding(
            "config", "fault", str(error), f"`axe-lsp check {shown_path(path)}` shows it."
        )
    except OSError as error:
        return Finding("config", "fault", os_fault(error), "Check the permissions of the file.")
    if os.name == "posix" and stat.S_IMODE(status.st_mode) & 0o077:
        return Finding(
            "config",
            "warning",
            f"others can read {shown_path(path)}",
            f"`chmod 600 {shown_path(path)}`",
        )
    return Finding("config", "ok", shown_path(path))


def _keys(config: UserConfig) -> Iterator[Finding]:
    """Yield the providers for which there is a key, and where it is; never the key."""
    names = [name for name in (*PROVIDERS, *config.named_providers()) if config.key_origin(name)]
    for name in names:
        yield Finding("keys", "ok", f"{visible(name)}: {config.key_origin(name)}")
    if not names:
        yield Finding(
            "keys",
            "warning",
            "there is no API key of any provider",
            "`axe-lsp config key anthropic` asks for one. Ollama needs none, and `axe-lsp demo` neither.",
        )


def _reachable(config: UserConfig) -> Iterator[Finding]:
    """Check whether the providers with keys accept connections at their configured addresses. Sends nothing."""
    for name in (*PROVIDERS, *config.named_providers()):
        row = config.provider(name)
        address = config.base_url(name) or (row.base_url if row is not None else "")
        if config.key_origin(name) and address:
            fault = _connection_fault(address)
            text = f"{visible(name)} at {_place(address)}"
            if fault:
                step = "Check the network, a proxy, and `base_url` in config.toml."
                yield Finding("network", "warning", f"{text}: {fault}", step)
            else:
                yield Finding("network", "ok", f"{text} accepts connections")


def _place(address: str) -> str:
    """Return host and port of an address, without user and password."""
    parts = urlsplit(address)
    return visible(f"{parts.hostname}:{_port(address)}")


def _port(address: str) -> int:
    parts = urlsplit(address)
    return parts.port or (443 if parts.scheme == "https" else 80)


def _connection_fault(address: str) -> str:
    try:
        host = urlsplit(address).hostname
        with socket.create_connection((host or "", _port(address)), timeout=_PATIENCE):
            return ""
    except (OSError, ValueError) as error:
        return os_fault(error) if isinstance(error, OSError) and error.strerror else str(error)


def _ollama(config: UserConfig, *, asks_network: bool) -> Finding:
    address = config.base_url("ollama") or PROVIDERS["ollama"].base_url
    is_local = urlsplit(address).hostname in ("localhost", "127.0.0.1", "::1")
    if not (is_local or asks_network):
        return Finding(
            "ollama", "note", f"{_place(address)} is another machine", "`--network` asks it."
        )
    if _connection_fault(address):
        step = "`ollama serve` starts it, if you want local models."
        return Finding("ollama", "note", f"not running at {_place(address)}", step)
    return Finding(
        "ollama", "ok", f"runs at {_place(address)}", "`axe-lsp models ollama` lists its models."
    )


def _programs() -> Iterator[Finding]:
    git = find_program("git", os.environ)
    if git:
        yield Finding("git", "ok", git)
    else:
        yield Finding(
            "git",
            "warning",
            "not found",
            "Install git: copies of folders and `test --changed` need it.",
        )
    ripgrep = find_program("rg", os.environ)
    if ripgrep:
        yield Finding("ripgrep", "ok", ripgrep)
    else:
        yield Finding(
            "ripgrep",
            "note",
            "not found; a slower search takes its place",
            "Install ripgrep for large projects.",
        )
    editors = {name: page for name, page in _EDITORS.items() if find_program(name, os.environ)}
    for name, page in editors.items():
        yield _client(name, page)
    if not editors:
        yield Finding(
            "editors",
            "note",
            "no editor with a client was found",
            "`axe-lsp help any-client` says how others connect.",
        )


def _client(editor: str, page: str) -> Finding:
    """Return an editor, with its client where that can be seen from outside."""
    if editor != "code":
        return Finding("editors", "ok", editor, f"`axe-lsp help {page}` describes its client.")
    home = Path(os.environ.get("HOME", ""))
    folders = [home / each / "extensions" for each in (".vscode", ".vscode-server")]
    if any(folder.glob("*axe-lsp*") for folder in folders if folder.is_dir()):
        return Finding("editors", "ok", "code, with the extension")
    return Finding(
        "editors",
        "note",
        "code, without the extension",
        f"`axe-lsp help {page}` says how it is installed.",
    )


def _history() -> Finding:
    path = history_file(os.environ)
    if not path.exists():
        return Finding("history", "ok", "no run is stored yet")
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            (state,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            (runs,) = connection.execute("SELECT count(*) FROM runs WHERE depth = 0").fetchone()
    except sqlite3.Error as error:
        state, runs = str(error), 0
    if state != "ok":
        return Finding(
            "history",
            "fault",
            f"{shown_path(path)}: {state}",
            "Move the file away; a new one is begun.",
        )
    size = path.stat().st_size / 2**20
    return Finding("history", "ok", f"{counted(runs, 'run')}, {size:.1f} MB, {shown_path(path)}")


def _folder() -> Iterator[Finding]:
    """Yield the agents of this folder, and what of them needs trust."""
    try:
        workspace = agent_search().workspace
        listed = list(agent_search().agents.list())
        workspace, requests = trust_requests_at(None)
    except RunError as error:
        yield Finding("agents", "fault", str(error), error.hint or "`axe-lsp check` shows more.")
        return
    for _, path, agent in listed:
        if not isinstance(agent, AgentDefinition):
            step = "`axe-lsp check` shows what is wrong."
            yield Finding("agents", "warning", f"{visible(str(path))} can't be run", step)
    count = sum(isinstance(agent, AgentDefinition) for _, _, agent in listed)
    step = "" if count else ways_to_agents([workspace])
    yield Finding(
        "agents",
        "ok" if count else "note",
        f"{counted(count, 'agent')} from {shown_path(workspace)}",
        step,
    )
    store = TrustStore(os.environ)
    open_requests = [each for each in requests if each.refused or not store.holds(each)]
    for request in open_requests:
        text = (
            f"{visible(request.agent)} reaches outside {shown_path(workspace)}, and is not trusted"
        )
        yield Finding("trust", "warning", text, "`axe-lsp trust` shows what, and allows it.")
    if not open_requests:
        yield Finding("trust", "ok", "nothing in this folder waits for your trust")


def _as_json(finding: Finding) -> dict[str, str]:
    step = {"nextStep": finding.next_step} if finding.next_step else {}
    return {"topic": finding.topic, "level": finding.level, "text": finding.text, **step}


def _print(finding: Finding) -> None:
    mark, colour = _MARKS[finding.level]
    shown = f"\x1b[{colour}m{mark}\x1b[0m" if is_coloured(sys.stdout, os.environ) else mark
    print(f"{shown}  {finding.topic:<9} {visible(finding.text)}")
    if finding.next_step:
        print(f"{'':<19} {visible(finding.next_step)}")


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp doctor",
        description="Check the set-up: Python, packages, keys (never their values), programs, history, and this folder. "
        "Nothing is sent. The exit code is 1 if something keeps agents from running.",
    )
    add: Callable[..., object] = parser.add_argument
    add(
        "--network",
        action="store_true",
        help="connect to the providers for which there is a key, too",
    )
    add("--json", action="store_true", help="print the findings as JSON")
    return parser
