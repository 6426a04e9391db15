"""From the command to its end: replaying tests of an agent that calls three others, as in CI."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.contenders import OURS, PYTHON, environment, scratch_folder
from benchmarks.results import Row, Table
from benchmarks.timing import in_rounds, timed

CHILDREN = ("tests", "docs", "links")
"""Whom the agent under test calls, all in one turn."""


def measure(counts: Sequence[int], rounds: int) -> Table:
    """Replay so many cases, all of which pass."""
    table = Table(
        title="Tests of agents",
        note="The time of the command `axe-lsp test`, from its start to its end. In each case an agent "
        "calls three others, which answer once. Checked are the answer, its pattern, the order of the "
        "calls and each called agent. Each case has its own recording. Target: at most 10 s for 1,000 "
        "cases, and 0.5 s for one.",
        unit="ms",
        contenders=[OURS],
        ratios=[],
    )
    for count in counts:
        with scratch_folder() as folder:
            make_project(folder, count)
            run = partial(timed, partial(_test, folder, count))
            samples = in_rounds({OURS: run}, rounds, warm_up=1)
            what = "1 case" if count == 1 else f"{count:,} cases"
            table.rows.append(Row(what, {**samples}))
    return table


def make_project(folder: Path, count: int) -> None:
    """The agents, a file of tests with so many cases, and their recordings."""
    names = ", ".join(f'"{name}"' for name in CHILDREN)
    files = {
        "agents/lead.toml": f'name = "lead"\nmodel = "openai/m"\nsub_agents = [{names}]\n',
        **{f"agents/{name}.toml": f'name = "{name}"\nmodel = "openai/m"\n' for name in CHILDREN},
        "tests/release.toml": 'agent = "lead"\n' + "".join(map(_case, range(count))),
    }
    for number in range(count):
        files[f"tests/recordings/release/case-{number}.toml"] = _recording(number)
    for name, text in files.items():
        path = folder / "axe" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def _case(number: int) -> str:
    children = (
        f'\n[[case.expect.children]]\nagent = "{name}"\ntimes = 1\nanswer = {{ contains = "fine" }}\n'
        for name in CHILDREN
    )
    calls = ", ".join(f'{{ name = "call_agent", args = {{ agent = "{n}" }} }}' for n in CHILDREN)
    return (
        f'\n[[case]]\nname = "case-{number}"\ntask = "{_task(number)}"\n\n[case.expect]\n'
        f'answer = {{ contains = "yes", matches = "(?i)^release {number}: .+$" }}\nturns = {{ max = 2 }}\n'
        f'\n[[case.expect.tools]]\nmatch = "exact"\ncalls = [{calls}]\n{"".join(children)}'
    )


def _task(number: int) -> str:
    return f"Can release {number} be made?"


def _recording(number: int) -> str:
    calls = "".join(
        f'    {{ id = "{name}", name = "call_agent", '
        f"""arguments = '{{"agent": "{name}", "task": "{_part(name)}"}}' }},\n"""
        for name in CHILDREN
    )
    answers = "".join(
        f'\n[[run]]\nagent = "{name}"\n\n[[run.turn]]\n'
        f'sent = [{{ role = "user", content = "Task: {_part(name)}" }}]\n'
        f'text = "All fine."\ninput_tokens = 40\noutput_tokens = 4\n'
        for name in CHILDREN
    )
    return (
        'version = 1\n\n[[run]]\nagent = "lead"\nmodel = "openai/m"\n\n[[run.turn]]\n'
        f'sent = [{{ role = "user", content = "{_task(number)}" }}]\n'
        f'text = "I ask."\ninput_tokens = 100\noutput_tokens = 10\ntool_calls = [\n{calls}]\n'
        f'\n[[run.turn]]\ntext = "Release {number}: yes."\ninput_tokens = 100\noutput_tokens = 10\n{answers}'
    )


def _part(name: str) -> str:
    return f"Look after the {name}."


def _test(folder: Path, count: int) -> None:
    done = subprocess.run(
        [PYTHON.with_name("axe-lsp"), "test"],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    wanted = f"{count} passed in "
    assert wanted in done.stdout, f"{done.stdout[-1000:]}{done.stderr[-500:]}"
