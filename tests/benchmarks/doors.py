"""The doors of `axe-lsp acp` and `axe-lsp mcp` beside other agents that speak these protocols.

A contender is started in a folder of its own, asked once, and ended, in turns. Its agent has the
same model of the same provider, which answers at once: what remains is what the contender costs.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.client import StuckError
from benchmarks.contenders import (
    OURS,
    PEERS,
    PYTHON,
    ROOT,
    Command,
    environment,
    install_npm_peers,
    install_peers,
    scratch_folder,
)
from benchmarks.results import Ratio, Row, Table
from benchmarks.runs import provider
from benchmarks.timing import Sample, elapsed_ms, take_turns

Json = dict[str, Any]

OPENCODE = "opencode"
FAST_AGENT = "fast-agent"

_FILES = PEERS / "doors"
_INSTALLED = ROOT / ".cache" / "door-peers"
_AXE = PYTHON.with_name("axe-lsp")
_FAST_AGENT = _INSTALLED / "bin" / "fast-agent"
_OPENCODE = _INSTALLED / "node_modules" / ".bin" / "opencode"

_ACP: Mapping[str, Command] = {
    OURS: [_AXE, "acp"],
    OPENCODE: [_OPENCODE, "acp"],
    FAST_AGENT: [_FAST_AGENT, "--no-update-check", "acp", "--model", "generic.wait-0"],
}
_MCP: Mapping[str, Command] = {
    OURS: [_AXE, "mcp"],
    FAST_AGENT: [
        *(_FAST_AGENT, "--no-update-check", "serve", "--transport", "stdio"),
        *("--model", "generic.wait-0"),
    ],
}


@dataclass(frozen=True)
class Visit:
    """What one conversation took, in ms from the start of the process, and MB at its end.

    `again` is the time of a second question alone.
    """

    initialized: float
    ready: float
    answered: float
    again: float
    memory: float


def measure(rounds: int) -> Iterator[Table]:
    """Yield a conversation through each door, in turns."""
    _install()
    yield from measure_among((OURS, OPENCODE, FAST_AGENT), rounds)


def measure_among(contenders: Container[str], rounds: int) -> Iterator[Table]:
    """Yield the same of these contenders alone, which are installed."""
    with provider() as address, scratch_folder() as folder:
        yield _table(
            "Agent Client Protocol",
            "The time from the start of the process to the answers to `initialize` and `session/new`, and "
            "to the first piece of the answer to a prompt; and the time from a second prompt to the first "
            "piece of its answer.",
            _visits(_among(contenders, _ACP), _prompt, folder, address, rounds),
            ready="`session/new` answered",
            answered="first answer begun",
            again="second prompt",
        )
        yield _table(
            "Agents as an MCP server",
            "The time from the start of the process to the answers to `initialize` and `tools/list`, and "
            "to the result of a call of an agent; and the time from a second call to its result.",
            _visits(_among(contenders, _MCP), _call, folder, address, rounds),
            ready="`tools/list` answered",
            answered="result of a call",
            again="second call",
        )


def _table(
    title: str,
    note: str,
    visits: Mapping[str, Sequence[Visit]],
    *,
    ready: str,
    answered: str,
    again: str,
) -> Table:
    values: Mapping[str, Callable[[Visit], float]] = {
        "`initialize` answered, ms": lambda each: each.initialized,
        f"{ready}, ms": lambda each: each.ready,
        f"{answered}, ms": lambda each: each.answered,
        f"{again}, ms": lambda each: each.again,
        "memory of all its processes then, MB": lambda each: each.memory,
    }
    rows = [
        Row(what, {name: Sample(tuple(map(value, made))) for name, made in visits.items()})
        for what, value in values.items()
    ]
    names = list(visits)
    ratios = [Ratio(OURS, peer, wanted=1) for peer in names[1:]]
    return Table(title, note, "", names, ratios, rows)


def _visits(
    commands: Mapping[str, Command],
    converse: Callable[[Door, Path], Visit],
    folder: Path,
    address: str,
    rounds: int,
) -> dict[str, list[Visit]]:
    def visit(name: str) -> Visit:
        project = _project(folder / name, address)
        with _opened(commands[name], project, _variables(project, address)) as door:
            return converse(door, project)

    return take_turns({name: partial(visit, name) for name in commands}, rounds, warm_up=1)


def _among(contenders: Container[str], commands: Mapping[str, Command]) -> Mapping[str, Command]:
    """Return those of these contenders that are there."""
    return {
        name: command
        for name, command in commands.items()
        if name in contenders and Path(command[0]).exists()
    }


def _project(folder: Path, address: str) -> Path:
    """Return a folder with the agent of each contender. A second call leaves it as it is."""
    if not folder.exists():
        agents = folder / "axe" / "agents"
        agents.mkdir(parents=True)
        (agents / "helper.toml").write_text((_FILES / "helper.toml").read_text())
        settings = (_FILES / "opencode.json").read_text().replace("ADDRESS", f"{address}/v1")
        (folder / "opencode.json").write_text(settings)
    return folder


def _variables(folder: Path, address: str) -> dict[str, str]:
    return {
        **environment(folder),
        "OPENAI_API_KEY": "key",
        "AXE_OPENAI_BASE_URL": address,
        "GENERIC_API_KEY": "key",
        "GENERIC_BASE_URL": f"{address}/v1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    }


class Door:
    """A process that speaks JSON-RPC, a message a line."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.started = time.perf_counter()
        self._process = process
        self._log = log
        self._requests = 0

    def request(self, method: str, params: Json) -> Json:
        """Return the answer to a request."""
        return self.begin(method, params)()

    def begin(self, method: str, params: Json) -> Callable[[], Json]:
        """Send a request. What is returned waits for the answer."""
        self._requests += 1
        number = self._requests
        self._send({"id": number, "method": method, "params": params})

        def answer() -> Json:
            message = self._next(lambda each: each.get("id") == number and "method" not in each)
            assert "result" in message, message
            return dict(message["result"])

        return answer

    def wait_for(self, update: str) -> float:
        """Return when an update of this kind has arrived, in milliseconds since the start."""
        self._next(lambda each: update in json.dumps(each))
        return self.now()

    def notify(self, method: str) -> None:
        """Send a notification."""
        self._send({"method": method})

    def now(self) -> float:
        """Milliseconds since the start of the process."""
        return elapsed_ms(self.started)

    def memory(self) -> float:
        """Return the memory of the process and of those that it has started, in MB; shared pages count once."""
        return sum(map(_proportional, _tree(self._process.pid))) / 1024

    def _send(self, message: Json) -> None:
        assert self._process.stdin is not None
        line = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
        self._process.stdin.write(line.encode())
        self._process.stdin.flush()

    def _next(self, is_wanted: Callable[[Json], bool]) -> Json:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line) if line.startswith(b"{") else {}
            if is_wanted(message):
                return message
        raise StuckError(self._log.read_text("utf-8", "replace")[-2000:])


