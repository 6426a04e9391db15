"""Polls the disk for changes, for clients that do not watch files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from axe_lsp.daemon import disk

INTERVAL = 1.0
"""Seconds between two looks."""

Stamps = dict[Path, tuple[int, int]]


async def watch(
    folders: Callable[[], Sequence[Path]],
    changed: Callable[[Iterable[Path]], None],
    interval: float = INTERVAL,
) -> None:
    """Tell `changed` of files in `folders` that have changed, appeared or gone, until cancelled.

    At first it tells of all files: nobody knows what happened between reading them and now.
    """
    before: Stamps = {}
    while True:
        now = await asyncio.to_thread(disk.stamps, folders())
        different = [path for path in {*before, *now} if before.get(path) != now.get(path)]
        if different:
            changed(sorted(different))
        before = now
        await asyncio.sleep(interval)
