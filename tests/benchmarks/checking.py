"""From the command to its end: checking all agents of a workspace, as in CI."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from functools import partial

from benchmarks.agents import Workspace, make_workspace
from benchmarks.contenders import (
    CHECKERS,
    OURS,
    TAPLO,
    TOMBI,
    Command,
    environment,
    scratch_folder,
)
from benchmarks.results import Ratio, Row, Table
from benchmarks.timing import in_rounds, timed


def measure(counts: Sequence[int], rounds: int) -> Table:
    """Check workspaces of so many agents, none of which has a problem."""
    table = Table(
        title="Checking files",
        note="The time of `axe-lsp check`, `tombi lint` and `taplo lint`, from the start of the command to "
        "its end. The agents are files of 1 KB without a problem. tombi and taplo have a JSON Schema "
        "of agent files.",
        unit="ms",
        contenders=[OURS, TOMBI, TAPLO],
        ratios=[Ratio(OURS, TOMBI, wanted=1.5), Ratio(OURS, TAPLO, wanted=1.5)],
    )
    for count in counts:
        with scratch_folder() as folder:
            workspace = make_workspace(folder, count)
            checks = {
                name: partial(timed, partial(_check, CHECKERS[name], workspace))
                for name in table.contenders
            }
            table.rows.append(Row(f"{count:,} agents", {**in_rounds(checks, rounds, warm_up=1)}))
    return table


def _check(command: Command, workspace: Workspace) -> None:
    folder = workspace.folder
    done = subprocess.run(
        command, cwd=folder, env=environment(folder), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stdout[-500:]}{done.stderr[-500:]}"
