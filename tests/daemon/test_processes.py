"""Work on thousands of files is shared among processes, and what comes of it is the same."""

from __future__ import annotations

import os
from collections.abc import Sequence
from operator import itemgetter

import pytest

from axe_lsp.daemon.processes import ENOUGH, shared


def test_few_items_are_worked_on_here() -> None:
    seen: list[Sequence[int]] = []

    def work(numbers: Sequence[int]) -> list[int]:  # No other process could find it.
        seen.append(numbers)
        return [number * number for number in numbers]

    assert shared(work, [1, 2, 3]) == [1, 4, 9]
    assert seen == [[1, 2, 3]]


def test_many_items_are_shared_in_equal_parts_and_none_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    numbers = list(range(2 * ENOUGH + 1))
    assert sorted(shared(list, numbers)) == numbers
    assert sorted(shared(itemgetter(slice(2)), numbers)) == [0, 1, 2, 3]  # The first two of each.
