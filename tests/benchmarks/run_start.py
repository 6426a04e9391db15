"""From the start of `axe-lsp run` to the moment at which its first request has been sent."""

from __future__ import annotations

import ctypes
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from benchmarks.contenders import OURS, PYTHON, environment, scratch_folder
from benchmarks.results import Ratio, Row, Table
from benchmarks.timing import Sample, elapsed_ms, take_turns

_NOTHING = "Python that does nothing"
_LIBRARIES = "Python that imports libraries"

_IMPORTS = "import gc; gc.disable(); import asyncio, msgspec, anyio, h11, tomli, argparse; anyio.run(anyio.sleep, 0)"
"""What no request can do without: msgspec for data, the others for the request, the agent file and the command line."""

_PROCESSOR = "processor time until it"

_WANTED = 1.0
"""Of e4d4142a, with aiohttp, it is 1.6; 0.6 of that is wanted."""

_AGENT = 'name = "agent"\nmodel = "openai/m"\nsystem_prompt = "You answer questions."\n'

_Took = tuple[float, "float | None"]
"""Milliseconds, and those of a processor, where the system tells them."""


def measure(rounds: int) -> Table:
    """Run an agent whose provider is a socket of ours."""
    with scratch_folder() as folder, socket.create_server(("127.0.0.1", 0)) as provider:
        agents = folder / "axe" / "agents"
        agents.mkdir(parents=True)
        (agents / "agent.toml").write_text(_AGENT)
        measures: Mapping[str, Callable[[], _Took]] = {
            OURS: partial(_until_asked, folder, provider),
            _LIBRARIES: partial(_until_over, _IMPORTS),
            _NOTHING: partial(_until_over, "pass"),
        }
        results = take_turns(measures, rounds, warm_up=1)
    samples = {name: Sample(tuple(took for took, _ in values)) for name, values in results.items()}
    table = Table(
        title="Start of a run",
        note="The time from the start of `axe-lsp run` until the provider has received the first request, "
        "compared with a Python process that does nothing (target: at most 150 ms more), and with one that imports "
        "the libraries which each run needs (asyncio, msgspec, anyio, h11, tomli, argparse) and runs an empty event loop. "
        "Processor time includes the processes that have been started. With aiohttp it was 1.6 times that of the "
        "libraries, and 0.6 of that is wanted, which is no more than the libraries take.",
        unit="ms",
        contenders=[OURS, _LIBRARIES, _NOTHING],
        ratios=[Ratio(OURS, _LIBRARIES, {_PROCESSOR: _WANTED}), Ratio(OURS, _NOTHING)],
        rows=[Row("first request", {**samples})],
    )
    processor = {
        name: Sample(tuple(used for _, used in values if used is not None))
        for name, values in results.items()
    }
    if all(sample.values for sample in processor.values()):
        table.rows.append(Row(_PROCESSOR, {**processor}))
    return table


def _until_over(code: str) -> _Took:
    started = time.perf_counter()
    process = subprocess.Popen([PYTHON, "-c", code])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return elapsed_ms(started), (usage.ru_utime + usage.ru_stime) * 1000


def _until_asked(folder: Path, provider: socket.socket) -> _Took:
    address = "http://{}:{}".format(*provider.getsockname())
    own = {**environment(folder), "OPENAI_API_KEY": "key", "AXE_OPENAI_BASE_URL": address}
    command = [PYTHON.with_name("axe-lsp"), "run", "agent", "--prompt", "Go on."]
    started = time.perf_counter()
    with subprocess.Popen(command, cwd=folder, env=own, stdout=subprocess.DEVNULL) as process:
        connection, _ = provider.accept()
        with connection:
            connection.recv(1 << 16)
            used = _processor_ms(process.pid)
            took = elapsed_ms(started)
            connection.sendall(_answer())
            process.wait()
    return took, used


def _processor_ms(pid: int) -> float | None:
    """Return the processor time so far of a process and of those that it has started, with all their threads."""
    if sys.platform != "linux":
        return None
    clock = ctypes.c_int()
    if ctypes.CDLL(None).clock_getcpuclockid(pid, ctypes.byref(clock)):
        return None
    threads = Path(f"/proc/{pid}/task").iterdir()
    started = [child for each in threads for child in (each / "children").read_text().split()]
    own = time.clock_gettime(clock.value) * 1000
    return own + sum(_processor_ms(int(child)) or 0 for child in started)


def _answer() -> bytes:
    choice = {"message": {"content": "Done."}, "finish_reason": "stop"}
    body = json.dumps({"choices": [choice]}).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b" % (
        len(body),
        body,
    )
