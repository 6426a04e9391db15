"""Waiting for other processes and threads, on a machine that may be busy."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import anyio

from support.scripted_provider import PATIENCE

_PROMPTLY = 10.0
"""Seconds for what takes one, or three, on a machine that does nothing else. What is broken takes 15 or has no end."""

T = TypeVar("T")


def wait_until(find: Callable[[], T], why: Callable[[], object] = lambda: "") -> T:
    """Until something is so, which is returned. Fails if that does not come about, with what `why` returns."""
    deadline = time.monotonic() + PATIENCE
    while not (found := find()):
        assert time.monotonic() < deadline, why()
        time.sleep(0.01)
    return found


async def until(find: Callable[[], T], why: Callable[[], object] = lambda: "") -> T:
    """The same, while the event loop goes on."""
    deadline = time.monotonic() + PATIENCE
    while not (found := find()):
        assert time.monotonic() < deadline, why()
        await anyio.sleep(0.01)
    return found


@contextmanager
def promptly() -> Iterator[None]:
    """What is in it takes a second or a few, and not as long as something that is waited for in vain."""
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    assert took < _PROMPTLY, f"it took {took:.1f} s"
