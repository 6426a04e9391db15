"""`$/progress` while agent files are read, if that takes a while."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import suppress

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from axe_lsp.lsp.session import Session

TITLE = "Reading agent files"

_PATIENCE = 0.5
"""Seconds of reading that are not reported."""

_numbers = itertools.count(1)


async def report_reading(session: Session) -> None:
    """Report `$/progress` from now on until all agent files have been read."""
    if not session.client.supports("window.workDoneProgress") or await _is_over_soon(session):
        return
    token = f"axe-reading-{next(_numbers)}"
    with suppress(JsonRpcException):
        params = types.WorkDoneProgressCreateParams(token)
        await session.request(types.WINDOW_WORK_DONE_PROGRESS_CREATE, params)
        progress = session.progress
        progress.begin(token, types.WorkDoneProgressBegin(TITLE))
        await session.view.settled()
        progress.end(token, types.WorkDoneProgressEnd())


async def _is_over_soon(session: Session) -> bool:
    try:
        await asyncio.wait_for(session.view.settled(), _PATIENCE)
    except asyncio.TimeoutError:
        return False
    return True
