"""Compares what is expected of a run with what happened in it. Pure, except that patterns take a process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct

from axe_lsp.agentfile.check.cases import Argument, Call, Calls, Case, Check, Child, Expected
from axe_lsp.agentfile.text.ranges import TextRange, quoted
from axe_lsp.runtime.json_data import Json
from axe_lsp.runtime.plain_text import os_fault
from axe_lsp.runtime.structured.schemas import check_of
from axe_lsp.testing.observed import Observed, ObservedCall
from axe_lsp.testing.patterns import EndlessError, is_found

_EXCERPT = 60
"""Characters of a value that a message shows."""

_ABSENT = object()


class Failure(Struct, frozen=True):
    """An expectation that is not met: its place in the file, what was, and the run or call that deviates."""

    range: TextRange
    message: str
    run: Observed | None = None
    call: ObservedCall | None = None


class UndecidedError(Exception):
    """A check that can't be decided: its place, and the reason."""

    def __init__(self, where: TextRange, reason: str) -> None:
        super().__init__(reason)
        self.where = where


def failures(case: Case, run: Observed) -> Iterator[Failure]:
    """Yield the deviations of the tree of a run from the expectations of its case, without files and judges.

    May block for seconds, because of patterns. Raises UndecidedError.
    """
    yield from _of_run(case.run, run, run.agent)
    for call in case.forbidden:
        for each in run.tree():
            for made in each.calls:
                if fnmatchcase(made.name, call.name) and not _argument_faults(call, made):
                    shown = _shown(made.arguments)
                    message = f"{quoted(each.agent)} called {quoted(made.name)} {shown}, which is forbidden"
                    yield Failure(call.range, message, each, made)
                    break


def _of_run(expected: Expected, run: Observed, who: str) -> Iterator[Failure]:
    yield from _of_end(expected, run, who)
    for name, checks in expected.measures.items():
        number = run.measure(name)
        if number is None and name == "cost":
            message = f"{who}: cost is not known, since the price of a model is not known"
            yield Failure(checks[0].range, message, run)
            continue
        for check in checks:
            if number is not None and not _FITS[check.word](number, check.wanted):
                bound = f"{_BOUNDS[check.word]} {check.wanted:g}"
                yield Failure(check.range, f"{who}: {name} is {number:g}, {bound}", run)
    for calls in expected.tools:
        yield from _of_calls(calls, run, who)
    for child in expected.children:
        yield from _of_child(child, run, who)


def _of_end(expected: Expected, run: Observed, who: str) -> Iterator[Failure]:
    for check in expected.status:
        if run.status != check.wanted:
            why = f": {run.error}" if run.error else ""
            message = f"{who}: status is {quoted(run.status)}, not {quoted(check.wanted)}{why}"
            yield Failure(check.range, message, run)
    for check in expected.error:
        if fault := text_fault(check, run.error):
            yield Failure(check.range, f"{who}: error {fault}", run)
    for check in expected.answer:
        answer: Json = run.answer
        if run.output is not None and not isinstance(check.wanted, str) and check.word == "equals":
            answer = run.output
        if fault := text_fault(check, answer):
            yield Failure(check.range, f"{who}: answer {fault}", run)


_FITS: Mapping[str, Callable[[float, float], bool]] = {
    "min": lambda number, wanted: number >= wanted,
    "max": lambda number, wanted: number <= wanted,
    "equals": lambda number, wanted: number == wanted,
}
_BOUNDS = {"min": "less than", "max": "more than", "equals": "not"}


# -- texts and values


