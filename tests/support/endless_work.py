"""Work for other processes that never ends: what they do when nobody wants it any more."""

from __future__ import annotations

import signal
from collections.abc import Sequence


def say_so_and_wait(_: Sequence[int]) -> list[int]:
    print("at work", flush=True)
    signal.pause()
    return []
