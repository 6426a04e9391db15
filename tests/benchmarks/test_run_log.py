"""The benchmark of the run log measures each of its times."""

from __future__ import annotations

import pytest

from benchmarks.contenders import OURS
from benchmarks.run_log import measure


@pytest.mark.process
def test_times_of_the_run_log_are_measured_from_logs_and_from_the_index() -> None:
    table = measure(runs=20, megabytes=2, rounds=1)
    samples = {row.what: row.samples[OURS] for row in table.rows}
    assert list(samples) == ["first numbers", "whole index", "from the index", "nothing is new"]
    assert all(each is not None and each.median > 0 for each in samples.values())
