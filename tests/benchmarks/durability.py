"""What it costs that a run can be resumed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from benchmarks.contenders import OURS, PEERS, PEERS_PYTHON, PYTHON
from benchmarks.results import Ratio, Row, Table
from benchmarks.runs import make_in_turns, process, provider, sample

_WITHOUT, _DBOS = "axe-lsp, no steps", "DBOS"


def measure(rounds: int, fans: Sequence[int]) -> Table:
    """Return the same conversations with steps, without them, and as durable workflows."""
    with ExitStack() as stack:
        address = stack.enter_context(provider())
        commands = {
            OURS: [PYTHON, PEERS / "engine_loop.py", address, "steps"],
            _WITHOUT: [PYTHON, PEERS / "engine_loop.py", address, "none"],
            _DBOS: [PEERS_PYTHON, PEERS / "dbos_loop.py", address],
        }
        loops = {name: stack.enter_context(process(each)) for name, each in commands.items()}
        made = {fan: make_in_turns(loops, f"fan-{fan}", rounds) for fan in fans}
    return Table(
        title="Runs that can be resumed",
        note="An agent calls many agents in one answer. Each of them sends a request to a provider that "
        "takes 50 ms to answer. The run host writes events and steps to the history, or only events. "
        "In DBOS each agent is a workflow and each request is a step of it; DBOS writes to a file of "
        "SQLite, too.",
        unit="ms",
        contenders=(OURS, _WITHOUT, _DBOS),
        ratios=[Ratio(OURS, _WITHOUT, wanted=1.1), Ratio(OURS, _DBOS)],
        rows=[
            Row(f"{fan:,} children", sample(each, lambda one: one.milliseconds))
            for fan, each in made.items()
        ],
    )
