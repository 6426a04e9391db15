"""From the start of the process to the answer to `initialize`."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.contenders import (
    BARE,
    OURS,
    PEERS_PYTHON,
    PYTHON,
    STUB,
    TOMBI,
    environment,
    scratch_folder,
    start,
)
from benchmarks.results import Ratio, Row, Table
from benchmarks.timing import Measure, in_rounds, timed

_OUR_IMPORTS = """
from axe_lsp import tuning
tuning.command_begins()
import axe_lsp.cli.serve, axe_lsp.daemon.daemon, axe_lsp.lsp.server
tuning.command_ends()
"""
"""As `axe-lsp` does it: the garbage collection of Python would look through what is imported."""


def measure(rounds: int) -> Table:
    """Start servers, and processes that only import what the servers do."""
    table = Table(
        title="Start",
        note="The time from the start of the process to the answer to `initialize`, and the time of a "
        "process that only imports the server's modules. The stub is a Python program that imports "
        "only `json`.",
        unit="ms",
        contenders=[OURS, BARE, TOMBI, STUB],
        ratios=[Ratio(OURS, BARE, wanted=0.5), Ratio(OURS, STUB)],
    )
    with scratch_folder() as folder:
        servers = {name: _initialized(name, folder) for name in table.contenders}
        table.rows.append(Row("`initialize` answered", in_rounds(servers, rounds, warm_up=1)))
        imports = {
            OURS: _imported([PYTHON, "-c", _OUR_IMPORTS], folder),
            BARE: _imported([PEERS_PYTHON, "-c", "import pygls.lsp.server"], folder),
            STUB: _imported([PEERS_PYTHON, "-c", "import json, sys"], folder),
        }
        table.rows.append(Row("modules imported", in_rounds(imports, rounds, warm_up=1)))
    return table


def _initialized(contender: str, folder: Path) -> Measure:
    def run() -> float:
        clients = []

        def begin() -> None:
            clients.append(start(contender, folder))
            clients[0].initialize()

        took = timed(begin)
        clients[0].close()
        return took

    return run


def _imported(command: Sequence[str | Path], folder: Path) -> Measure:
    def run() -> None:
        subprocess.run(command, check=True, env=environment(folder))

    return lambda: timed(run)
