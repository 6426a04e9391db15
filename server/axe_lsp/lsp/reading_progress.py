"""Tells a client that agent files are still being read, where that takes a while."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import suppress
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from axe_lsp.lsp.server import AxeServer

TITLE = "Reading agent files"

_PATIENCE = 0.5
"""Seconds for which nobody needs to know."""

_numbers = itertools.count(1)


async def tell_of_reading(server: AxeServer) -> None:
    """Report `$/progress` from now on until all agent files have been read."""
    if not server.client.supports("window.workDoneProgress") or await _is_over_soon(server):
        return
    token = f"axe-reading-{next(_numbers)}"
    with suppress(JsonRpcException):
        params = types.WorkDoneProgressCreateParams(token)
        await server.request(types.WINDOW_WORK_DONE_PROGRESS_CREATE, params)
        progress = server.protocol.progress
        progress.begin(token, types.WorkDoneProgressBegin(TITLE))
        await server.view.settled()
        progress.end(token, types.WorkDoneProgressEnd())


async def _is_over_soon(server: AxeServer) -> bool:
    try:
        await asyncio.wait_for(server.view.settled(), _PATIENCE)
    except asyncio.TimeoutError:
        return False
    return True
