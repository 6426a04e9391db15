"""From a keystroke to the diagnostics that it changes, in files of several sizes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from benchmarks.agents import DIGIT, make_reviewer, replacement
from benchmarks.client import Client, Diagnostics
from benchmarks.contenders import BARE_TOMLI, OURS, STUB, TOMBI, scratch_folder, start
from benchmarks.results import Ratio, Row, Table
from benchmarks.timing import in_rounds, timed

_WARNING = 2
"""LSP 3.17, `DiagnosticSeverity`."""

_WANTED = {"1 KB": 0.9, "100 KB": 0.7, "1 MB": 0.5}


def measure(sizes: Sequence[int], rounds: int) -> Table:
    """Change a digit there and back, in each server in turn."""
    table = Table(
        title="Keystroke to diagnostics",
        note="The time from a `didChange` of one digit until the client has the new diagnostics. The digit "
        "puts `max_depth` out of its range, or back into it; the value is the mean of both. All rules "
        "of axe-lsp are active. tombi has a JSON Schema of agent files and gets the whole text each "
        "time, since it does not support incremental changes. The stub parses nothing, so its time is "
        "that of the client and the pipes.",
        unit="ms",
        contenders=[OURS, BARE_TOMLI, TOMBI, STUB],
        ratios=[Ratio(OURS, TOMBI, wanted=_WANTED), Ratio(OURS, BARE_TOMLI)],
    )
    for size in sizes:
        with scratch_folder() as folder, ExitStack() as stack:
            uri, text = make_reviewer(folder, size)
            mistakes = {}
            for name in table.contenders:
                client = stack.enter_context(start(name, folder))
                client.begin()
                mistakes[name] = Mistake(client, uri, text, DIGIT, "9", whole=name == TOMBI)
            measures = {name: mistake.make_and_mend for name, mistake in mistakes.items()}
            table.rows.append(Row(_label(size), in_rounds(measures, rounds)))
    return table


def _label(size: int) -> str:
    return f"{size // 1_000_000} MB" if size >= 1_000_000 else f"{size // 1_000} KB"


class Mistake:
    """One character of a document, which is wrong or right, in a server that has the document open."""

    def __init__(
        self, client: Client, uri: str, text: str, behind: str, wrong: str, *, whole: bool = False
    ) -> None:
        """`wrong` is to stand behind `behind`. With `whole` all of the text is sent each time."""
        self._client = client
        self._uri = uri
        place = text.index(behind) + len(behind)
        if whole:
            self._wrong = {"text": text[:place] + wrong + text[place + 1 :]}
            self._right = {"text": text}
        else:
            self._wrong = replacement(text, behind, wrong)
            self._right = replacement(text, behind, text[place])
        client.open(uri, text)
        self._before = _wrong(client.wait_for_diagnostics(uri, lambda _: True))

    def make_and_mend(self) -> float:
        """Return the mean time of two keystrokes, in milliseconds."""
        return timed(self._there_and_back) / 2

    def _there_and_back(self) -> None:
        self._client.change(self._uri, self._wrong)
        self._client.wait_for_diagnostics(self._uri, lambda found: _wrong(found) > self._before)
        self._client.change(self._uri, self._right)
        self._client.wait_for_diagnostics(self._uri, lambda found: _wrong(found) == self._before)


def _wrong(found: Diagnostics) -> int:
    """Return how many errors and warnings. What lies outside of the file is told later, for information."""
    return sum(1 for each in found if each.get("severity", 1) <= _WARNING)
