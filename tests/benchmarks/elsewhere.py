"""Agents in processes of their own, and in copies on the workers of a cluster, beside the tasks of such clusters.

All processes are on this machine: a scheduler of Dask and its workers, with TLS on loopback. Each worker executes one
command at a time, which sleeps, so that workers do not compete for processors.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from axe_lsp.agentfile.text.addresses import dask_host
from axe_lsp.hosting.places import tool_protocol
from axe_lsp.hosting.places.dask import dask_channel
from axe_lsp.runtime.files.execution import Dask
from benchmarks.contenders import OURS, PEERS, PYTHON, ROOT, Command, install_peers
from benchmarks.results import Ratio, Row, Table
from benchmarks.runs import make_in_turns, process, provider, sample
from benchmarks.timing import Sample, elapsed_ms, in_rounds
from support.clusters import Cluster

_DASK, _RAY, _IDEAL, _SOCKET = "tasks of Dask", "tasks of Ray", "ideal", "plain socket"
_INLINE = "in one process"

_MILLISECONDS = 500
"""Of a command."""

_FOR_EVER = 3_600_000
_MESSAGES = 2_000
_CHILDREN = 40
_RAY_INSTALLED = ROOT / ".cache" / "ray"


def measure(workers: Sequence[int], commands: int, waiting: int, rounds: int) -> Iterator[Table]:
    """Processes, commands on workers, agents that wait for one, and messages."""
    install_peers(PEERS / "ray" / "requirements.txt", _RAY_INSTALLED)
    yield from measure_among((OURS, _DASK, _RAY), workers, commands, waiting, rounds)


def measure_among(
    names: Sequence[str], workers: Sequence[int], commands: int, waiting: int, rounds: int
) -> Iterator[Table]:
    """Yield the same with some of the contenders."""
    with provider() as address:
        yield _processes(address, rounds)
        yield _commands(names, address, workers, commands)
        yield _waiting(address, waiting)
    yield _messages(rounds)


def _processes(address: str, rounds: int) -> Table:
    commands: dict[str, Command] = {
        OURS: [PYTHON, PEERS / "axe_loop.py", address, "process"],
        _INLINE: [PYTHON, PEERS / "axe_loop.py", address],
    }
    with ExitStack() as stack:
        loops = {name: stack.enter_context(process(each)) for name, each in commands.items()}
        made = make_in_turns(loops, f"fan-{_CHILDREN}", rounds)
    return Table(
        title="Agents in processes of their own",
        note="The time of a run from the order to its end. An agent calls many agents in one answer, and "
        "each of them sends a request to a provider that takes 50 ms to answer. Each called agent has "
        "its own process, or all are executed in one process.",
        unit="ms",
        contenders=(OURS, _INLINE),
        ratios=[Ratio(OURS, _INLINE)],
        rows=[Row(f"{_CHILDREN} children", sample(made, lambda one: one.milliseconds))],
    )


def _commands(names: Sequence[str], address: str, workers: Sequence[int], commands: int) -> Table:
    """One round: nearly all of a time is that of the commands, and a round of all takes three minutes."""
    rows = []
    for number in workers:
        with _cluster(number) as cluster:
            contenders: dict[str, Callable[[], float]] = {
                OURS: partial(_agents, cluster, address, "run", commands, _MILLISECONDS),
                _DASK: partial(_told, _dask(cluster, commands)),
                _RAY: partial(_told, _ray(number, commands)),
            }
            wanted = {name: contenders[name] for name in names}
            samples = in_rounds(wanted, 1, warm_up=0)
        samples[_IDEAL] = Sample((commands * _MILLISECONDS / number,))
        rows.append(Row(f"{number} worker{'s' if number > 1 else ''}", {**samples}))
    return Table(
        title="Agents on other machines",
        note=f"The time of a run from the order to its end. An agent calls {commands} agents at the same "
        "time. Each of them works in its own copy on a worker of Dask and executes a command that "
        f"takes {_MILLISECONDS} ms; a worker executes one command at a time. The provider answers at "
        "once. The time includes making the copies and applying their changes. The tasks of Dask and "
        "Ray are the commands alone. The ideal time is that of the commands, divided by the number of "
        "workers.",
        unit="ms",
        contenders=(*names, _IDEAL),
        ratios=[Ratio(OURS, _IDEAL, wanted=1.35), *(Ratio(OURS, each) for each in names[1:])],
        rows=rows,
    )


def _waiting(address: str, waiting: int) -> Table:
    with _cluster(1) as cluster:
        grown = _agents(cluster, address, "wait", waiting, _FOR_EVER)
    return Table(
        title="Agents that wait for a machine",
        note="The growth of the process that makes the run, while all of its agents but one wait for the "
        "only slot of a worker. Each agent has its own copy. Target: less than 100 MB for 200 agents.",
        unit="MB",
        contenders=(OURS,),
        ratios=[],
        rows=[Row(f"{waiting} agents", {OURS: Sample((grown,))})],
    )


def _messages(rounds: int) -> Table:
    with _cluster(1) as cluster:
        server = [PYTHON, PEERS / "line_server.py"]
        with subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as plain:
            try:
                assert plain.stdout is not None
                port = int(plain.stdout.readline())
                ours = asyncio.run(_through_worker(cluster, rounds))
                theirs = asyncio.run(_through_socket(port, rounds))
            finally:
                plain.kill()
    return Table(
        title="Messages to another machine",
        note="The time from a message of a run to `axe-lsp hands`, behind a worker of Dask and over TLS, "
        f"until its answer has arrived. The second row is the time for each of {_MESSAGES:,} messages "
        "that are sent without waiting for answers. For comparison, the same lines are sent through a "
        "plain socket, and a process with asyncio returns them.",
        unit="ms",
        contenders=(OURS, _SOCKET),
        ratios=[Ratio(OURS, _SOCKET)],
        rows=[
            Row(what, {OURS: our, _SOCKET: their})
            for what, our, their in zip(("one", "one of many"), ours, theirs, strict=True)
        ],
    )


@contextmanager
def _cluster(workers: int) -> Iterator[Cluster]:
    with TemporaryDirectory(prefix="axe-lsp-benchmarks-") as name:
        cluster = Cluster(Path(name) / "cluster")
        try:
            cluster.start(*(f"worker{number}" for number in range(workers)))
            yield cluster
        finally:
            cluster.end()


def _agents(cluster: Cluster, address: str, kind: str, count: int, milliseconds: int) -> float:
    with TemporaryDirectory(prefix="axe-lsp-benchmarks-") as name:
        home = Path(name)
        cluster.configure(home / "config", "slots = 1\n")
        project = home / "project"
        project.mkdir()
        places = {each: str(home / each) for each in ("data", "state", "cache", "config")}
        own = {
            **os.environ,
            **{f"XDG_{each.upper()}_HOME": folder for each, folder in places.items()},
            "HOME": name,
            "AXE_OPENAI_BASE_URL": address,
            "OPENAI_API_KEY": "key",
        }
        loop = PEERS / "elsewhere_loop.py"
        return _told([PYTHON, loop, kind, str(count), str(milliseconds), project], own)


def _dask(cluster: Cluster, commands: int) -> Command:
    files = [cluster.folder / name for name in ("own-ca.pem", "own.pem", "own.key")]
    numbers = (str(commands), str(_MILLISECONDS))
    return [PYTHON, PEERS / "dask_tasks.py", cluster.address, *files, *numbers]


def _ray(workers: int, commands: int) -> Command:
    python, program = _RAY_INSTALLED / "bin" / "python", PEERS / "ray" / "ray_tasks.py"
    return [python, program, *map(str, (workers, commands, _MILLISECONDS))]


def _told(command: Command, environment: dict[str, str] | None = None) -> float:
    """Return the number that a process prints last."""
    done = subprocess.run(
        command, env=environment, check=True, stdout=subprocess.PIPE, stderr=sys.stderr, text=True
    )
    return float(done.stdout.split()[-1])


_PING = tool_protocol.encode(tool_protocol.Ping())


async def _through_worker(cluster: Cluster, rounds: int) -> tuple[Sample, Sample]:
    scheduler = dask_host(cluster.address)
    files = (str(cluster.folder / name) for name in ("own-ca.pem", "own.pem", "own.key"))
    channel = await dask_channel(dask_host(cluster.worker("worker0")), Dask(scheduler, *files))
    lines = channel.lines()
    await anext(lines)
    await channel.send(tool_protocol.encode(tool_protocol.Hello(tool_protocol.WIRE)))
    samples = await _measured(channel.send, lambda: anext(lines), rounds)
    await channel.end(0)
    return samples


async def _through_socket(port: int, rounds: int) -> tuple[Sample, Sample]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    async def send(line: bytes) -> None:
        writer.write(line + b"\n")
        await writer.drain()

    samples = await _measured(send, reader.readline, rounds)
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return samples


async def _measured(
    send: Callable[[bytes], Awaitable[None]], receive: Callable[[], Awaitable[bytes]], rounds: int
) -> tuple[Sample, Sample]:
    """Return the milliseconds of a message and its answer, and of one of many."""
    alone, together = [], []
    for _ in range(50 * rounds):
        started = time.perf_counter()
        await send(_PING)
        await receive()
        alone.append(elapsed_ms(started))

    async def send_all() -> None:
        for _ in range(_MESSAGES):
            await send(_PING)

    for _ in range(rounds):
        started = time.perf_counter()
        sending = asyncio.ensure_future(send_all())
        for _ in range(_MESSAGES):
            await receive()
        await sending
        together.append(elapsed_ms(started) / _MESSAGES)
    return Sample(tuple(alone)), Sample(tuple(together))
