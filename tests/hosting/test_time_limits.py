"""The times that the documentation promises, as sums of the limits in the code: no clock of a busy machine decides."""

from __future__ import annotations

from axe_lsp.hosting.places import dask_worker
from axe_lsp.hosting.supervisor.link import Patience
from axe_lsp.runtime.tools import kept_process


def test_a_cancelled_run_has_ended_within_a_second() -> None:
    patience = Patience()
    assert patience.cancel + patience.die < 1


def test_nothing_is_left_on_another_machine_after_3_seconds() -> None:
    assert kept_process._GRACE < 3
    assert dask_worker._GRACE < 3
