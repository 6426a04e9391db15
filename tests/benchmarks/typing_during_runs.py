"""What somebody who types feels of the agents that are at work meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.agents import DIGIT, make_reviewer
from benchmarks.client import Client
from benchmarks.contenders import COMMANDS, OURS, environment, scratch_folder
from benchmarks.keystrokes import Mistake
from benchmarks.results import Ratio, Row, Table
from benchmarks.runs import provider
from benchmarks.timing import WARM_UP, Sample

_IDLE, _AT_WORK = "idle", "100 children at work"
_P95 = "95th percentile"

_LONG = 10
"""Turns with which the history of each child begins, of 20 KB each."""

_AGENT = 'name = "{name}"\nmodel = "openai/{model}"\nsystem_prompt = "You answer."\n'


def measure(rounds: int) -> Table:
    """Keystrokes before a large run, and while it goes on."""
    with scratch_folder() as folder, provider() as address:
        uri, text = make_reviewer(folder, 1_000)
        _write_agents(folder)
        own = {"OPENAI_API_KEY": "key", "AXE_OPENAI_BASE_URL": address}
        with Client(COMMANDS[OURS], folder, {**environment(folder), **own}) as client:
            client.begin()
            mistake = Mistake(client, uri, text, DIGIT, "9")
            idle = _keystrokes(mistake, rounds)
            client.send_request("axe/run", {"agent": "parent", "task": "Go on."})
            _wait_for_long_histories(client)
            at_work = _keystrokes(mistake, rounds)
    return Table(
        title="Keystrokes while agents run",
        note="A keystroke as above in a file of 1 KB, while nothing runs; and while 100 children, whose conversations have "
        f"grown to {_LONG * 20} KB each, ask a provider once a second and call a tool, with all their events streamed to the editor. "
        f"The provider, the run host and the editor share {os.cpu_count()} cores with the server.",
        unit="ms",
        contenders=[_IDLE, _AT_WORK],
        ratios=[Ratio(_AT_WORK, _IDLE, wanted={_P95: 1.3})],
        rows=[
            Row("all keystrokes", {_IDLE: idle, _AT_WORK: at_work}),
            Row(_P95, {_IDLE: _p95(idle), _AT_WORK: _p95(at_work)}),
        ],
    )


def _write_agents(folder: Path) -> None:
    agents = folder / "axe" / "agents"
    parent = _AGENT.format(name="parent", model="fan-100") + 'sub_agents = ["child"]\n'
    (agents / "parent.toml").write_text(parent)
    child = _AGENT.format(name="child", model=f"long-{_LONG}") + 'tools = ["read_file"]\n'
    (agents / "child.toml").write_text(child)


def _keystrokes(mistake: Mistake, rounds: int) -> Sample:
    values = [mistake.make_and_mend() for _ in range(WARM_UP + rounds)]
    return Sample(tuple(values[WARM_UP:]))


def _wait_for_long_histories(client: Client) -> None:
    """Until each child has had its first turns, and waits a second for each of the others."""
    late = set[str]()
    while len(late) < 100:
        event = client.wait(lambda each: each.get("method") == "axe/turn", "a turn")["params"]
        if event["turn"] > _LONG:
            late.add(event["runId"])


def _p95(sample: Sample) -> Sample:
    ordered = sorted(sample.values)
    return Sample((ordered[round(0.95 * (len(ordered) - 1))],))
