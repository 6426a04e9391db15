"""The benchmark of the doors talks to `axe-lsp acp` and `axe-lsp mcp` until both have answered twice."""

from __future__ import annotations

import pytest

from benchmarks.contenders import OURS
from benchmarks.doors import measure_among


@pytest.mark.process
def test_each_door_answers_twice() -> None:
    acp, mcp = measure_among((OURS,), rounds=1)
    for table in (acp, mcp):
        initialized, ready, answered, again, memory = (
            sample.median for row in table.rows for sample in row.samples.values() if sample
        )
        assert 0 < initialized <= ready <= answered
        assert again > 0
        assert memory > 10
