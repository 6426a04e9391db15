"""Work on thousands of files is shared among processes, and what comes of it is the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path

import pytest

from axe_lsp.daemon.processes import ENOUGH, shared


def test_few_items_start_no_processes() -> None:
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


@pytest.mark.skipif(sys.platform == "win32", reason="has no signals to wait for")
@pytest.mark.process
def test_processes_end_with_a_parent_that_is_killed() -> None:
    script = (
        "import os; os.cpu_count = lambda: 2\n"
        "from axe_lsp.daemon.processes import ENOUGH, shared\n"
        "from support.endless_work import say_so_and_wait\n"
        "if __name__ == '__main__': shared(say_so_and_wait, range(2 * ENOUGH))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        said = [parent.stdout.readline() for _ in range(2)]
        parent.kill()
        assert said == [b"at work\n"] * 2
        # The output ends when the last of those ends who hold it.
        assert parent.communicate(timeout=60) == (b"", None)
