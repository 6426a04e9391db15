"""The module that a worker of Dask loads with `--preload axe_lsp.hosting.places.dask_worker`: a handler that starts a tool server.

It starts `axe-lsp hands` as a process of its own for each connection, and passes bytes between the two. So a worker
that is stopped or killed takes nothing with it that the tool server would clean up, and nothing of a run is in its memory
for longer than a message needs. It is no task: Dask executes tasks twice if it takes a worker for lost.
"""

from __future__ import annotations

import asyncio
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from axe_lsp.runtime.processes import module_command

if TYPE_CHECKING:
    from distributed import Worker
    from distributed.comm import Comm

OPERATION = "axe_hands"
PRELOAD = __name__

_PIECE = 1024 * 1024

_GRACE = 2.0
"""Seconds for the tool server to end their commands and to delete their copies."""


async def dask_setup(worker: Worker) -> None:
    """Register the handler. Dask calls this once the worker has been started."""
    worker.handlers[OPERATION] = hands


async def hands(comm: Comm) -> None:
    """Connect each caller with a tool server of its own. Dask requires the name of this parameter."""
    process = await asyncio.create_subprocess_exec(
        *module_command("axe_lsp.cli.main"),
        "hands",
        stdin=PIPE,
        stdout=PIPE,
        limit=_PIECE,
        start_new_session=True,
    )
    both = [asyncio.ensure_future(each) for each in (_there(comm, process), _back(comm, process))]
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await _end(process, both)
        await comm.close()


async def _there(comm: Comm, process: Process) -> None:
    assert process.stdin is not None
    with suppress(OSError):  # Either side has ended.
        # Holders of a certificate of this cluster may send code to its workers; tool servers need none.
        while isinstance(piece := await comm.read(deserializers=["msgpack"]), bytes):
            process.stdin.write(piece)
            await process.stdin.drain()


async def _back(comm: Comm, process: Process) -> None:
    assert process.stdout is not None
    with suppress(OSError):
        while piece := await process.stdout.read(_PIECE):
            await comm.write(piece)


async def _end(process: Process, both: Sequence[asyncio.Future[None]]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), _GRACE)
    except asyncio.TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
    finally:
        for each in both:
            each.cancel()
        await asyncio.wait(both)
