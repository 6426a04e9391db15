"""The interface of providers' limiters, wherever they are. `adaptive_limiter.py` implements one.

It is a module of its own, since a process that passes requests on needs no limiter.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Protocol

from msgspec import Struct

from axe_lsp.runtime.json_data import JsonStruct


class Entry(Struct, frozen=True):
    """A request that waits. The `attempts` before this one let a request go before newer ones.

    `deadline` is the moment (of the event loop's clock) at which its run is over. While it waits, it
    is inside `waiting(seconds)`; 0 seconds are as long as it takes until others are ready.
    """

    attempts: int
    deadline: float
    waiting: Callable[[float], AbstractContextManager[object]]


class LimiterKey(JsonStruct, frozen=True):
    """Which limiter: that of a service and an API key, of which only a checksum is known here."""

    provider: str
    base_url: str
    key_sum: int


def limiter_key(provider: str, base_url: str, api_key: str) -> LimiterKey:
    """The key of a limiter. Two API keys of one service have different sums, or share a limiter by chance."""
    return LimiterKey(provider, base_url, zlib.crc32(api_key.encode()))


class Limiters(Protocol):
    """Limiters of several providers, here or in the process that this one belongs to."""

    def passage(
        self, key: LimiterKey, most: int, entry: Entry
    ) -> AbstractAsyncContextManager[None]:
        """Wait until a request may be sent, as `AdaptiveLimiter.passage`; `most` is that of the `AdaptiveLimiter`."""
