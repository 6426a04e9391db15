"""All cases of one command: which run at the same time, with which answers, and in which order they are told."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.check.cases import Case
from axe_lsp.runtime.copies.copy import remove, take_lock
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.agent_files import Lookup, agent_places
from axe_lsp.runtime.files.regular_files import is_there, read_file
from axe_lsp.runtime.plain_text import os_fault, shown_path
from axe_lsp.runtime.providers.http_provider import HttpProvider
from axe_lsp.runtime.recordings.file import dump_recording, load_recording, save_recording
from axe_lsp.runtime.recordings.recording import Recording
from axe_lsp.testing.answers import Live, Replayed
from axe_lsp.testing.observed import total
from axe_lsp.testing.run_case import Bench, Outcome, Rate, run_case
from axe_lsp.testing.suite import RECORD_AGAIN, Suite
from axe_lsp.testing.verdicts import Failure

Mode = Literal["replay", "record", "live"]


class Plan(Struct, frozen=True):
    """The cases of one file that are run."""

    suite: Suite
    cases: tuple[Case, ...]


Agrees = Callable[[Outcome, str, str], Awaitable[bool]]
"""Shows a user an outcome with the recording before and after, and says whether to replace it."""


async def always(_outcome: Outcome, _before: str, _after: str) -> bool:
    """Agree to everything."""
    return True


class CaseSession(Struct, frozen=True):
    """What is run and how. `max_cost` is in US dollars, 0 for no limit.

    `updates`: cases with a recording are recorded again, if `agrees` consents.
    With the mode `live` each case runs `repeats` times, with each of `models` in place of the agent's own.
    """

    plans: tuple[Plan, ...]
    mode: Mode = "replay"
    is_loose: bool = False
    updates: bool = False
    agrees: Agrees = always
    trusts_all: bool = False
    allow: tuple[str, ...] = ()
    jobs: int = 8
    max_cost: float = 0.0
    repeats: int = 1
    models: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """The number of outcomes."""
        cases = sum(len(each.cases) for each in self.plans)
        return cases * max(1, len(self.models)) if self.mode == "live" else cases


async def run_session(session: CaseSession) -> AsyncIterator[Outcome]:
    """Yield the outcomes, in the order of files and cases. Raises ConfigError."""
    http = HttpProvider(dict(os.environ))
    work = _Work(session)
    tasks: list[asyncio.Task[Outcome]] = []
    with _scratch_folder() as scratch:
        try:
            for plan in session.plans:
                lookup = Lookup(agent_places([plan.suite.project], os.environ))
                bench = Bench(
                    plan.suite, lookup.resolver(), http, scratch, session.trusts_all, session.allow
                )
                for case in plan.cases:
                    tasks += map(asyncio.create_task, work.begin(bench, case))
            for task in tasks:
                yield await task
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await http.close()


class _Work:
    """The cases that run at the same time, and what they have cost until now."""

    def __init__(self, session: CaseSession) -> None:
        self._session = session
        self._free = asyncio.Semaphore(session.jobs)
        self._cost = 0.0

    def begin(self, bench: Bench, case: Case) -> Iterator[Coroutine[Any, Any, Outcome]]:
        """Yield the outcome of a case, with `--live` one for each model."""
        if self._session.mode != "live":
            yield self._in_turn(bench, case)
            return
        for model in self._session.models or ("",):
            yield self._live(bench, case, model)

    async def _in_turn(self, bench: Bench, case: Case, model: str = "") -> Outcome:
        async with self._free:
            limit = self._session.max_cost
            if 0 < limit <= self._cost:
                message = f"the cost limit of ${limit:g} is reached"
                return _without_run(bench.suite, case, "unfinished", message)
            began = time.monotonic()
            outcome = await self._run(bench, case, model)
            outcome.elapsed = time.monotonic() - began
            if self._session.mode != "replay":
                self._cost += outcome.known_cost
            return outcome

    async def _live(self, bench: Bench, case: Case, model: str) -> Outcome:
        """Run a case several times; it passes at its rate.

        What the provider failed at, and what was not begun, is no run of it, and the verdict then.
        """
        times = range(self._session.repeats)
        outcomes = await asyncio.gather(*(self._in_turn(bench, case, model) for _ in times))
        done = [each for each in outcomes if each.verdict in ("passed", "failed")]
        passed = [each for each in done if each.verdict == "passed"]
        seen = [each.run for each in done if each.run is not None]
        rate = Rate(
            model=model,
            runs=len(done),
            passed=len(passed),
            tokens=median([each.tokens for each in seen] or [0]),
            turns=median([each.turns for each in seen] or [0]),
            cost=total(each.cost for each in done),
        )
        shown = next((each for each in outcomes if each not in done), None)
        if shown is None:
            is_enough = rate.share >= case.rate
            failed = (each for each in done if each.verdict == "failed")
            shown = passed[0] if is_enough and passed else next(failed, done[0])
            shown.verdict = "passed" if is_enough else "failed"
        shown.rate, shown.elapsed = rate, sum(each.elapsed for each in outcomes)
        return shown

    async def _run(self, bench: Bench, case: Case, model: str) -> Outcome:
        session = self._session
        if session.mode == "live":
            return await run_case(bench, case, Live(), model)
        path = bench.suite.recording(case)
        is_recorded = is_there(path)
        if session.mode == "record" and (session.updates or not is_recorded):
            return await _record(bench, case, session.agrees)
        if not is_recorded:
            command = bench.suite.command(case, "--record")
            message = f"no recording: {path.name} in {path.parent}; `{command}` makes it"
            return _without_run(bench.suite, case, "missing", message)
        try:
            recording = load_recording(path)
        except ConfigError as error:
            message = f"{error}; `{bench.suite.command(case, *RECORD_AGAIN)}` records it again"
            return _without_run(bench.suite, case, "failed", message)
        replays_tools = bench.suite.cases.replays_tools
        answers = Replayed(recording, is_loose=session.is_loose, replays_tools=replays_tools)
        return await run_case(bench, case, answers)


async def _record(bench: Bench, case: Case, agrees: Agrees) -> Outcome:
    """Run a case with real answers and keep them, unless the provider failed, or the user wants the old ones."""
    answers, path = Live(), bench.suite.recording(case)
    if fault := _why_not_written(path):  # Before the answers are paid for.
        return _without_run(bench.suite, case, "failed", fault)
    outcome = await run_case(bench, case, answers)
    if outcome.verdict == "provider" or outcome.run is None:
        return outcome
    recording = answers.recording()
    if path.exists():
        before, after = _text_before(path), _timeless(recording)
        if before == after:
            outcome.recorded = "unchanged"
            return outcome
        if not await agrees(outcome, before, after):
            outcome.recorded = "kept"
            return outcome
    outcome.recorded = "replaced" if path.exists() else "new"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        save_recording(path, recording)
    except OSError as error:
        failure = Failure(case.range, f"{_NOT_WRITTEN}: {os_fault(error)}")
        outcome.verdict, outcome.failures = "failed", [*outcome.failures, failure]
        outcome.recorded = None
    return outcome


_NOT_WRITTEN = "the recording can't be written"


def _why_not_written(path: Path) -> str:
    """Return why a recording can't be written, as far as its folder tells; "" if nothing is known against it."""
    folder = next(each for each in path.parents if os.path.lexists(each))
    if not folder.is_dir():
        return f"{_NOT_WRITTEN}: {shown_path(folder)} is not a folder"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"{_NOT_WRITTEN}: there is no permission to write in {shown_path(folder)}"
    return ""


