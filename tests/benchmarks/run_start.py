"""From the start of `axe-lsp run` to the moment at which its first request has been sent."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from functools import partial
from pathlib import Path

from benchmarks.contenders import OURS, PYTHON, environment, scratch_folder
from benchmarks.results import Ratio, Row, Table
from benchmarks.timing import elapsed_ms, in_rounds, timed

_NOTHING = "Python that does nothing"

_AGENT = 'name = "agent"\nmodel = "openai/m"\nsystem_prompt = "You answer questions."\n'


def measure(rounds: int) -> Table:
    """Run an agent whose provider is a socket of ours."""
    with scratch_folder() as folder, socket.create_server(("127.0.0.1", 0)) as provider:
        agents = folder / "axe" / "agents"
        agents.mkdir(parents=True)
        (agents / "agent.toml").write_text(_AGENT)
        measures = {
            OURS: partial(_until_asked, folder, provider),
            _NOTHING: partial(timed, partial(subprocess.run, [PYTHON, "-c", "pass"], check=True)),
        }
        samples = in_rounds(measures, rounds, warm_up=1)
    return Table(
        title="Start of a run",
        note="The time from the start of `axe-lsp run` until the provider has received the first request, "
        "compared with a Python process that does nothing. Target: at most 150 ms more than that "
        "process.",
        unit="ms",
        contenders=[OURS, _NOTHING],
        ratios=[Ratio(OURS, _NOTHING)],
        rows=[Row("first request", {**samples})],
    )


def _until_asked(folder: Path, provider: socket.socket) -> float:
    address = "http://{}:{}".format(*provider.getsockname())
    own = {**environment(folder), "OPENAI_API_KEY": "key", "AXE_OPENAI_BASE_URL": address}
    command = [PYTHON.with_name("axe-lsp"), "run", "agent", "--prompt", "Go on."]
    started = time.perf_counter()
    with subprocess.Popen(command, cwd=folder, env=own, stdout=subprocess.DEVNULL) as process:
        connection, _ = provider.accept()
        with connection:
            connection.recv(1 << 16)
            took = elapsed_ms(started)
            connection.sendall(_answer())
            process.wait()
    return took


def _answer() -> bytes:
    choice = {"message": {"content": "Done."}, "finish_reason": "stop"}
    body = json.dumps({"choices": [choice]}).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b" % (
        len(body),
        body,
    )
