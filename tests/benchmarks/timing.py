"""Rounds and samples."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

WARM_UP = 3
"""Rounds that don't count: caches fill, code is compiled on first use."""

Measure = Callable[[], float]
"""Does once what is measured, and says what it took."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Sample:
    """What was measured of one contender, round by round."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def least(self) -> float:
        return min(self.values)

    @property
    def p90(self) -> float:
        """Nine of ten values are not above it."""
        return sorted(self.values)[round(0.9 * (len(self.values) - 1))]


def in_rounds(
    contenders: Mapping[str, Measure], rounds: int, warm_up: int = WARM_UP
) -> dict[str, Sample]:
    """Measure the contenders in turns, so that a busy moment of the machine hits all of them."""
    results = take_turns(contenders, rounds, warm_up)
    return {name: Sample(tuple(values)) for name, values in results.items()}


def take_turns(
    contenders: Mapping[str, Callable[[], Result]], rounds: int, warm_up: int = WARM_UP
) -> dict[str, list[Result]]:
    """Return what each contender returned, round by round.

    Each round begins with another one, since who ran before leaves the processor's caches warm or
    cold.
    """
    results: dict[str, list[Result]] = {name: [] for name in contenders}
    names = list(contenders)
    for number in range(-warm_up, rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            result = contenders[name]()
            if number >= 0:
                results[name].append(result)
    return results


def timed(action: Callable[[], object]) -> float:
    """Return how long `action` takes, in milliseconds."""
    started = time.perf_counter()
    action()
    return elapsed_ms(started)


def elapsed_ms(started: float) -> float:
    """Milliseconds since `started`, a reading of `time.perf_counter`."""
    return (time.perf_counter() - started) * 1000
