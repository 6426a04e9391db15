"""What the size of the workspace costs: a keystroke, a question, the start, the memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

from benchmarks.agents import DIGIT, Workspace, make_workspace, replacement
from benchmarks.client import Client
from benchmarks.contenders import OURS, scratch_folder, start
from benchmarks.keystrokes import Mistake
from benchmarks.results import Ratio, Row, Table
from benchmarks.timing import Sample, elapsed_ms, in_rounds, take_turns, timed

Workspaces = Mapping[str, Workspace]
"""By title, from the smallest to the largest."""

_CALLS = 'sub_agents = ["'
"""What stands before the name of an agent's first sub-agent."""

_KEYSTROKES: Sequence[tuple[str, Callable[[Workspace], str], str, str]] = (
    ("a digit of the team lead", lambda each: each.team_lead, DIGIT, "9"),
    ("a name in the team lead's `sub_agents`", lambda each: each.team_lead, _CALLS, "x"),
    ("a digit of the coordinator", lambda each: each.coordinator, DIGIT, "9"),
    ("a name in the coordinator's `sub_agents`", lambda each: each.coordinator, _CALLS, "x"),
)


_INDEXED, _FILES = "all agents read", "reading the files alone"
_READING = "while they are read"
_P95 = "95th percentile"

_SECONDS = 5.0
"""How long somebody types."""

_BETWEEN = 0.15
"""Seconds from one keystroke to the next, as fast typists have it."""


@contextmanager
def workspaces(counts: Sequence[int]) -> Iterator[Workspaces]:
    """Workspaces with so many agents."""
    with scratch_folder() as folder:
        yield {f"{count:,} agents": make_workspace(folder / str(count), count) for count in counts}


def measure_keystrokes(found: Workspaces, rounds: int) -> Table:
    """Return the same keystrokes in workspaces of several sizes, each in a server of its own."""
    smallest, *_, largest = found
    table = Table(
        title="Keystroke by size of the workspace",
        note="The time of a keystroke as above, in files of 1 KB, for axe-lsp alone. The agents are a tree "
        "in which each agent calls ten others. The team lead calls ten agents that call no others; "
        "the coordinator is the root of the tree. A name in `sub_agents` is changed to one that no "
        "file defines, and back.",
        unit="ms",
        contenders=list(found),
        ratios=[Ratio(largest, smallest, wanted=1.1)],
    )
    with ExitStack() as stack:
        clients = {title: stack.enter_context(indexed(each)) for title, each in found.items()}
        for what, agent, behind, wrong in _KEYSTROKES:
            measures = {}
            for title, each in found.items():
                uri, text = each.uri(agent(each)), each.text(agent(each))
                mistake = Mistake(clients[title], uri, text, behind, wrong)
                measures[title] = mistake.make_and_mend
            table.rows.append(Row(what, in_rounds(measures, rounds)))
            for title, each in found.items():
                clients[title].close_document(each.uri(agent(each)))
    return table


def measure_keystrokes_while_reading(found: Workspaces, rounds: int) -> Table:
    """Somebody types from the start on, while all agents are being read, and once they have been."""
    title, workspace = list(found.items())[-1]
    busy = [each for _ in range(rounds) for each in _type_from_the_start(workspace)]
    with indexed(workspace) as client:
        idle = [each for _ in range(rounds) for each in _type(client, workspace)]
    typed = {_READING: busy, _INDEXED: idle}
    return Table(
        title="Keystrokes while all agents are read",
        note=f"The time of a keystroke as above among {title}, with one keystroke every {_BETWEEN * 1000:g} "
        f"ms, in the first {_SECONDS:g} s of a server, while it reads all files. Target: at most 20 ms "
        "for the 95th percentile.",
        unit="ms",
        contenders=[_READING, _INDEXED],
        ratios=[],
        rows=[
            Row("all keystrokes", {name: Sample(tuple(each)) for name, each in typed.items()}),
            Row(_P95, {name: Sample((_p95(each),)) for name, each in typed.items()}),
        ],
    )


