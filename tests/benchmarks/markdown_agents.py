"""What agents in Markdown cost beside those in TOML: a keystroke, and the reading of all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

from benchmarks.agents import BOOLEAN, DIGIT, make_markdown_workspace, make_workspace
from benchmarks.contenders import scratch_folder
from benchmarks.keystrokes import Mistake
from benchmarks.results import Ratio, Row, Table
from benchmarks.timing import Sample, in_rounds, take_turns
from benchmarks.workspaces import indexed, start_in

_MARKDOWN, _TOML = "Markdown", "TOML"
_BEHIND = {_MARKDOWN: (BOOLEAN, "x"), _TOML: (DIGIT, "9")}


def measure(count: int, keystrokes: int, rounds: int) -> Iterator[Table]:
    """Yield the time of a keystroke among `count` agents, and that until all are read, in both syntaxes."""
    with scratch_folder() as folder:
        workspaces = {
            _MARKDOWN: make_markdown_workspace(folder / "markdown", count),
            _TOML: make_workspace(folder / "toml", count),
        }
        typing = Table(
            title="Keystroke in an agent in Markdown",
            note="The time of a keystroke as above, in files of 1 KB that call ten others, for axe-lsp alone. In "
            "Markdown, which are agents of Copilot, a value becomes wrong, and right again.",
            unit="ms",
            contenders=[_MARKDOWN, _TOML],
            ratios=[Ratio(_MARKDOWN, _TOML, wanted=1.1)],
        )
        with ExitStack() as stack:
            measures = {}
            for title, each in workspaces.items():
                client = stack.enter_context(indexed(each))
                uri, text = each.uri(each.team_lead), each.text(each.team_lead)
                measures[title] = Mistake(client, uri, text, *_BEHIND[title]).make_and_mend
            typing.rows.append(Row(f"among {count:,} agents", in_rounds(measures, keystrokes)))
        yield typing
        starts = {title: partial(start_in, each) for title, each in workspaces.items()}
        results = take_turns(starts, rounds, warm_up=1)
        times = {
            title: Sample(tuple(each[1] for each in found)) for title, found in results.items()
        }
        yield Table(
            title="Reading all agents in Markdown",
            note="The time from the first diagnostics until all agents have been read, as above.",
            unit="ms",
            contenders=[_MARKDOWN, _TOML],
            ratios=[Ratio(_MARKDOWN, _TOML, wanted=1.1)],
            rows=[Row(f"{count:,} agents", times)],
        )
