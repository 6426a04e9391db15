"""One case: its workspace, its run with recorded or real answers, and what deviates from its expectations."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import anyio.to_thread
from msgspec import Struct, field
from msgspec.structs import replace

from axe_lsp.agentfile.check.cases import Case, File, Judge
from axe_lsp.agentfile.text.ranges import TextRange, quoted
from axe_lsp.runtime.engine import Engine
from axe_lsp.runtime.errors import RunError
from axe_lsp.runtime.events import Event, RunIds, TurnEnd
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.regular_files import is_there, read_file, real_path
from axe_lsp.runtime.json_data import Json
from axe_lsp.runtime.plain_text import decode, os_fault
from axe_lsp.runtime.prepare import root_order
from axe_lsp.runtime.providers.http_provider import HttpProvider
from axe_lsp.runtime.resuming.previous_run import continued
from axe_lsp.runtime.run_log import Known, Log, encoded
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.run_steps import Step
from axe_lsp.runtime.runs import Resolve, RunRequest, new_run_id
from axe_lsp.runtime.safety.allowances import is_copyable
from axe_lsp.runtime.safety.approval import Approval
from axe_lsp.runtime.safety.questions import nobody, refusing
from axe_lsp.runtime.safety.trust import TrustPolicy
from axe_lsp.runtime.services import RunServices
from axe_lsp.runtime.tools.editor import code_only, no_language_server
from axe_lsp.testing.answers import Answers
from axe_lsp.testing.observed import Observed, joined, observed, total, transcript
from axe_lsp.testing.suite import Suite, copy_workspace
from axe_lsp.testing.verdicts import Failure, UndecidedError, failures, text_fault

Verdict = Literal["passed", "failed", "stale", "missing", "provider", "unfinished"]
"""`missing`: there is no recording. `provider`: with real answers, the provider failed. `unfinished`: not run."""


_ADVICE = "name it in `allow` of the file of tests"
_HOW_TO_TRUST = "`axe-lsp test --trust` allows it."
"""Trust is remembered for a folder, and each case has another one."""


class Rate(Struct, frozen=True):
    """The figures of a case that was run several times with real answers. Tokens and turns are medians.

    `model` stands in for that of the agent, "" for its own. `cost` is that of all runs, in US dollars, None if a price
    is not known.
    """

    model: str
    runs: int
    passed: int
    tokens: float
    turns: float
    cost: float | None

    @property
    def share(self) -> float:
        """The part of the runs that passed."""
        return self.passed / self.runs if self.runs else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The bounds of the pass rate with 95 % confidence (Wilson's score interval)."""
        if not self.runs:
            return 0.0, 1.0
        square = _Z * _Z / self.runs
        middle = (self.share + square / 2) / (1 + square)
        spread = self.share * (1 - self.share) / self.runs + square / (4 * self.runs)
        half = _Z * math.sqrt(spread) / (1 + square)
        return max(0.0, middle - half), min(1.0, middle + half)


_Z = 1.959964
"""Standard deviations on either side that hold 95 % of a normal distribution."""


Recorded = Literal["new", "replaced", "kept", "unchanged"]
"""What became of the recording of a case that was run to be recorded. `kept`: the user wants the old one."""


class Outcome(Struct):
    """What came of a case. `diff` has the recorded and the sent text of a stale request.

    `events` are those of its runs, in their order. `rate` is there if it was run with `--live`. `elapsed` are the
    seconds that it took here, of all its runs.
    """

    suite: Suite
    case: Case
    verdict: Verdict
    failures: Sequence[Failure] = ()
    run: Observed | None = None
    diff: tuple[str, str] = ("", "")
    warnings: Sequence[str] = ()
    events: Sequence[Event] = ()
    rate: Rate | None = None
    recorded: Recorded | None = None
    elapsed: float = 0.0

    @property
    def cost(self) -> float | None:
        """What it cost, in US dollars, judges included; None if a price is not known."""
        return total(run.cost for run in observed(self.events))

    @property
    def known_cost(self) -> float:
        """The part of the cost whose prices are known."""
        answers = (event for event in self.events if isinstance(event, TurnEnd))
        cost = self.cost
        return sum(each.cost or 0.0 for each in answers) if cost is None else cost