def _type_from_the_start(workspace: Workspace) -> list[float]:
    with start(OURS, workspace.folder) as client:
        client.begin()
        return _type(client, workspace)


def _type(client: Client, workspace: Workspace) -> list[float]:
    """Milliseconds of each keystroke."""
    uri, text = workspace.uri(workspace.team_lead), workspace.text(workspace.team_lead)
    client.open(uri, text)
    client.wait_for_diagnostics(uri, lambda _: True)
    times: list[float] = []
    end = time.perf_counter() + _SECONDS
    while time.perf_counter() < end:
        change = replacement(text, DIGIT, "93"[len(times) % 2])
        started = time.perf_counter()
        client.wait_for_version(uri, client.change(uri, change))
        times.append(elapsed_ms(started))
        time.sleep(max(0.0, _BETWEEN - times[-1] / 1000))
    client.close_document(uri)
    return times


def _p95(times: Sequence[float]) -> float:
    return sorted(times)[round(0.95 * (len(times) - 1))]


def measure_start(found: Workspaces, rounds: int) -> Iterator[Table]:
    """Starts in workspaces of several sizes: until something is said, and until all is known."""
    starts = {title: partial(start_in, each) for title, each in found.items()}
    results = take_turns(starts, rounds, warm_up=1)
    smallest, *_, largest = found
    opened = {title: Sample(tuple(each[0] for each in found)) for title, found in results.items()}
    yield Table(
        title="Start by size of the workspace",
        note="The time from the start of axe-lsp to the first diagnostics of a file that is opened at "
        "once.",
        unit="ms",
        contenders=list(found),
        ratios=[Ratio(largest, smallest, wanted=1.2)],
        rows=[Row("first diagnostics", opened)],
    )
    table = Table(
        title="Reading all agents",
        note="The time from the first diagnostics until all agents have been read and a name that none of "
        "them defines is reported. It contains a pause of 50 ms, in which the server collects "
        "changes.",
        unit="ms",
        contenders=[_INDEXED, _FILES],
        ratios=[Ratio(_INDEXED, _FILES, wanted={largest: 10})],
    )
    for title, times in results.items():
        indexed = Sample(tuple(each[1] for each in times))
        files = in_rounds({_FILES: partial(timed, found[title].read_all)}, rounds)
        table.rows.append(Row(title, {_INDEXED: indexed, **files}))
    yield table


def measure_memory(found: Workspaces) -> Table:
    """Return how much each workspace takes up."""
    table = Table(
        title="Memory by size of the workspace",
        note="Resident memory of axe-lsp after it has read all agents. Target: less than 150 MB.",
        unit="MB",
        contenders=list(found),
        ratios=[],
    )
    memory = {}
    for title, each in found.items():
        with indexed(each) as client:
            memory[title] = Sample((client.memory,))
    table.rows.append(Row("agents read", memory))
    return table


def start_in(workspace: Workspace) -> tuple[float, float]:
    """Milliseconds to the first diagnostics, and from then on until all agents have been read."""
    started = time.perf_counter()
    with start(OURS, workspace.folder) as client:
        client.begin()
        _open_stranger(client, workspace)
        opened = elapsed_ms(started)
        _wait_for_index(client, workspace)
        return opened, elapsed_ms(started) - opened


@contextmanager
def indexed(workspace: Workspace) -> Iterator[Client]:
    """Provide a server that has read all of the workspace."""
    with start(OURS, workspace.folder) as client:
        client.begin()
        _open_stranger(client, workspace)
        _wait_for_index(client, workspace)
        client.close_document(workspace.uri("stranger"))
        client.wait_until_idle()
        yield client


def _open_stranger(client: Client, workspace: Workspace) -> None:
    """Open a file that names an unknown agent, which can be said once all agents are known."""
    uri = workspace.uri("stranger")
    client.open(uri, workspace.stranger_text)
    client.wait_for_diagnostics(uri, lambda _: True)


def _wait_for_index(client: Client, workspace: Workspace) -> None:
    client.wait_for_diagnostics(
        workspace.uri("stranger"),
        lambda found: any(each["code"] == "unknown-agent" for each in found),
    )
