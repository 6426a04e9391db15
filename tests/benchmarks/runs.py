"""What a run costs beside the model: per turn, and where many children work at once."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from benchmarks.contenders import OURS, PEERS, PEERS_PYTHON, PYTHON
from benchmarks.results import Ratio, Row, Table
from benchmarks.timing import in_rounds

BARE_LOOP = "bare httpx-aiohttp"

_CONVERSATIONS = {
    "50 turns with a tool call each": "turns-50",
    "100 children at once, 50 ms each": "fan-100",
}


def measure(rounds: int) -> Table:
    """Make the same conversations in turns."""
    table = Table(
        title="Runs",
        note="A whole run against a provider on the same machine that answers at once, apart from the "
        "50 ms that each child waits. axe-lsp's engine, with every event heard, beside the shortest loop "
        "around httpx on aiohttp.",
        unit="ms",
        contenders=[OURS, BARE_LOOP],
        ratios=[Ratio(OURS, BARE_LOOP)],
    )
    with ExitStack() as stack:
        provider = stack.enter_context(_process([PEERS_PYTHON, PEERS / "scripted_provider.py"]))
        address = f"http://127.0.0.1:{_line(provider)}"
        loops = {
            OURS: stack.enter_context(_process([PYTHON, PEERS / "axe_loop.py", address])),
            BARE_LOOP: stack.enter_context(
                _process([PEERS_PYTHON, PEERS / "bare_loop.py", address])
            ),
        }
        for what, model in _CONVERSATIONS.items():
            runs = {name: partial(_run, loop, model) for name, loop in loops.items()}
            table.rows.append(Row(what, in_rounds(runs, rounds)))
    return table


Process = subprocess.Popen[str]


@contextmanager
def _process(command: Sequence[str | Path]) -> Iterator[Process]:
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _run(loop: Process, model: str) -> float:
    """The milliseconds that a process says it took for a conversation."""
    assert loop.stdin is not None
    loop.stdin.write(f"{model}\n")
    loop.stdin.flush()
    return float(_line(loop))


def _line(process: Process) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()
