"""The run log of a file for the editor: counted in the process of the index, shown by the language server."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median, quantiles

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.daemon.run_statistics import DefinedAgent, WorkspaceRuns
from axe_lsp.hosting.agent_runs.changes import FINISHED
from axe_lsp.hosting.agent_runs.runs import LoggedRun
from axe_lsp.hosting.agent_runs.statistics import PROVIDERS, changes_of
from axe_lsp.hosting.agent_runs.versions import versions_of
from axe_lsp.workspace.run_facts import RunFacts, RunNumbers, ToolRuns, VersionChange

_DAY = 86_400

_FEW, _MANY = 5, 20
"""Runs from which there are medians, and from which nine of ten are told."""

_LIMITS = {
    "timeout": "timeout",
    "tokens": "budget.max_tokens",
    "cost": "budget.max_cost",
    "turns": "budget.max_turns",
    "toolCalls": "budget.max_tool_calls",
    "time": "budget.max_wall_time",
}
"""The keys of what a run can use up."""

_CODE_MODE = frozenset({"exec"})
"""Tools in which Codex hides all others."""


class Window(Struct, frozen=True):
    """The days that are counted, and their end in seconds since 1970. It `is_partial` while logs are being read."""

    days: int
    now: float
    is_partial: bool = False

    def days_since(self, time: float) -> int:
        """Return whole days, so that facts stay equal from one pass to the next."""
        return max(0, int((self.now - time) / _DAY))


def facts_of_files(found: WorkspaceRuns, window: Window) -> dict[str, RunFacts]:
    """Return the facts about each file, by its path; none if no source has any run of the workspace."""
    by_path: defaultdict[str, list[LoggedRun]] = defaultdict(list)
    by_program: Counter[str] = Counter()
    for (program, _, path), runs in found.runs.items():
        by_path[path].extend(runs)
        by_program[program] += len(runs)
    if not by_program.total():
        return {}
    programs = {log.program for log in found.logs}
    facts = {}
    for agent in found.agents.values():
        runs = by_path[str(agent.path)]
        if agent.program in programs or runs:
            own = sum(run.program == agent.program for run in runs)
            others = by_program[agent.program] - own
            known = replace(
                _counted(runs, window), other_runs=others, offered=_offered(found, agent)
            )
            facts[str(agent.path)] = _with_file(known, runs, agent, found, window)
    return facts


def _counted(runs: Sequence[LoggedRun], window: Window) -> RunFacts:
    """Return what runs tell without the file."""
    priced = [run.cost for run in runs if run.cost is not None]
    finished = [run for run in runs if run.status in FINISHED]
    statuses = Counter(run.status for run in runs)
    return RunFacts(
        days=window.days,
        runs=len(runs),
        failed=statuses["failed"],
        stopped=statuses["stopped"],
        unfinished=statuses["unfinished"],
        last=max((run.began for run in runs), default=0.0),
        programs=tuple(Counter(run.program for run in runs).most_common()),
        cost=round(sum(priced), 9) if priced else None,
        partly_priced=len(priced) < len(runs),
        at_list_prices=any(run.program in PROVIDERS for run in runs),
        typical=_numbers(finished, median) if len(finished) >= _FEW else None,
        nine_of_ten=_numbers(finished, _ninth_decile) if len(finished) >= _MANY else None,
        callers=tuple(Counter(run.parent for run in runs).most_common()),
        tools=tuple(_tools(runs)),
        missing=tuple(_missing(runs)),
        limits=dict(Counter(_LIMITS[run.limit] for run in runs if run.limit in _LIMITS)),
        is_counting=window.is_partial,
    )


def _with_file(
    facts: RunFacts,
    runs: Sequence[LoggedRun],
    agent: DefinedAgent,
    found: WorkspaceRuns,
    window: Window,
) -> RunFacts:
    """Add what depends on the file, its tools and its versions."""
    file = found.files[str(agent.path)]
    versions = versions_of(runs, file.versions)
    current = versions[0].runs if versions else []
    change = next(iter(changes_of(versions)), None)
    names_tools = not _used(runs) & _CODE_MODE
    return replace(
        facts,
        never_used=_without(file.tools, _used(runs)) if runs and names_tools else (),
        unused=_without(file.tools, _used(current)) if names_tools else (),
        change=None
        if change is None
        else VersionChange(
            versions[0].since,
            change.measure,
            change.text,
            change.runs,
            change.runs_before,
            change.before,
            change.after,
        ),
        version_runs=len(current),
        version_days=window.days_since(file.versions[0].since) if file.versions else 0,
        age_days=_age(agent.path, window),
        is_started=agent.name in found.started,
    )


def _used(runs: Sequence[LoggedRun]) -> set[str]:
    return {name for run in runs for name, use in run.tools.items() if not use.is_missing}


def _without(tools: Sequence[str], used: set[str]) -> tuple[str, ...]:
    return tuple(each for each in tools if each not in used)


def _numbers(runs: Sequence[LoggedRun], middle: Callable[[Sequence[float]], float]) -> RunNumbers:
    costs = [run.cost for run in runs if run.cost is not None]
    return RunNumbers(
        middle([run.duration_ms for run in runs]),
        middle([run.turns for run in runs]),
        middle([run.input_tokens for run in runs]),
        middle([run.output_tokens for run in runs]),
        middle(costs) if len(costs) > 1 else None,
    )


def _ninth_decile(values: Sequence[float]) -> float:
    return quantiles(values, n=10, method="inclusive")[-1]


def _tools(runs: Sequence[LoggedRun]) -> Iterator[ToolRuns]:
    uses = defaultdict(list)
    for run in runs:
        for name, use in run.tools.items():
            if not use.is_missing:
                uses[name].append(use)
    for name, each in sorted(uses.items(), key=lambda item: (-len(item[1]), item[0])):
        calls, errors = sum(use.calls for use in each), sum(use.errors for use in each)
        yield ToolRuns(name, len(each), calls, errors)


def _missing(runs: Sequence[LoggedRun]) -> list[tuple[str, int]]:
    return Counter(
        name for run in runs for name, use in run.tools.items() if use.is_missing
    ).most_common()


def _offered(found: WorkspaceRuns, agent: DefinedAgent) -> int:
    """Return the sessions of the workspace in which the agent could have been called."""
    return sum(
        sessions
        for log in found.logs
        if log.program == agent.program
        for (folder, name), sessions in log.offered.items()
        if name == agent.name and (agent.is_users or found.has(folder))
    )


def _age(path: Path, window: Window) -> int:
    with suppress(OSError):
        return window.days_since(path.stat().st_mtime)
    return 0
