"""Many documents at once, and many keystrokes in a row."""

from __future__ import annotations

from functools import partial

from benchmarks.agents import DIGIT, Workspace, make_workspace, replacement
from benchmarks.client import Client, Json, StuckError
from benchmarks.contenders import BARE_TOMLI, OURS, TOMBI, scratch_folder, start
from benchmarks.results import Ratio, Row, Table
from benchmarks.timing import Sample, take_turns, timed

_PATIENCE = 20.0
_BATCH = 100


def measure_burst(count: int, rounds: int) -> Table:
    """Open all files of a workspace at once."""
    table = Table(
        title="Burst",
        note="A client opens all files of a workspace without waiting for answers. The time ends when the "
        f"diagnostics of each file have arrived. *Never* means that this took more than {_PATIENCE:g} "
        "s.",
        unit="ms",
        contenders=[OURS, BARE_TOMLI, TOMBI],
        ratios=[Ratio(OURS, BARE_TOMLI, wanted=1.5)],
    )
    with scratch_folder() as folder:
        workspace = make_workspace(folder, count)
        bursts = {name: partial(_burst, name, workspace) for name in table.contenders}
        found = take_turns(bursts, rounds, warm_up=0)
    samples = {name: _sample_unless_stuck(values) for name, values in found.items()}
    table.rows.append(Row(f"{count:,} files of 1 KB", samples))
    return table


def measure_memory(count: int, keystrokes: int) -> Table:
    """Memory after the start, with many documents open, and what many keystrokes leave behind."""
    started, opened = "after the start", f"{count:,} documents open"
    table = Table(
        title="Memory",
        note="Resident memory after `initialize`, and with many open documents of 1 KB; and the growth by "
        "many keystrokes in one of these documents. tombi gets no keystrokes, since it does not "
        "answer all of them, so their end can't be recognised. Target: a growth of at most 1 MB by "
        "30,000 keystrokes.",
        unit="MB",
        contenders=[OURS, BARE_TOMLI, TOMBI],
        ratios=[Ratio(OURS, BARE_TOMLI, wanted={started: 1.2, opened: 2})],
    )
    with scratch_folder() as folder:
        workspace = make_workspace(folder, count)
        found = {name: _memory(name, workspace, keystrokes) for name in table.contenders}
    for index, what in enumerate((started, opened, f"added by {keystrokes:,} keystrokes")):
        samples = {name: Sample((each[index],)) for name, each in found.items() if each[index:]}
        table.rows.append(Row(what, samples))
    return table


def _burst(contender: str, workspace: Workspace) -> float | None:
    """Milliseconds; None if the server gets stuck."""
    texts = workspace.texts()
    with start(contender, workspace.folder) as client:
        client.patience = _PATIENCE
        client.begin()
        try:
            return timed(partial(_open_all, client, texts))
        except StuckError:
            return None


def _open_all(client: Client, texts: dict[str, str]) -> None:
    for uri, text in texts.items():
        client.open(uri, text)
    missing = set(texts)

    def is_last(message: Json) -> bool:
        if message.get("method") == "textDocument/publishDiagnostics":
            missing.discard(message["params"]["uri"])
        return not missing

    client.wait(is_last, "the diagnostics of all documents")


def _sample_unless_stuck(values: list[float | None]) -> Sample | None:
    finished = tuple(value for value in values if value is not None)
    return Sample(finished) if len(finished) == len(values) else None


def _memory(contender: str, workspace: Workspace, keystrokes: int) -> list[float]:
    """After the start, with all documents open, and what keystrokes add."""
    with start(contender, workspace.folder) as client:
        client.begin()
        found = [client.memory]
        for uri, text in workspace.texts().items():
            client.open(uri, text)
            client.wait_for_diagnostics(uri, lambda _: True)
        if contender == TOMBI:
            return [*found, client.memory]
        client.wait_until_idle()  # What lies outside the files is found out about once they are open.
        _type(client, workspace, 2 * _BATCH)
        opened = client.memory
        _type(client, workspace, keystrokes)
        return [*found, opened, client.memory - opened]


def _type(client: Client, workspace: Workspace, keystrokes: int) -> None:
    """Change a digit so often, waiting for the server now and then."""
    uri, text = workspace.uri(workspace.coordinator), workspace.text(workspace.coordinator)
    for number in range(keystrokes):
        version = client.change(uri, replacement(text, DIGIT, "93"[number % 2]))
        if number % _BATCH == _BATCH - 1:
            client.wait_for_version(uri, version)
