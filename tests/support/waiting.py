"""Waiting for other processes and threads, on a machine that may be busy."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import anyio

from support.scripted_provider import PATIENCE

_PROMPTLY = 10.0
"""Seconds for what the documentation promises within one, or three: a busy machine takes longer.

What fails to happen takes 15 seconds or has no end. That our own limits add up to less than what is promised
is tested without a clock, in `tests/hosting/test_time_limits.py`.
"""

T = TypeVar("T")


def wait_until(find: Callable[[], T], why: Callable[[], object] = lambda: "") -> T:
    """Until something is so, which is returned. Fails if that does not come about, with what `why` returns."""
    deadline = time.monotonic() + PATIENCE
    while not (found := find()):
        assert time.monotonic() < deadline, why()
        time.sleep(0.01)
    return found


async def until(find: Callable[[], T], why: Callable[[], object] = lambda: "") -> T:
    """Return the same, while the event loop goes on."""
    deadline = time.monotonic() + PATIENCE
    while not (found := find()):
        assert time.monotonic() < deadline, why()
        await anyio.sleep(0.01)
    return found


@contextmanager
def promptly() -> Iterator[None]:
    """Assert that the statements inside do not take as long as a wait for something that fails to happen."""
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    assert took < _PROMPTLY, f"it took {took:.1f} s"
