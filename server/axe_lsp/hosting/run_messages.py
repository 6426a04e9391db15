"""Messages to runs that work in another process: the requests for them, and their execution by a run host."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

from axe_lsp.hosting import protocol
from axe_lsp.hosting.notifications import Message
from axe_lsp.runtime.inbox import MessageEdit, MessageRefusedError, NewMessage

if TYPE_CHECKING:
    # A host that waits has not imported what only runs need.
    from axe_lsp.runtime.children.isolation import Stoppable

_NUMBERS = itertools.count(1)
"""The numbers of requests, which are unique among all hosts."""

_MOMENT = 0.02
"""Seconds between two looks for a run that has been ordered and has not begun."""

_PATIENCE = 10.0
"""Seconds within which such a run begins."""


class MessageRequests:
    """The requests to one host that are not answered yet."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        self._send = send
        self._open: dict[int, asyncio.Future[protocol.MessageAnswer | None]] = {}

    async def request(
        self,
        root_run_id: str,
        run_id: str,
        message: NewMessage | None = None,
        edit: MessageEdit | None = None,
    ) -> protocol.MessageAnswer | None:
        """Return the answer of the host; None if it has died. Raises MessageRefusedError."""
        number = next(_NUMBERS)
        answer = asyncio.get_running_loop().create_future()
        self._open[number] = answer
        self._send(protocol.MessageRequest(number, root_run_id, run_id, message, edit))
        try:
            result: protocol.MessageAnswer | None = await answer
        finally:
            del self._open[number]
        if result is not None and result.refusal is not None:
            raise MessageRefusedError(result.refusal)
        return result

    def hear(self, answer: protocol.MessageAnswer) -> None:
        """Take an answer."""
        waiting = self._open.get(answer.number)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    def lose(self) -> None:
        """Take note that the host has died."""
        for waiting in self._open.values():
            if not waiting.done():
                waiting.set_result(None)


async def answer_of(
    request: protocol.MessageRequest,
    find: Callable[[str], Stoppable | None],
    is_ordered: Callable[[], bool],
) -> protocol.MessageAnswer:
    """Execute a request in the process of the run, which may be about to begin while its root `is_ordered`."""
    deadline = asyncio.get_running_loop().time() + _PATIENCE
    while (run := find(request.run_id)) is None:
        if not is_ordered() or asyncio.get_running_loop().time() > deadline:
            return protocol.MessageAnswer(request.number, refusal="ended")
        await asyncio.sleep(_MOMENT)
    try:
        if request.message is not None:
            message_id = await run.accept_message(request.message)
            return protocol.MessageAnswer(request.number, message_id=message_id)
        if request.edit is not None:
            has_changed = await run.change_message(request.edit)
            return protocol.MessageAnswer(request.number, has_changed=has_changed)
        return protocol.MessageAnswer(request.number, messages=tuple(await run.queued_messages()))
    except MessageRefusedError as error:
        return protocol.MessageAnswer(request.number, refusal=error.reason)