def _text_before(path: Path) -> str:
    """Return a recording as it is compared with a new one; the file itself if it is damaged."""
    try:
        return _timeless(load_recording(path))
    except ConfigError:
        try:
            return read_file(path).decode(errors="replace")
        except OSError:
            return ""


def _timeless(recording: Recording) -> str:
    """Return the text of a recording without the durations, which differ each time."""
    runs = (
        replace(run, turns=tuple(replace(turn, duration_ms=0) for turn in run.turns))
        for run in recording.runs
    )
    return dump_recording(replace(recording, runs=tuple(runs)))


def _without_run(
    suite: Suite, case: Case, verdict: Literal["missing", "failed", "unfinished"], message: str
) -> Outcome:
    return Outcome(suite, case, verdict, [Failure(case.range, message)])


# -- the folder in which the cases work


_PREFIX = "axe-test-"
_LOCK = "lock"


@contextmanager
def _scratch_folder() -> Iterator[Path]:
    """Provide a new folder without links in its path, until the session ends. One whose process was killed is removed."""
    with suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            with suppress(OSError):
                _remove_if_left_over(folder)
    with TemporaryDirectory(prefix=_PREFIX) as name:
        folder = Path(name).resolve()
        lock = take_lock(folder / f"{_LOCK}.new")
        try:
            (folder / f"{_LOCK}.new").rename(folder / _LOCK)  # Nobody finds it before it is locked.
            yield folder
        finally:
            if lock is not None:  # Some file systems have no locks.
                os.close(lock)


def _remove_if_left_over(folder: Path) -> None:
    """Remove a folder of this user whose process does not hold its lock any more. Raises OSError."""
    if sys.platform == "win32":  # An open lock could not be deleted with its folder.
        return
    status = folder.lstat()
    is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    # Not made anew: the process may be deleting its folder just now.
    lock = take_lock(folder / _LOCK, is_made=False) if is_ours else None
    if lock is not None:
        os.close(lock)
        remove(folder)
