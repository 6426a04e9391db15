"""When other files are looked at than the one that is being edited."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count

from axe_lsp.lsp.publish_diagnostics import PAUSE, between_edits


async def test_other_files_wait_behind_each_edit() -> None:
    edits, moments = count(), list[float]()
    await between_edits(slow_steps(moments), lambda: next(edits))
    assert min(moments[index + 1] - moments[index] for index in range(4)) >= PAUSE


async def test_all_files_are_looked_at_where_nobody_types() -> None:
    moments = list[float]()
    await between_edits(slow_steps(moments), lambda: 0)
    assert len(moments) == 5


def slow_steps(moments: list[float]) -> Iterator[None]:
    """Five that take longer than a slice."""
    for _ in range(5):
        begun = time.monotonic()
        while time.monotonic() < begun + 0.002:
            pass
        yield
        moments.append(time.monotonic())
