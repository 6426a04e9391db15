"""Chooses what is measured, how thoroughly, and where the results go."""

from __future__ import annotations

import argparse
import compileall
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

from benchmarks import (
    agent_tests,
    checking,
    doors,
    durability,
    elsewhere,
    endurance,
    history,
    keystrokes,
    long_runs,
    markdown_agents,
    problems,
    questions,
    requests,
    run_log,
    run_start,
    runs,
    start,
    typing_during_runs,
    wires,
    workspaces,
)
from benchmarks.client import StuckError
from benchmarks.contenders import ROOT, install_peers
from benchmarks.machine import Machine, this_machine
from benchmarks.results import Table, as_json, as_markdown

_PAGE = ROOT / "docs" / "benchmarks.md"
_JSON = ROOT / ".cache" / "benchmarks.json"


@dataclass(frozen=True)
class Effort:
    """How thoroughly to measure."""

    starts: int
    keystrokes: int
    sizes: tuple[int, ...]
    workspaces: tuple[int, ...]
    documents: int
    edits: int
    bursts: int
    runs: int
    fans: tuple[int, ...]
    largest_fans: int
    cases: tuple[int, ...]
    workers: tuple[int, ...]
    commands: int
    waiting: int
    logs: tuple[int, int]


_FULL = Effort(
    starts=20,
    keystrokes=60,
    sizes=(1_000, 100_000, 1_000_000),
    workspaces=(10, 1_000, 10_000),
    documents=1_000,
    edits=30_000,
    bursts=5,
    runs=10,
    fans=(10, 100, 1_000),
    largest_fans=3,
    cases=(1, 100, 1_000),
    workers=(1, 2, 4),
    commands=60,
    waiting=200,
    logs=(10_000, 1_000),
)
_QUICK = Effort(
    starts=2,
    keystrokes=8,
    sizes=(1_000, 100_000),
    workspaces=(10, 300),
    documents=50,
    edits=500,
    bursts=1,
    runs=2,
    fans=(10,),
    largest_fans=0,
    cases=(1, 10),
    workers=(1, 2),
    commands=4,
    waiting=4,
    logs=(200, 10),
)


def _start(effort: Effort) -> Iterator[Table]:
    yield start.measure(effort.starts)


def _keystrokes(effort: Effort) -> Iterator[Table]:
    yield keystrokes.measure(effort.sizes, effort.keystrokes)
    yield from problems.measure(effort.bursts)


def _workspaces(effort: Effort) -> Iterator[Table]:
    with workspaces.workspaces(effort.workspaces) as found:
        yield workspaces.measure_keystrokes(found, effort.keystrokes)
        yield workspaces.measure_keystrokes_while_reading(found, effort.bursts)
        yield questions.measure(found, effort.starts)
        yield from workspaces.measure_start(found, effort.bursts)
        yield workspaces.measure_memory(found)


def _markdown(effort: Effort) -> Iterator[Table]:
    yield from markdown_agents.measure(effort.workspaces[-1], effort.keystrokes, effort.bursts)


def _requests(effort: Effort) -> Iterator[Table]:
    yield requests.measure(effort.keystrokes)


def _endurance(effort: Effort) -> Iterator[Table]:
    yield endurance.measure_burst(effort.documents, effort.bursts)
    yield endurance.measure_memory(effort.documents, effort.edits)


def _checking(effort: Effort) -> Iterator[Table]:
    yield checking.measure(effort.workspaces[1:], effort.bursts)


def _runs(effort: Effort) -> Iterator[Table]:
    yield from runs.measure(effort.runs, effort.fans, effort.largest_fans)


