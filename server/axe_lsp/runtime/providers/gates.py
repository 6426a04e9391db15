"""The interface of providers' gates, wherever they are. `gate.py` implements one.

Apart from that, since a process that passes requests on needs no gate of its own.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Protocol

from msgspec import Struct

from axe_lsp.runtime.json_data import JsonStruct


class Entry(Struct, frozen=True):
    """Who wants to pass. The `attempts` before this one let a request go before newer ones.

    `deadline` is the moment (of the event loop's clock) at which its run is over. While it waits, it
    is inside `waiting(seconds)`; 0 seconds are as long as it takes until others are ready.
    """

    attempts: int
    deadline: float
    waiting: Callable[[float], AbstractContextManager[object]]


class GateKey(JsonStruct, frozen=True):
    """Which gate: that of a service and of an API key, of which only a checksum is known here."""

    provider: str
    base_url: str
    key_sum: int


def gate_key(provider: str, base_url: str, api_key: str) -> GateKey:
    """The key of a gate. Two API keys for one service have different sums, or share a gate by chance."""
    return GateKey(provider, base_url, zlib.crc32(api_key.encode()))


class Gates(Protocol):
    """Gates of several providers, here or in the process that this one belongs to."""

    def passage(self, key: GateKey, most: int, entry: Entry) -> AbstractAsyncContextManager[None]:
        """Wait to be let in at one of them, as `Gate.passage`; `most` is as for a Gate."""