def text_fault(check: Check, value: Json) -> str:
    """Return why a value does not pass a check, "" if it does. What is no text is compared as JSON.

    Raises UndecidedError: "does not match" would let pass what is forbidden.
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if check.word == "contains":
        missing = [each for each in check.wanted if each not in text]
        return f"lacks {quoted(missing[0])}: {_excerpt(text)}" if missing else ""
    if check.word == "lacks":
        there = [each for each in check.wanted if each in text]
        return f"contains {quoted(there[0])}: {_excerpt(text, there[0])}" if there else ""
    if check.word == "matches":
        return _pattern_fault(check, text)
    if check.word == "equals":
        return _difference(check.wanted, value, text)
    if check.word == "schema":
        return _schema_fault(check.wanted, value)
    return ""  # `any`: it is there.


def _pattern_fault(check: Check, text: str) -> str:
    shown = f"{quoted(check.wanted)}: {_excerpt(text)}"
    try:
        return "" if is_found(check.wanted, text) else f"does not match {shown}"
    except EndlessError:
        raise UndecidedError(check.range, f"this pattern takes too long, {shown}") from None
    except OSError as error:
        reason = f"no process for patterns: {os_fault(error)}"
        raise UndecidedError(check.range, reason) from None


def _difference(wanted: Json, value: Json, text: str) -> str:
    if not isinstance(wanted, str) and isinstance(value, str):
        value = _parsed(value)
    if value == wanted and isinstance(value, bool) == isinstance(wanted, bool):
        return ""
    expected = wanted if isinstance(wanted, str) else json.dumps(wanted, ensure_ascii=False)
    pairs = enumerate(zip(expected, text, strict=False))
    shortest = min(len(expected), len(text))
    index = next((index for index, (left, right) in pairs if left != right), shortest)
    start = max(0, index - _EXCERPT // 2)
    shown = (quoted(each[start : start + _EXCERPT]) for each in (text, expected))
    return "is {} and not {}, from character {} on".format(*shown, index + 1)


def _schema_fault(schema: Any, value: Json) -> str:
    if isinstance(value, str) and (parsed := _parsed(value)) is not _ABSENT:
        value = parsed
    if isinstance(schema, Mapping):
        fault = check_of(schema, "it")(value)
    else:
        fault = "" if schema else "nothing fits `false`"
    return f"does not fit the schema: {fault}" if fault else ""


def _parsed(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _ABSENT


def _excerpt(text: str, around: str = "") -> str:
    start = max(0, text.find(around) - _EXCERPT // 2) if around else 0
    part = text[start : start + _EXCERPT]
    return quoted(("…" if start else "") + part + ("…" if start + _EXCERPT < len(text) else ""))


def _shown(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 2 * _EXCERPT else f"{text[: 2 * _EXCERPT]}…"


# -- tool calls


def _of_calls(expected: Calls, run: Observed, who: str) -> Iterator[Failure]:
    wanted = [call for call in expected.calls for _ in range(call.times)]
    made = run.calls
    if expected.match in ("ordered", "exact"):
        yield from _in_order(expected, wanted, run, who)
        return
    taken = _matched(wanted, made)
    if expected.match != "superset":
        for index, call in enumerate(wanted):
            if index not in taken:
                yield _missing(call, made, run, who)
                break
    if expected.match != "subset":
        others = [call for number, call in enumerate(made) if number not in taken.values()]
        if others and (expected.match == "superset" or len(taken) == len(wanted)):
            yield _unexpected(expected, others[0], run, who)


def _in_order(
    expected: Calls, wanted: Sequence[Call], run: Observed, who: str
) -> Iterator[Failure]:
    """Yield the first call that is missing or, if no others may be between them, another one."""
    made, is_exact, number = run.calls, expected.match == "exact", 0
    for call in wanted:
        while not is_exact and number < len(made) and _fault(call, made[number]):
            number += 1
        if number == len(made) or _fault(call, made[number]):
            yield _missing(call, made[number : number + 1] if is_exact else made, run, who)
            return
        number += 1
    if is_exact and number < len(made):
        yield _unexpected(expected, made[number], run, who)


def _matched(wanted: Sequence[Call], made: Sequence[ObservedCall]) -> dict[int, int]:
    """Return a largest pairing of expected calls with those that were made, by index (augmenting paths)."""
    taken: dict[int, int] = {}

    def find(index: int, seen: set[int]) -> bool:
        for number, call in enumerate(made):
            if number in seen or _fault(wanted[index], call):
                continue
            seen.add(number)
            owner = owners.get(number)
            if owner is None or find(owner, seen):
                owners[number], taken[index] = index, number
                return True
        return False

    owners: dict[int, int] = {}
    for index in range(len(wanted)):
        find(index, set())
    return taken


def _fault(wanted: Call, made: ObservedCall) -> str:
    """Return why a call is not the expected one, "" if it is."""
    if not fnmatchcase(made.name, wanted.name):
        return f"{quoted(made.name)} was called"
    if fault := _argument_faults(wanted, made):
        return fault
    if wanted.error is not None and made.is_error != wanted.error:
        outcome = "failed" if made.is_error else "did not fail"
        return f"the call {outcome}: {_excerpt(made.content)}"
    return ""


def _argument_faults(wanted: Call, made: ObservedCall) -> str:
    for argument in wanted.args:
        value = _argument(argument, made.arguments)
        name = ".".join(argument.path)
        if value is _ABSENT:
            return f"the call has no argument {quoted(name)}"
        for check in argument.checks:
            if fault := text_fault(check, value):
                return f"argument {quoted(name)} {fault}"
    return ""


def _argument(argument: Argument, arguments: Mapping[str, Json]) -> Any:
    here: Any = arguments
    for part in argument.path:
        if not isinstance(here, Mapping) or part not in here:
            return _ABSENT
        here = here[part]
    return here


def _missing(call: Call, made: Sequence[ObservedCall], run: Observed, who: str) -> Failure:
    """Return the nearest call that was made says why it is not the expected one; one that fits came at another time."""
    of_name = [each for each in made if fnmatchcase(each.name, call.name)]
    nearest = min(of_name, key=lambda each: bool(_fault(call, each)), default=None)
    if nearest is not None:
        reason = _fault(call, nearest) or "it was called, but not so often or not in this order"
    elif made:
        names = ", ".join(dict.fromkeys(each.name for each in made))
        reason, nearest = f"called were {names}", made[0] if len(made) == 1 else None
    else:
        reason = "no tool was called" if not run.calls else "no further tool was called"
    message = f"{who}: expected a call of {quoted(call.name)}; {reason}"
    return Failure(call.range, message, run, nearest)


def _unexpected(expected: Calls, made: ObservedCall, run: Observed, who: str) -> Failure:
    message = f"{who}: {quoted(made.name)} {_shown(made.arguments)} was called, which is not among the expected calls"
    return Failure(expected.range, message, run, made)


# -- children


def _of_child(expected: Child, run: Observed, who: str) -> Iterator[Failure]:
    named = [each for each in run.children if each.agent == expected.agent]
    suitable = [each for each in named if expected.is_side in (None, each.is_side)]
    chosen = [
        each
        for each in suitable
        if not any(text_fault(check, each.task) for check in expected.task)
    ]
    where = expected.run.range
    if expected.times is not None and len(chosen) != expected.times:
        message = f"{who}: agent {quoted(expected.agent)} was called {_times(len(chosen))}, not {_times(expected.times)}"
        yield Failure(where, message, run)
        return
    if not chosen and expected.times is None:
        if named and not suitable:
            how = "not as a side run" if expected.is_side else "as a side run"
            message = f"{who}: agent {quoted(expected.agent)} was called, but {how}"
            yield Failure(where, message, run)
            return
        if suitable:
            first = suitable[0]
            fault = next(
                fault for check in expected.task if (fault := text_fault(check, first.task))
            )
            message = f"{who}: agent {quoted(expected.agent)} was called, but its task {fault}"
            place = next(check for check in expected.task if text_fault(check, first.task))
            yield Failure(place.range, message, first)
            return
        others = ", ".join(dict.fromkeys(each.agent for each in run.children)) or "no agent"
        message = f"{who}: agent {quoted(expected.agent)} was not called; called: {others}"
        yield Failure(where, message, run)
        return
    found = [list(_of_run(expected.run, each, f"{who} → {each.agent}")) for each in chosen]
    if expected.times is None:
        # One of them has to be as expected; the nearest one says what is missing.
        yield from min(found, key=len)
    else:
        yield from (failure for each in found for failure in each)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