def _durability(effort: Effort) -> Iterator[Table]:
    yield durability.measure(effort.runs // 2, effort.fans)


def _beside_runs(effort: Effort) -> Iterator[Table]:
    yield run_start.measure(effort.starts)
    yield typing_during_runs.measure(effort.bursts)


def _long_runs(effort: Effort) -> Iterator[Table]:
    yield long_runs.measure(effort.runs)


def _wires(effort: Effort) -> Iterator[Table]:
    yield wires.measure(effort.runs)


def _agent_tests(effort: Effort) -> Iterator[Table]:
    yield agent_tests.measure(effort.cases, effort.bursts)


def _doors(effort: Effort) -> Iterator[Table]:
    yield from doors.measure(effort.bursts)


def _elsewhere(effort: Effort) -> Iterator[Table]:
    yield from elsewhere.measure(effort.workers, effort.commands, effort.waiting, effort.bursts)


def _history(effort: Effort) -> Iterator[Table]:
    yield history.measure(effort.runs)


def _run_log(effort: Effort) -> Iterator[Table]:
    yield run_log.measure(*effort.logs, min(effort.bursts, 3))


_PARTS: dict[str, Callable[[Effort], Iterator[Table]]] = {
    "start": _start,
    "keystrokes": _keystrokes,
    "workspaces": _workspaces,
    "markdown": _markdown,
    "requests": _requests,
    "endurance": _endurance,
    "checking": _checking,
    "runs": _runs,
    "durability": _durability,
    "beside-runs": _beside_runs,
    "long-runs": _long_runs,
    "wires": _wires,
    "history": _history,
    "runlog": _run_log,
    "agent-tests": _agent_tests,
    "doors": _doors,
    "elsewhere": _elsewhere,
}

_NOT_QUICK = {"doors", "elsewhere"}
"""Parts whose peers are 300 and 700 MB: with `--quick` only if they are asked for."""


def main() -> None:
    """Measure, and print each table as soon as it is there."""
    options = _parser().parse_args()
    install_peers()
    # As installers do, with whatever they install; nobody else would, where Python is told not to write bytecode.
    compileall.compile_dir(ROOT / "server", quiet=1)
    machine = this_machine()
    tables = []
    usual = [part for part in _PARTS if part not in _NOT_QUICK or not options.quick]
    for part in options.only or usual:
        for table in _measured(part, _QUICK if options.quick else _FULL):
            print(as_markdown(table), flush=True)
            tables.append(table)
    _write_json(machine, tables)
    if options.publish:
        _PAGE.write_text(_page(machine, tables), "utf-8")


def _measured(part: str, effort: Effort) -> list[Table]:
    """Return the tables of a part. A peer that gives no answer once, as on a machine that stalls, gets a second try."""
    try:
        return list(_PARTS[part](effort))
    except (AssertionError, OSError, StuckError) as error:
        print(f"{part} is measured again: {error!r}", flush=True)
        return list(_PARTS[part](effort))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="axe-lsp bench",
        description="Measure axe-lsp against other tools, and print the tables.",
    )
    add = parser.add_argument
    add("--only", action="append", choices=_PARTS, help="this part; may be given several times")
    add("--quick", action="store_true", help="less of everything, in a minute")
    add("--publish", action="store_true", help=f"write {_PAGE.relative_to(ROOT)}")
    return parser


def _write_json(machine: Machine, tables: list[Table]) -> None:
    results = {"machine": asdict(machine), "tables": [as_json(table) for table in tables]}
    _JSON.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"All values: {_JSON.relative_to(ROOT)}")


def _page(machine: Machine, tables: list[Table]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in machine.versions.items())
    head = f"""\
# Benchmarks

`axe-lsp bench --publish` wrote this page on {machine.date}, with axe-lsp at commit {machine.commit}.

- Machine: {machine.processor}, {machine.cores} cores, {machine.system}; load before the start: {machine.load}
- Versions: {versions}

How to read the tables:

- A cell is a median, with the smallest value and the 90th percentile in brackets.
- All programs of a table were measured in the same rounds. Times depend on the machine and on other processes, so
  compare programs by the ratio of their medians.
- The column after a ratio is its target: the largest ratio that we want. A ratio above its target is in bold. No test
  fails because of a time.

"""
    return head + "\n".join([*(as_markdown(table) for table in tables), _SHORT])


_SHORT = """\
## Missed targets

- `axe-lsp check` starts processes from 2,000 files on. A process takes as long to start as 1,000 files take to be
  read, and one process makes the diagnostics, so two processors count as one and a third.
- A burst of opened files costs about one and a half times the processor time of bare pygls with tomli: two fifths of
  it is the reading of a file, an eighth is the diagnostics, and the rest is the protocol and the facts outside the
  files.
- `taplo lint` is native, uses one schema and reads no other file. Two fifths of the time of `axe-lsp check`
  for a thousand files are the start of Python with the required modules.
- A process that loads its modules after `initialize` could answer within the time of the stub. The first diagnostics
  would not come earlier, and the capabilities would be defined twice, so the server does not do it.
- Nearly all of the time from the start of `axe-lsp run` to its first request is spent in imports. It is 0.73 of
  the processor time that a start took with aiohttp; 0.6 was wanted. Of 110 ms, Python itself takes 9, asyncio 42,
  msgspec 13, anyio with its event loop 18, h11, tomli and argparse 8, and axe-lsp with the rest of httpcore2 20. So the
  libraries alone take 0.6. A daemon that keeps everything loaded would have to follow the environment, folder, terminal
  and version of the shell that starts a run.
- The slowest twentieth of the keystrokes takes longer while 100 children work, and nearly as long if the children
  belong to another editor on the same machine: the children ask at the same moment, and four processes share two
  cores. The server itself handles events in slices of at most three milliseconds.
- A hundred children at once take more than a tenth of the time of the frameworks, because two sequential requests and
  50 ms of waiting per child are part of all of them. With a thousand children it is a tenth of the time of two
  frameworks, and between a seventh and an eighth of that of langgraph.
- Steps of a thousand children are about four thousand rows in the history, written by a thread while the run goes on.
- A thousand children take about one and a half times the processor time that they took with aiohttp, which parses
  HTTP in C. httpcore2 and h11, which are Python, take a third of the event loop's time.
- A quarter of the run host's processor time for a thousand children is spent on their events: each of six events per
  child is encoded as JSON, sent to the supervisor and stored, so that none is lost when a process is killed. Half of
  the rest makes a child a run: its prompt, deadline, budget and id.
- Sixty agents in copies on four workers cost some six seconds of processor time, on the machine of the run and the
  workers together, which is one machine here. Most of that passes while commands sleep, and half of it writes the files
  of two copies for each agent.
"""


main()
