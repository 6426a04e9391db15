"""The same 20 tests of agents with axe-lsp, promptfoo, inspect-ai and pydantic-evals.

`python -m benchmarks.compared_tests` in the folder `tests` installs the peers from PyPI and npm, and prints the table
of docs/testing.md. It is no part of `axe-lsp bench`, since promptfoo needs 480 packages of npm. The cases are in
`peers/agent_tests`, once for each contender; their answers are in `peers/case_answers.py`. Each contender has to pass
all cases, and has to fail all of them when the model deviates from what is expected.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.contenders import (
    OURS,
    PEERS,
    PYTHON,
    ROOT,
    Command,
    environment,
    install_npm_peers,
    install_peers,
    scratch_folder,
)
from benchmarks.machine import this_machine
from benchmarks.runs import provider
from benchmarks.timing import Sample, take_turns

_CASES = PEERS / "agent_tests"
_INSTALLED = ROOT / ".cache" / "agent-test-peers"
_ROUNDS = 5


@dataclass(frozen=True)
class Contender:
    """A command that runs the cases, and the files that a user writes.

    `passed` and `failed` are in its output if all cases pass or fail.
    """

    command: Command
    passed: str
    failed: str
    cases: Sequence[str]
    agents: Sequence[str]


_AXE = [PYTHON.with_name("axe-lsp"), "test"]
_PEERS_PYTHON = _INSTALLED / "bin" / "python"
_LIVE = f"{OURS}, --live"

_CONTENDERS: Mapping[str, Contender] = {
    OURS: Contender(
        _AXE, "20 passed in", "20 stale in", ["axe/tests/compared.toml"], ["axe/agents/*.toml"]
    ),
    _LIVE: Contender(
        [*_AXE, "--live"],
        "20 passed in",
        "20 failed in",
        ["axe/tests/compared.toml"],
        ["axe/agents/*.toml"],
    ),
    "promptfoo": Contender(
        [
            _INSTALLED / "node_modules" / ".bin" / "promptfoo",
            "eval",
            "--no-cache",
            "--no-progress-bar",
        ],
        "20 passed (100%)",
        "20 failed (100%)",
        ["promptfooconfig.yaml", "assertions.js"],
        ["promptfoo_provider.py", "pydantic_agents.py"],
    ),
    "inspect-ai": Contender(
        [_PEERS_PYTHON, "inspect_cases.py"],
        "20 of 20",
        "0 of 20",
        ["inspect_cases.py"],
        ["inspect_agents.py"],
    ),
    "pydantic-evals": Contender(
        [_PEERS_PYTHON, "pydantic_evals_cases.py"],
        "20 of 20",
        "0 of 20",
        ["pydantic_evals_cases.py"],
        ["pydantic_agents.py"],
    ),
}


def main() -> None:
    """Install, measure, and print."""
    _install()
    machine = this_machine()
    print(f"{machine.date}, {machine.commit}, {machine.processor}, {machine.cores} cores\n")
    with provider() as address, scratch_folder() as folder:
        shutil.copytree(_CASES, folder, dirs_exist_ok=True)
        variables = _variables(folder, address)
        _run([*_AXE, "--record"], folder, variables, "20 passed in")
        measures = {
            name: partial(_run, each.command, folder, variables, each.passed)
            for name, each in _CONTENDERS.items()
        }
        times = take_turns(measures, _ROUNDS, warm_up=1)
        _deviate(folder)
        for each in _CONTENDERS.values():
            _run(each.command, folder, variables, each.failed)
    print(
        "| | lines of cases | lines of agents | s | s of processor |\n| --- | --: | --: | --: | --: |"
    )
    for name, each in _CONTENDERS.items():
        lines = " | ".join(str(_lines(files)) for files in (each.cases, each.agents))
        wall, processor = (Sample(tuple(values)) for values in zip(*times[name], strict=True))
        print(f"| {name} | {lines} | {_seconds(wall)} | {_seconds(processor)} |")


def _install() -> None:
    install_peers(_CASES / "requirements.txt", _INSTALLED)
    install_npm_peers(_CASES / "package.json", _INSTALLED)


def _variables(folder: Path, address: str) -> dict[str, str]:
    return {
        **environment(folder),
        "PROVIDER": address,
        "OPENAI_API_KEY": "key",
        "AXE_OPENAI_BASE_URL": address,
        "PROMPTFOO_PYTHON": str(_PEERS_PYTHON),
        "PROMPTFOO_CONFIG_DIR": str(folder / ".home" / "promptfoo"),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
    }


def _run(
    command: Command, folder: Path, variables: Mapping[str, str], wanted: str
) -> tuple[float, float]:
    """Return the seconds that a command takes, and those of the processor in it and in its processes."""
    before = os.times()
    done = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    after = os.times()
    assert wanted in done.stdout, f"{command}: {done.stdout[-2000:]}{done.stderr[-1000:]}"
    used = after.children_user + after.children_system
    return after.elapsed - before.elapsed, used - before.children_user - before.children_system


def _deviate(folder: Path) -> None:
    """Change the model of all agents to one that does nothing as expected."""
    for path in [*folder.glob("*.py"), *folder.glob("axe/agents/*.toml")]:
        path.write_text(path.read_text().replace("case-0", "case-1"))


def _lines(patterns: Sequence[str]) -> int:
    """Lines of files that are neither empty nor a comment or a docstring of one line."""
    files = (path for pattern in patterns for path in _CASES.glob(pattern))
    lines = (line.strip() for path in files for line in path.read_text().splitlines())
    return sum(
        bool(line)
        and not line.startswith(("#", "//"))
        and not (line.startswith('"""') and line.endswith('"""'))
        for line in lines
    )


def _seconds(sample: Sample) -> str:
    return f"{sample.median:.2f} ({sample.least:.2f}–{sample.p90:.2f})"


if __name__ == "__main__":
    main()
