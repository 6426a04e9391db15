"""Chooses what is measured, how thoroughly, and where the results go."""

from __future__ import annotations

import argparse
import compileall
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

from benchmarks import (
    checking,
    endurance,
    history,
    keystrokes,
    long_runs,
    problems,
    questions,
    requests,
    run_start,
    runs,
    start,
    typing_during_runs,
    wires,
    workspaces,
)
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
)
_QUICK = Effort(
    starts=3,
    keystrokes=15,
    sizes=(1_000, 100_000),
    workspaces=(10, 1_000),
    documents=100,
    edits=2_000,
    bursts=2,
    runs=2,
    fans=(10, 100),
    largest_fans=0,
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


def _requests(effort: Effort) -> Iterator[Table]:
    yield requests.measure(effort.keystrokes)


def _endurance(effort: Effort) -> Iterator[Table]:
    yield endurance.measure_burst(effort.documents, effort.bursts)
    yield endurance.measure_memory(effort.documents, effort.edits)


def _checking(effort: Effort) -> Iterator[Table]:
    yield checking.measure(effort.workspaces[1:], effort.bursts)


def _runs(effort: Effort) -> Iterator[Table]:
    yield from runs.measure(effort.runs, effort.fans, effort.largest_fans)


def _beside_runs(effort: Effort) -> Iterator[Table]:
    yield run_start.measure(effort.starts)
    yield typing_during_runs.measure(effort.bursts)


def _long_runs(effort: Effort) -> Iterator[Table]:
    yield long_runs.measure(effort.runs)


def _wires(effort: Effort) -> Iterator[Table]:
    yield wires.measure(effort.runs)


def _history(effort: Effort) -> Iterator[Table]:
    yield history.measure(effort.runs)


_PARTS: dict[str, Callable[[Effort], Iterator[Table]]] = {
    "start": _start,
    "keystrokes": _keystrokes,
    "workspaces": _workspaces,
    "requests": _requests,
    "endurance": _endurance,
    "checking": _checking,
    "runs": _runs,
    "beside-runs": _beside_runs,
    "long-runs": _long_runs,
    "wires": _wires,
    "history": _history,
}


def main() -> None:
    """Measure, and print each table as soon as it is there."""
    options = _parser().parse_args()
    install_peers()
    # As installers do, with whatever they install; nobody else would, where Python is told not to write bytecode.
    compileall.compile_dir(ROOT / "server", quiet=1)
    machine = this_machine()
    tables = []
    for part in options.only or _PARTS:
        for table in _PARTS[part](_QUICK if options.quick else _FULL):
            print(as_markdown(table), flush=True)
            tables.append(table)
    _write_json(machine, tables)
    if options.publish:
        _PAGE.write_text(_page(machine, tables), "utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="axe-lsp bench", description="Measure axe-lsp beside its peers, and print the tables."
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

`axe-lsp bench --publish` has written this page, on {machine.date}, with axe-lsp at commit {machine.commit}.

- Machine: {machine.processor}, {machine.cores} cores, {machine.system}; load before the start: {machine.load}
- Versions: {versions}

Each cell is a median, with the smallest value and the 90th percentile in brackets. The contenders had
their turns in the same rounds, so a ratio of two medians says more than a time: times depend on the machine and
on what else it was doing. Beside a ratio stands what is wanted of it at the most; where it is above that it is
in bold. Nothing fails on a time.

"""
    return head + "\n".join([*(as_markdown(table) for table in tables), _SHORT])


_SHORT = """\
## Where it stops short

- Ten thousand agents take eleven times as long as reading the files alone; ten was wanted. They are read by two processes, each of which has as many files to read as it can. The second one needs 20 MB and ends when all are
  read; for fewer than 1,100 files it is not started, since it takes as long to start as 600 take to be read, and on a busy machine it helps less. Of a file with
  nothing wrong in it only the values are looked at, and no tree is made; a quarter of the processor time is tomli, and of the rest (judging the values, keeping what a file says
  and whom it calls, handing it over, looking for what is wrong with it among the others) no part stands out. An index kept on the disk would hold what the
  files say in a second place, and could be wrong about them.
- A name that changes in a list takes up to a fifth longer among ten thousand agents than among ten, 0.1 to 0.3 ms. What the workspace does about it
  takes as long in both (0.5 ms) since no map is copied any more; where the rest comes from is not known.
- `axe-lsp check` starts processes from 2,000 files on. Each takes as long to start as 1,000 files take to be read, and the
  diagnostics are made by one, so that two processors are worth one and a third.
- A burst of opened files costs about one and a half times the processor time of bare pygls with tomli: two fifths of it are
  what reading any file costs, an eighth is the diagnostics, and the rest is the protocol and what lies outside the files.
- `taplo lint` is native, uses one schema and no other file. Of the time that a thousand files take in `axe-lsp check`, a third is the
  start of Python with the modules that are needed.
- `initialize` could be answered within the time of the stub by a process that loads the rest afterwards. The first
  diagnostics would come no earlier, and what the server can do would have to be written down twice; so it isn't.
- Nearly all of the time from the start of `axe-lsp run` to its first request goes into imports: four fifths of it into
  Python's own modules, msgspec, anyio and httpcore2, without which no request is sent. Another fifth less was had by leaving aiohttp; a smaller client would be one that we
  had written ourselves, with its own ideas of HTTP and proxies. A daemon that keeps everything loaded would be there
  for editors already, and would have to be kept in step with the shell from which somebody starts a run: its environment,
  folder, terminal and version.
- The slowest twentieth of the keystrokes beside 100 children takes longer than beside none, and nearly as long when the
  children work for another editor on the same machine: the hundred ask and are answered together, and four processes share two cores
  then. The server itself takes what has happened in slices of at most three milliseconds.
- A hundred children at once take more than a tenth of the time of the frameworks, for what can't be less is in all of
  them: two requests one after the other, and 50 ms for which a child waits. With a thousand it is below a tenth.
- With a thousand children it takes 3.4 to 4.1 times as long as the bare loop, as the machine is. A quarter of the run host's processor time goes into what happens in them: each of six events
  a child is made into JSON, sent to the supervisor and kept, so that none is lost when a process is killed. Half of
  the rest is what makes a child a run of its own: its prompt, deadline, budget and id.
"""


main()