@contextmanager
def _opened(command: Command, folder: Path, variables: Mapping[str, str]) -> Iterator[Door]:
    log = folder / "log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        door = Door(process, log)
        try:
            yield door
        finally:
            for each in _tree(process.pid):
                os.kill(each, signal.SIGKILL)
            process.communicate()


def _prompt(door: Door, folder: Path) -> Visit:
    capabilities: Json = {"protocolVersion": 1, "clientCapabilities": {}}
    door.request("initialize", capabilities)
    initialized = door.now()
    session = door.request("session/new", {"cwd": str(folder), "mcpServers": []})["sessionId"]
    ready = door.now()
    prompt: Json = {"sessionId": session, "prompt": [{"type": "text", "text": "Go on."}]}

    def ask() -> float:
        wait_for_end = door.begin("session/prompt", prompt)
        began = door.wait_for("agent_message_chunk")
        wait_for_end()
        return began

    first = ask()
    asked = door.now()
    return Visit(initialized, ready, first, ask() - asked, door.memory())


def _call(door: Door, _folder: Path) -> Visit:
    client = {"name": "benchmark", "version": "1"}
    version: Json = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    door.request("initialize", version)
    initialized = door.now()
    door.notify("notifications/initialized")
    tool = door.request("tools/list", {})["tools"][0]
    ready = door.now()
    (required, *_) = tool["inputSchema"]["required"]
    call: Json = {"name": tool["name"], "arguments": {required: "Go on."}}

    def ask() -> float:
        result = door.request("tools/call", call)
        assert not result.get("isError"), result
        return door.now()

    first = ask()
    asked = door.now()
    return Visit(initialized, ready, first, ask() - asked, door.memory())


def _tree(process: int) -> list[int]:
    """Return a process and all below it."""
    found = [process]
    for each in found:
        try:
            children = Path(f"/proc/{each}/task/{each}/children").read_text()
        except OSError:
            continue
        found += map(int, children.split())
    return found


def _proportional(process: int) -> int:
    """KB of memory, of which a page shared by three processes counts a third."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def _install() -> None:
    python = _recent_python()
    if python is None:
        print(f"{FAST_AGENT} is left out: it needs Python 3.12 or newer", flush=True)
    else:
        install_peers(_FILES / "requirements.txt", _INSTALLED, python)
    install_npm_peers(_FILES / "package.json", _INSTALLED)


def _recent_python() -> Path | None:
    """Return an interpreter that fast-agent supports, on PATH or among pyenv's."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for minor in ("3.12", "3.13", "3.14"):
        names = [shutil.which(f"python{minor}"), *versions.glob(f"{minor}.*/bin/python")]
        for each in filter(None, names):
            # pyenv's own shims are commands also for versions that are not selected.
            probe = subprocess.run(
                [each, "-c", "import ensurepip"], capture_output=True, check=False
            )
            if probe.returncode == 0:
                return Path(each)
    return None
