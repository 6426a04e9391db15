"""All cases of one command: which run at the same time, with which answers, and in which order they are told."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Literal

from msgspec import Struct

from axe_lsp.agentfile.check.agent_tests import Case
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.agent_files import Lookup, agent_places
from axe_lsp.runtime.providers.http_provider import HttpProvider
from axe_lsp.runtime.recordings.file import load_recording, save_recording
from axe_lsp.testing.answers import Live, Replayed
from axe_lsp.testing.running import Bench, Outcome, run_case
from axe_lsp.testing.suite import Suite
from axe_lsp.testing.verdicts import Failure

Mode = Literal["replay", "record"]


class Plan(Struct, frozen=True):
    """The cases of one file that are run."""

    suite: Suite
    cases: tuple[Case, ...]


class Campaign(Struct, frozen=True):
    """What is run and how. `max_cost` is in US dollars, 0 for no limit."""

    plans: tuple[Plan, ...]
    mode: Mode = "replay"
    is_loose: bool = False
    updates: bool = False
    trusts_all: bool = False
    jobs: int = 8
    max_cost: float = 0.0


async def run_campaign(campaign: Campaign) -> AsyncIterator[Outcome]:
    """The outcomes, in the order of files and cases. Raises ConfigError."""
    http = HttpProvider(dict(os.environ))
    one_of = asyncio.Semaphore(campaign.jobs)
    tasks: list[asyncio.Task[Outcome]] = []
    spent = _Spent(campaign.max_cost)
    try:
        for plan in campaign.plans:
            lookup = Lookup(agent_places([plan.suite.project], os.environ))
            bench = Bench(plan.suite, lookup.resolver(), http, campaign.trusts_all)
            for case in plan.cases:
                tasks.append(asyncio.create_task(_in_turn(one_of, campaign, bench, case, spent)))
        for task in tasks:
            yield await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await http.close()


class _Spent:
    """The cost of a campaign until now."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self.cost = 0.0

    @property
    def is_all(self) -> bool:
        """Whether no further case may begin."""
        return 0 < self._limit <= self.cost


async def _in_turn(
    one_of: asyncio.Semaphore, campaign: Campaign, bench: Bench, case: Case, spent: _Spent
) -> Outcome:
    async with one_of:
        if spent.is_all:
            limit = f"the cost limit of ${campaign.max_cost:g} is reached"
            return _without_run(bench.suite, case, "unfinished", limit)
        outcome = await _run(campaign, bench, case)
        if campaign.mode != "replay":
            spent.cost += outcome.cost
        return outcome


async def _run(campaign: Campaign, bench: Bench, case: Case) -> Outcome:
    path = bench.suite.recording(case)
    if campaign.mode == "record" and (campaign.updates or not path.exists()):
        return await _record(bench, case)
    if not path.is_file():
        shown = bench.suite.shown
        message = f"no recording: {path.name} in {path.parent}; `axe-lsp test --record '{shown}::{case.name}'` makes it"
        return _without_run(bench.suite, case, "missing", message)
    try:
        recording = load_recording(path)
    except ConfigError as error:
        return _without_run(bench.suite, case, "failed", str(error))
    return await run_case(bench, case, Replayed(recording, is_loose=campaign.is_loose))


async def _record(bench: Bench, case: Case) -> Outcome:
    """Run a case with real answers and keep them, unless the provider failed."""
    answers, path = Live(), bench.suite.recording(case)
    outcome = await run_case(bench, case, answers)
    if outcome.verdict != "provider" and outcome.run is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        save_recording(path, answers.recording())
    return outcome


def _without_run(
    suite: Suite, case: Case, verdict: Literal["missing", "failed", "unfinished"], message: str
) -> Outcome:
    return Outcome(suite, case, verdict, [Failure(case.range, message)])
