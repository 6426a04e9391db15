"""What somebody who types feels of the agents that are at work meanwhile."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.agents import DIGIT, make_reviewer
from benchmarks.client import Client
from benchmarks.contenders import COMMANDS, OURS, environment, scratch_folder
from benchmarks.keystrokes import Mistake
from benchmarks.results import Ratio, Row, Table
from benchmarks.runs import provider
from benchmarks.timing import Sample, take_turns

_IDLE, _AT_WORK = "idle", "100 children at work"
_ELSEWHERE = "100 at work for another editor"
_P95 = "95th percentile"

_LONG = 10
"""Turns with which the history of each child begins, of 20 KB each."""

_SECONDS = 2.0
"""How long somebody types at a time: twice the time after which each child asks again."""

_BETWEEN = 0.02
"""Seconds from one keystroke to the next, if it is answered by then."""

_AGENT = 'name = "{name}"\nmodel = "openai/{model}"\nsystem_prompt = "You answer."\n'


def measure(rounds: int) -> Table:
    """Keystrokes while nothing runs, and while a large run goes on here or in another server, in turns."""
    with scratch_folder() as folder, provider() as address:
        uri, text = make_reviewer(folder, 1_000)
        _write_agents(folder)
        own = {"OPENAI_API_KEY": "key", "AXE_OPENAI_BASE_URL": address}
        variables = {**environment(folder), **own}
        with _editor(folder, variables) as client, _other_editor(folder, variables) as other:
            mistake = Mistake(client, uri, text, DIGIT, "9")
            situations: dict[str, Callable[[], list[float]]] = {
                _IDLE: lambda: _type(client, mistake),
                _AT_WORK: lambda: _type_beside_own(client, mistake),
                _ELSEWHERE: lambda: _type_beside_others(client, mistake, other),
            }
            typed = take_turns(situations, rounds, warm_up=0)
    return Table(
        title="Keystrokes while agents run",
        note="The time of a keystroke as above, in a file of 1 KB, with one keystroke every 20 ms. The "
        "first column is without runs. In the second column 100 children, each with a conversation of "
        f"{_LONG * 20} KB, send a request and call a tool once a second, and all their events are "
        "streamed to the editor. In the third column they do the same for another editor, with its "
        "own server and run host: this shows the part of the delay that is due to the machine, since "
        f"all processes share {os.cpu_count()} cores. The percentile is the median of the percentiles "
        f"of {rounds} rounds.",
        unit="ms",
        contenders=list(situations),
        ratios=[Ratio(_AT_WORK, _IDLE, wanted={_P95: 1.3}), Ratio(_AT_WORK, _ELSEWHERE)],
        rows=[
            Row("all keystrokes", {name: Sample((*chain(*each),)) for name, each in typed.items()}),
            Row(_P95, {name: Sample((*map(_p95, each),)) for name, each in typed.items()}),
        ],
    )


def _write_agents(folder: Path) -> None:
    agents = folder / "axe" / "agents"
    parent = _AGENT.format(name="parent", model="fan-100") + 'sub_agents = ["child"]\n'
    (agents / "parent.toml").write_text(parent)
    child = _AGENT.format(name="child", model=f"long-{_LONG}") + 'tools = ["read_file"]\n'
    (agents / "child.toml").write_text(child)


@contextmanager
def _editor(folder: Path, variables: Mapping[str, str]) -> Iterator[Client]:
    with Client(COMMANDS[OURS], folder, variables) as client:
        client.begin()
        yield client


@contextmanager
def _other_editor(folder: Path, variables: Mapping[str, str]) -> Iterator[Connection]:
    """Provide a process with which `_take_orders` talks: an editor that reads what happens costs time as well."""
    processes = multiprocessing.get_context("spawn")
    here, there = processes.Pipe()
    process = processes.Process(target=_take_orders, args=(folder, variables, there), daemon=True)
    process.start()
    there.close()
    with here:
        yield here
    process.join()


def _take_orders(folder: Path, variables: Mapping[str, str], orders: Connection) -> None:
    """Begin a run at each order, say so, and end it at the next."""
    with _editor(folder, variables) as client:
        while _hears(orders):
            with _run(client):
                orders.send("It goes on.")
                while not orders.poll():
                    client.wait(_is_turn, "a turn")
                orders.recv()
            orders.send("It is over.")


def _hears(orders: Connection) -> bool:
    try:
        orders.recv()
    except EOFError:
        return False
    return True


@contextmanager
def _run(client: Client) -> Iterator[None]:
    """Provide a run that goes on, from when its conversations are long."""
    number = client.send_request("axe/run", {"agent": "parent", "task": "Go on."})
    root = _wait_for_long_histories(client)
    yield
    client.send_request("axe/stop", {"runId": root})
    client.wait(lambda each: "method" not in each and each.get("id") == number, "the end")
    client.wait_until_idle()


def _wait_for_long_histories(client: Client) -> str:
    """Until each child has had its first turns, and waits a second for each of the others; the root's id."""
    late = set[str]()
    while True:
        event = client.wait(_is_turn, "a turn")["params"]
        if event["turn"] > _LONG:
            late.add(event["runId"])
        if len(late) == 100:
            root: str = event["rootRunId"]
            return root


def _is_turn(message: Mapping[str, object]) -> bool:
    return message.get("method") == "axe/turn"


def _type_beside_own(client: Client, mistake: Mistake) -> list[float]:
    with _run(client):
        return _type(client, mistake)


def _type_beside_others(client: Client, mistake: Mistake, other: Connection) -> list[float]:
    other.send("Begin.")
    other.recv()
    values = _type(client, mistake)
    other.send("End.")
    other.recv()
    return values


def _type(client: Client, mistake: Mistake) -> list[float]:
    values = list[float]()
    end = time.perf_counter() + _SECONDS
    while (begun := time.perf_counter()) < end:
        values.append(mistake.make_and_mend())
        client.listen(begun + _BETWEEN - time.perf_counter())
    return values


def _p95(values: list[float]) -> float:
    return sorted(values)[round(0.95 * (len(values) - 1))]
