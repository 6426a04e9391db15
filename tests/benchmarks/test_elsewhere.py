"""The benchmark of agents elsewhere makes each of its runs to the end."""

from __future__ import annotations

import pytest

from benchmarks.contenders import OURS
from benchmarks.elsewhere import measure_among


@pytest.mark.process
def test_agents_run_in_processes_and_on_workers_and_wait_there() -> None:
    tables = list(measure_among((OURS, "tasks of Dask"), [2], commands=2, waiting=3, rounds=1))
    processes, commands, waiting, messages = (table.rows[0].samples for table in tables)
    for samples in (processes, commands, messages):
        assert all(each is not None and each.median > 0 for each in samples.values())
    ours, tasks = commands[OURS], commands["tasks of Dask"]
    assert ours is not None
    assert tasks is not None
    assert min(ours.least, tasks.least) > 500
    assert waiting[OURS] is not None
