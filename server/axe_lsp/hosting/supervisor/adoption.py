"""Runs that have outlived their server, as the next server of their folders finds them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import suppress
from itertools import chain, repeat
from typing import TYPE_CHECKING

from axe_lsp.hosting.executors.connection import lost_hosts
from axe_lsp.hosting.supervisor.adopted_host import connect
from axe_lsp.runtime.errors import RunError
from axe_lsp.runtime.files.folders import Environment

if TYPE_CHECKING:
    from axe_lsp.hosting.supervisor.supervisor import Runs

_log = logging.getLogger(__name__)

_LATER = (0.3, 0.7, 1.5, 3.0)
"""Seconds until further looks: the former server may still be about to end."""

_ONCE_MORE = 5.0
"""Seconds between the looks after these, as long as another server has runs in the same folders."""


async def adopted_runs(
    runs: Callable[[], Runs], environment: Environment, folders: Collection[str], *, go_on: bool
) -> AsyncIterator[str]:
    """Adopt the hosts of these folders that have no server; yield the ids of their runs, and "" after each look."""
    for pause in chain(_LATER, repeat(_ONCE_MORE)):
        lost = await asyncio.to_thread(lost_hosts, environment, folders)
        for pid, peer in lost.sockets.items():
            with suppress(OSError):  # It has gone meanwhile.
                host = await connect(peer, pid)
                try:
                    starts = await host.adopt()
                    for run_id in await runs().adopt(host, starts, go_on=go_on) if starts else ():
                        yield run_id
                except RunError as error:
                    _log.warning("The runs of process %d are not followed: %s", pid, error)
                    starts = ()
                if not starts:
                    host.release()
        yield ""
        if not lost.may_come:
            return
        await asyncio.sleep(pause)
