"""The statistics of an agent over its runs, as `axe-lsp agents stats --json` prints them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from statistics import median

from msgspec import Struct, to_builtins

from axe_lsp.hosting.agent_runs.changes import FINISHED, Change, changes
from axe_lsp.hosting.agent_runs.index import FileVersion
from axe_lsp.hosting.agent_runs.runs import LoggedRun
from axe_lsp.hosting.agent_runs.versions import VersionRuns, versions_of
from axe_lsp.runtime.json_data import Json
from axe_lsp.runtime.usage import Usage, cost_today

PROVIDERS = {"codex": "openai", "claude": "anthropic"}
"""The provider of a program, whose list prices count: subscriptions pay nothing by the token."""


def with_price(run: LoggedRun) -> LoggedRun:
    """Return the run with its cost at list prices, if its log names none and its model is known."""
    provider = PROVIDERS.get(run.program)
    if run.cost is None and provider is not None and run.output_tokens:
        cached, written = run.cache_read_tokens, run.cache_write_tokens
        whole = run.input_tokens + cached + written
        used = Usage(whole, run.output_tokens, cached, written)
        run.cost = cost_today(f"{provider}/{run.model}", used)
    return run


class DefinedIn(Struct, frozen=True):
    """The file of an agent: its path, the tools that it names, and its versions, the present one first."""

    path: str
    tools: Sequence[str] = ()
    versions: Sequence[FileVersion] = (FileVersion(0.0),)


def statistics(
    agent: str, program: str, file: DefinedIn | None, runs: Sequence[LoggedRun]
) -> dict[str, Json]:
    """Return the statistics of one agent, of which no file is known if `file` is None."""
    priced = [run.cost for run in runs if run.cost is not None]
    finished = [run for run in runs if run.status in FINISHED]
    used = Counter[str](
        name for run in runs for name, use in run.tools.items() if not use.is_missing
    )
    return {
        "agent": agent,
        "program": program,
        "file": file.path if file is not None else None,
        "runs": len(runs),
        "failed": sum(run.status == "failed" for run in runs),
        "stopped": sum(run.status == "stopped" for run in runs),
        "unfinished": sum(run.status == "unfinished" for run in runs),
        "last": _iso(max(run.began for run in runs)) if runs else None,
        "inputTokens": sum(run.input_tokens for run in runs),
        "outputTokens": sum(run.output_tokens for run in runs),
        "cacheReadTokens": sum(run.cache_read_tokens for run in runs),
        "cacheWriteTokens": sum(run.cache_write_tokens for run in runs),
        "cost": round(sum(priced), 9) if priced else None,
        "costOf": len(priced),
        "medianMs": _median(finished, lambda run: run.duration_ms),
        "medianTurns": _median(finished, lambda run: run.turns),
        "toolCalls": sum(use.calls for run in runs for use in run.tools.values()),
        "tools": _tools(runs, used),
        "unusedTools": [each for each in file.tools if runs and each not in used]
        if file is not None
        else [],
        "missingTools": _missing(runs),
        "parents": dict(Counter(run.parent for run in runs)),
        "models": dict(Counter(run.model for run in runs if run.model)),
        **(_by_version(runs, file) if file is not None else {"versions": [], "changes": []}),
    }


def _by_version(runs: Sequence[LoggedRun], file: DefinedIn) -> dict[str, Json]:
    versions = versions_of(runs, file.versions)
    return {
        "versions": [
            {
                "since": _iso(each.since) if each.since is not None else None,
                "runs": len(each.runs),
                "failed": sum(run.status == "failed" for run in each.runs),
            }
            for each in versions
            if each.runs
        ],
        "changes": [to_builtins(each) for each in changes_of(versions)],
    }


def changes_of(versions: Sequence[VersionRuns]) -> list[Change]:
    """Return the differences between the present version and the one before it."""
    return changes(versions[1].runs, versions[0].runs) if len(versions) > 1 else []


def _tools(runs: Sequence[LoggedRun], used: Counter[str]) -> list[Json]:
    uses = {name: [run.tools[name] for run in runs if name in run.tools] for name in used}
    return [
        {
            "name": name,
            "runs": count,
            "calls": sum(use.calls for use in uses[name] if not use.is_missing),
            "errors": sum(use.errors for use in uses[name] if not use.is_missing),
        }
        for name, count in used.most_common()
    ]


def _missing(runs: Sequence[LoggedRun]) -> list[Json]:
    counts = Counter(name for run in runs for name, use in run.tools.items() if use.is_missing)
    return [{"name": name, "runs": count} for name, count in counts.most_common()]


def _median(runs: Sequence[LoggedRun], of: Callable[[LoggedRun], int]) -> float | int | None:
    if not runs:
        return None
    found = median(map(of, runs))
    return int(found) if found == int(found) else found


def _iso(time: float) -> str:
    return (
        datetime.fromtimestamp(time, timezone.utc)
        .isoformat(timespec="seconds")
        .replace("+00:00", "Z")
    )
