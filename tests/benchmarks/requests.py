"""What is asked for while typing: completion and hover."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from benchmarks.agents import DIGIT, make_reviewer, position_behind
from benchmarks.client import Client, Json
from benchmarks.contenders import BARE_TOMLI, OURS, TOMBI, scratch_folder, start
from benchmarks.results import Ratio, Row, Table
from benchmarks.timing import in_rounds, timed


def measure(rounds: int) -> Table:
    """Ask each server in turn, about the same places of the same file."""
    table = Table(
        title="Completion and hover",
        note="The time from a request to its answer, in a file of 1 KB: hover on `max_depth`, and "
        "completion of a key on a new line below it. tombi answers from a JSON Schema, bare pygls "
        "with a constant.",
        unit="ms",
        contenders=[OURS, BARE_TOMLI, TOMBI],
        ratios=[Ratio(OURS, TOMBI, wanted=1.2), Ratio(OURS, BARE_TOMLI)],
    )
    with scratch_folder() as folder, ExitStack() as stack:
        uri, text = make_reviewer(folder, 1_000)
        text = text.replace("parallel = true\n", "pa\n")
        places = {
            "hover": position_behind(text, DIGIT[:4]),
            "completion": position_behind(text, "\npa"),
        }
        clients = {name: stack.enter_context(start(name, folder)) for name in table.contenders}
        for client in clients.values():
            client.begin()
            client.open(uri, text)
        for what, position in places.items():
            params = {"textDocument": {"uri": uri}, "position": position}
            asks = {name: _ask(each, what, params) for name, each in clients.items()}
            table.rows.append(Row(what, in_rounds(asks, rounds)))
    return table


def _ask(client: Client, what: str, params: Json) -> Callable[[], float]:
    def ask() -> None:
        answer = client.request(f"textDocument/{what}", params)
        assert answer, f"no {what}"

    return lambda: timed(ask)
