"""The comparison of an agent's runs since the last edit of its file with those before: reported only if it is certain and large."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from math import erfc, exp, lgamma, sqrt
from statistics import median

from msgspec import Struct

from axe_lsp.hosting.agent_runs.runs import LoggedRun

FINISHED = ("completed", "failed")
"""The statuses of runs that count in percentages and medians."""

_MOST_CHANCE = 0.05 / 4
"""The probability of such a difference by chance, over four measures."""

_LEAST_POINTS, _LEAST_FACTOR = 0.10, 1.25
_FEWEST = 10
"""Finished runs of each version."""


class Change(Struct, frozen=True, rename="camel"):
    """A difference between two versions of an agent; `before` and `after` are shares or medians.

    `runs_before` and `runs` are the numbers of runs that were compared.
    """

    measure: str
    text: str
    before: float | None
    after: float | None
    runs_before: int = 0
    runs: int = 0


class _Measure(Struct, frozen=True):
    name: str
    more: str
    less: str
    of: Callable[[LoggedRun], float | None]


_MEASURES = (
    _Measure("seconds", "slower", "faster", lambda run: run.duration_ms / 1000),
    _Measure("outputTokens", "longer answers", "shorter answers", lambda run: run.output_tokens),
    _Measure("cost", "dearer", "cheaper", lambda run: run.cost),
)


def changes(before: Sequence[LoggedRun], after: Sequence[LoggedRun]) -> list[Change]:
    """Return the differences, in the order in which they matter. Another model makes both incomparable."""
    before = [run for run in before if run.status in FINISHED]
    after = [run for run in after if run.status in FINISHED]
    if not before or not after:
        return []
    model = Counter(run.model for run in after).most_common(1)[0][0]
    if all(run.model != model for run in before):
        return [Change("model", "model changed", None, None, len(before), len(after))]
    before = [run for run in before if run.model == model]
    after = [run for run in after if run.model == model]
    if min(len(before), len(after)) < _FEWEST:
        return []
    return [*_failures(before, after), *_medians(before, after)]


def _failures(before: Sequence[LoggedRun], after: Sequence[LoggedRun]) -> Iterator[Change]:
    failed = [sum(run.status == "failed" for run in runs) for runs in (before, after)]
    shares = failed[0] / len(before), failed[1] / len(after)
    chance = fisher(failed[0], len(before) - failed[0], failed[1], len(after) - failed[1])
    if chance < _MOST_CHANCE and abs(shares[1] - shares[0]) >= _LEAST_POINTS - 1e-9:
        text = "fails more often" if shares[1] > shares[0] else "fails less often"
        yield Change("failures", text, *shares, len(before), len(after))


def _medians(before: Sequence[LoggedRun], after: Sequence[LoggedRun]) -> Iterator[Change]:
    for measure in _MEASURES:
        first = [value for run in before if (value := measure.of(run)) is not None]
        second = [value for run in after if (value := measure.of(run)) is not None]
        if min(len(first), len(second)) < _FEWEST:
            continue
        medians = median(first), median(second)
        low, high = sorted(medians)
        is_large = high > 0 and high >= low * _LEAST_FACTOR
        if is_large and mann_whitney(first, second) < _MOST_CHANCE:
            text = measure.more if medians[1] > medians[0] else measure.less
            yield Change(measure.name, text, *medians, len(first), len(second))


def fisher(a: int, b: int, c: int, d: int) -> float:
    """Return the two-sided probability of Fisher's exact test for the table `a b / c d`."""
    first, second, column = a + b, c + d, a + c
    total = _combinations(first + second, column)

    def logarithm(count: int) -> float:
        return _combinations(first, count) + _combinations(second, column - count) - total

    observed = logarithm(a)
    counts = range(max(0, column - second), min(first, column) + 1)
    as_rare = (each for count in counts if (each := logarithm(count)) <= observed + 1e-7)
    return min(1.0, sum(map(exp, as_rare)))


def _combinations(of: int, count: int) -> float:
    """Return the logarithm of the number of ways to choose `count`."""
    return lgamma(of + 1) - lgamma(count + 1) - lgamma(of - count + 1)


def mann_whitney(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the two-sided probability of the Mann-Whitney test: normal approximation with ties and continuity."""
    tagged = sorted([(value, 0) for value in first] + [(value, 1) for value in second])
    count, rank, sum_of_first, ties = len(tagged), 1, 0.0, 0
    for _, group in groupby(tagged, key=lambda each: each[0]):
        owners = [owner for _, owner in group]
        size = len(owners)
        sum_of_first += owners.count(0) * (rank + (size - 1) / 2)
        ties += size**3 - size
        rank += size
    pairs = len(first) * len(second)
    statistic = sum_of_first - len(first) * (len(first) + 1) / 2
    variance = pairs / 12 * (count + 1 - ties / (count * (count - 1)))
    if variance <= 0:
        return 1.0
    distance = (abs(statistic - pairs / 2) - 0.5) / sqrt(variance)
    return min(1.0, erfc(distance / sqrt(2)))
