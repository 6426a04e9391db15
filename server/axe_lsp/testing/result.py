"""The result of a case as programs get it: `axe-lsp test --format json`, `axe/test`. Lines count from 1.

docs/schemas/test-result.json is made of these classes.
"""

from __future__ import annotations

from inspect import cleandoc
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from axe_lsp.runtime.json_data import Json, to_json
from axe_lsp.testing.run_case import Outcome, Rate, Recorded, Verdict
from axe_lsp.testing.verdicts import Failure


class _Sent(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Members without a value are left out."""


class ToldFailure(_Sent, frozen=True):
    """An expectation that was not met: its line, what was instead, and the run and the call that deviate."""

    line: int
    message: str
    agent: str | UnsetType = UNSET
    run_id: str | UnsetType = UNSET
    tool: str | UnsetType = UNSET
    turn: int | UnsetType = UNSET


class ToldRate(_Sent, frozen=True):
    """The figures of a case that ran several times (`--live`).

    `model` stands in for that of the agent, "" for its own. `interval` has the bounds of the pass rate with 95 %
    confidence. `tokens` and `turns` are medians, and `cost` is that of all runs, in US dollars, if it is known.
    """

    model: str
    runs: int
    passed: int
    interval: tuple[float, float]
    tokens: float
    turns: float
    cost: float | UnsetType = UNSET


class CaseResult(_Sent, frozen=True):
    """The result of a case: a line of `axe-lsp test --format json`. Lines count from 1.

    `file` is the path of the file of tests, from the working directory if it is below. From `runId` to `cost` the
    members are those of the run, if there was one: of its root, `tokens` and `cost` (in US dollars) with all that
    it called; `cost` is there if all prices are known. `seconds` is there with real answers, `rate` with `--live`.
    `recording` is what became of the recording with `--record`: a program that was asked has `kept` it, or had it
    `replaced`. `recorded` and `sent` are the two texts of a stale request that differ.
    """

    file: str
    name: str
    line: int
    agent: str
    verdict: Verdict
    failures: list[ToldFailure]
    run_id: str | UnsetType = UNSET
    status: str | UnsetType = UNSET
    turns: int | UnsetType = UNSET
    tool_calls: int | UnsetType = UNSET
    tokens: int | UnsetType = UNSET
    cost: float | UnsetType = UNSET
    seconds: float | UnsetType = UNSET
    rate: ToldRate | UnsetType = UNSET
    recording: Recorded | UnsetType = UNSET
    recorded: str | UnsetType = UNSET
    sent: str | UnsetType = UNSET


def as_json(outcome: Outcome) -> Json:
    """Return the outcome of a case as a JSON object."""
    suite, run, (recorded, sent) = outcome.suite, outcome.run, outcome.diff
    result = CaseResult(
        file=suite.shown,
        name=outcome.case.name,
        line=suite.line(outcome.case.range),
        agent=suite.cases.agent,
        verdict=outcome.verdict,
        failures=[_failure(each, suite.line(each.range)) for each in outcome.failures],
        run_id=run.run_id if run else UNSET,
        status=run.status if run else UNSET,
        turns=run.turns if run else UNSET,
        tool_calls=run.tool_calls if run else UNSET,
        tokens=run.tokens if run else UNSET,
        cost=run.cost if run and run.cost is not None else UNSET,
        seconds=run.seconds if run and run.seconds is not None else UNSET,
        rate=_rate(outcome.rate) if outcome.rate else UNSET,
        recording=outcome.recorded or UNSET,
        recorded=recorded if recorded != sent else UNSET,
        sent=sent if recorded != sent else UNSET,
    )
    return to_json(result)


def _failure(failure: Failure, line: int) -> ToldFailure:
    run, call = failure.run, failure.call
    return ToldFailure(
        line=line,
        message=failure.message,
        agent=run.agent if run else UNSET,
        run_id=run.run_id if run else UNSET,
        tool=call.name if call else UNSET,
        turn=call.turn if call else UNSET,
    )


def _rate(rate: Rate) -> ToldRate:
    return ToldRate(
        model=rate.model,
        runs=rate.runs,
        passed=rate.passed,
        interval=rate.interval,
        tokens=rate.tokens,
        turns=rate.turns,
        cost=rate.cost if rate.cost is not None else UNSET,
    )


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a result."""
    schema = msgspec.json.schema(CaseResult)
    for each in schema["$defs"].values():
        each["description"] = cleandoc(each["description"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "a result of axe-lsp test --format json",
        **schema,
    }