def _allow_in_words(rule: str) -> str:
    """Return how a file of tests has a rule; "" for one that is not to be copied."""
    if not is_copyable(rule):
        return ""
    return f"`allow = [{json.dumps(rule, ensure_ascii=False)}]` there allows it"


class Bench(Struct, frozen=True):
    """What the cases of a file share. `scratch` has their copied workspaces; `trusts_all`: agents may reach out of these.

    `allow` are rules beside those of the file.
    """

    suite: Suite
    resolve: Resolve
    http: HttpProvider
    scratch: Path
    trusts_all: bool = False
    allow: tuple[str, ...] = ()


async def run_case(bench: Bench, case: Case, answers: Answers, model: str = "") -> Outcome:
    """Run a case in a copy of its workspace. What its agent or its recording has wrong is an outcome.

    Raises ConfigError if the workspace can't be copied.
    """
    with TemporaryDirectory(prefix="case-", dir=bench.scratch) as name:
        run = _Run(bench, case, answers, Path(name), model)
        copy_workspace(bench.suite, run.workspace)
        return await run.outcome()


class _Steps:
    """The steps of the runs of a conversation, whose next run goes on with them. It is a `StepSink`."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, int, str, str], str] = {}

    def keep(self, step: Step) -> None:
        """Keep a step."""
        self.kept[step.run_id, step.turn, step.call, step.kind] = step.data

    async def committed(self, root: str) -> None:
        """Return at once: steps of a case are not stored."""


class _Run(Struct):
    bench: Bench
    case: Case
    answers: Answers
    folder: Path
    model: str
    steps: _Steps = field(default_factory=_Steps)
    events: list[Event] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def workspace(self) -> Path:
        """The copied workspace."""
        return self.folder / "workspace"

    async def outcome(self) -> Outcome:
        # Memories of tests are neither those of the user nor of each other.
        environment = {
            **os.environ,
            "XDG_DATA_HOME": str(self.folder / "data"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
        }
        hook = self.answers.hook(self.workspace, environment)
        services = self._services(environment)
        async with Engine(services, http=self.bench.http, provider_hook=hook) as engine:
            error, output = await self._conversation(engine, environment)
            run = self._observed(output)
            if (stale := self._stale(run)) is not None:
                return stale
            if error is not None and self.answers.is_providers_fault(error, self.case):
                return self._told("provider", [Failure(self.case.range, str(error), run)], run)
            found = await anyio.to_thread.run_sync(self._all_deviations, run, error)
            if run is not None and error is None:
                for judge in self.case.judges:
                    found += await self._judged(engine, judge, run)
        if (stale := self._stale(run)) is not None:
            return stale
        return self._told("failed" if found else "passed", found, run)

    def _services(self, environment: Environment) -> RunServices:
        recorded = self.answers.tools
        return RunServices(
            resolve=self.bench.resolve,
            workspace=self.workspace,
            trust=TrustPolicy(
                os.environ,
                trusts_all=self.bench.trusts_all,
                connects=recorded is None,
                advice=_HOW_TO_TRUST,
            ),
            environment=environment,
            emit=self.events.append,
            warn=self.warnings.append,
            approve=Approval(
                refusing(self.warnings.append, _ADVICE, _allow_in_words),
                (*self.bench.suite.cases.allow, *self.bench.allow),
            ),
            ask=nobody,
            steps=self.steps if len(self.case.tasks) > 1 else None,
            recorded=recorded,
            editor=code_only(no_language_server),  # A recording may have its tools.
        )

    async def _conversation(
        self, engine: Engine, environment: Environment
    ) -> tuple[RunError | None, Json]:
        """Send the tasks, one after the other, until a run fails; returns its error, or the last output."""
        former = ""
        result: RunResult | None = None
        for task in self.case.tasks or (None,):
            request = RunRequest(
                agent=self.bench.suite.cases.agent,
                task=task,
                input=self.case.input,
                model=self.model,
            )
            run_id = new_run_id()
            try:
                known = None
                if former:
                    known = await self._continuation(request, run_id, former, environment)
                result = await engine.run(request, run_id, known=known)
            except RunError as error:
                return error, None
            former = run_id
        return None, result.output if result is not None else None

    async def _continuation(
        self, request: RunRequest, run_id: str, former: str, environment: Environment
    ) -> Known:
        order = root_order(request, self.workspace, environment, run_id)
        log = Log(known=Known(dict(self.steps.kept))).of(RunIds(former, former, request.agent))
        first = await continued(log, replace(order, continues=former))
        return Known({(run_id, 0, "", "first"): encoded(first)})

    def _observed(self, output: Json) -> Observed | None:
        roots = observed(self.events, is_live=self.answers.is_live)
        if not roots:
            return None
        roots[-1].output = output
        return joined(roots)

    def _stale(self, run: Observed | None) -> Outcome | None:
        deviation = self.answers.deviation
        if deviation is None:
            return None
        runs = {each.run_id: each for each in (run.tree() if run is not None else ())}
        failure = Failure(self.case.range, deviation.reason, runs.get(deviation.run.run_id))
        outcome = self._told("stale", [failure], run)
        outcome.diff = (deviation.recorded, deviation.sent)
        return outcome

    def _all_deviations(self, run: Observed | None, error: RunError | None) -> list[Failure]:
        found: list[Failure] = []
        try:
            for each in self._deviations(run, error):
                found.append(each)
        except UndecidedError as undecided:
            found.append(Failure(undecided.where, str(undecided), run))
        return found

    def _deviations(self, run: Observed | None, error: RunError | None) -> Iterator[Failure]:
        if run is None:
            yield Failure(self.case.range, f"the run could not begin: {error}")
            return
        yield from failures(self.case, run)
        for file in self.case.files:
            for where, fault in file_faults(file, self.workspace):
                yield Failure(where, f"file {quoted(file.path)} {fault}", run)

    async def _judged(self, engine: Engine, judge: Judge, run: Observed) -> list[Failure]:
        """Return what an agent of the user's says about the run, if it does not let it pass."""
        given = {
            "task": "\n\n".join(self.case.tasks) or run.task,
            "answer": run.answer,
            "transcript": transcript(run),
            "criteria": judge.criteria,
        }
        who = f"judge {quoted(judge.agent)}"
        try:
            result = await engine.run(RunRequest(agent=judge.agent, input=given))
        except RunError as error:
            return [Failure(judge.range, f"{who} failed: {error}", run)]
        verdict = result.output if isinstance(result.output, dict) else {}
        if not isinstance(verdict.get("pass"), bool):
            needed = "its [output] needs a boolean `pass` and a string `reason`"
            return [Failure(judge.range, f"{who} gave no verdict: {needed}", run)]
        if verdict["pass"]:
            return []
        score = f" (score {verdict['score']})" if "score" in verdict else ""
        return [Failure(judge.range, f"{who}: {verdict.get('reason', 'no reason')}{score}", run)]

    def _told(self, verdict: Verdict, found: Sequence[Failure], run: Observed | None) -> Outcome:
        return Outcome(
            suite=self.bench.suite,
            case=self.case,
            verdict=verdict,
            failures=found,
            run=run,
            warnings=self.warnings,
            events=self.events,
        )


def file_faults(file: File, workspace: Path) -> Iterator[tuple[TextRange, str]]:
    """Yield what a file of the workspace has that it should not have. Links that lead out count as not there."""
    path = real_path(workspace / file.path)
    was_found = workspace in path.parents and is_there(path)
    if was_found != file.is_there:
        yield file.range, "is there" if was_found else "is not there"
    elif file.checks:
        try:
            text = decode(read_file(path))
        except OSError as error:
            yield file.range, f"can't be read: {os_fault(error)}"
            return
        for check in file.checks:
            if fault := text_fault(check, text):
                yield check.range, fault
