"""The queue of updates for a client, sent no more often than a person can read them.

Pieces of a text that follow each other go together, at most 30 times a second. Whatever else is sent comes after them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

Update = dict[str, Any]
"""A SessionUpdate of the protocol."""

_BETWEEN_PIECES = 1 / 30
"""Seconds."""

_BETWEEN_LOGS = 0.5
"""Seconds between two states of the same call."""


class UpdateQueue:
    """The updates on their way to a client.

    `notify` sends a notification; `warn` is called with a session and a text that the user should see.
    """

    def __init__(
        self, notify: Callable[[str, Update], None], warn: Callable[[str, str], None]
    ) -> None:
        self._notify = notify
        self.warn = warn
        self._piece: tuple[str, str, str] | None = None
        self._text: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self._soon: dict[tuple[str, str], Callable[[], Update | None]] = {}
        self._logs: dict[tuple[str, str], asyncio.TimerHandle] = {}

    def say(self, session: str, kind: str, message: str, text: str) -> None:
        """Send a piece of a message; `kind` is the update that it is sent by."""
        piece = (session, kind, message)
        if piece != self._piece:
            self._send_text()
            self._piece = piece
        self._text.append(text)
        # The first piece goes at once, and those that follow wait for a moment.
        if self._timer is None:
            self._send_text()
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(_BETWEEN_PIECES, self._time_is_up)

    def send(self, session: str, update: Update) -> None:
        """Send an update after what was said before it."""
        self._send_text()
        call = update.get("toolCallId")
        if call is not None and update["sessionUpdate"] == "tool_call_update":
            self._soon.pop((session, call), None)  # It is newer.
        self._write(session, update)

    def send_soon(self, session: str, call: str, update: Callable[[], Update | None]) -> None:
        """Send the state that a call has then, unless another one comes in between; None for nothing."""
        key = (session, call)
        self._soon[key] = update
        if key not in self._logs:
            self._send_state(key)

    def flush(self) -> None:
        """Send what is still waiting."""
        self._send_text()
        for timer in self._logs.values():
            timer.cancel()
        self._logs.clear()
        for key in list(self._soon):
            self._write_state(key)

    def _time_is_up(self) -> None:
        self._timer = None
        if self._text and self._piece is not None:
            self._send_text()
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(_BETWEEN_PIECES, self._time_is_up)

    def _send_state(self, key: tuple[str, str]) -> None:
        self._logs.pop(key, None)
        if self._write_state(key):
            loop = asyncio.get_running_loop()
            self._logs[key] = loop.call_later(_BETWEEN_LOGS, self._send_state, key)

    def _write_state(self, key: tuple[str, str]) -> bool:
        make = self._soon.pop(key, None)
        update = make() if make is not None else None
        if update is not None:
            self._send_text()
            self._write(key[0], update)
        return update is not None

    def _send_text(self) -> None:
        text, self._text = "".join(self._text), []
        if text and self._piece is not None:
            session, kind, message = self._piece
            content = {"type": "text", "text": text}
            self._write(session, {"sessionUpdate": kind, "messageId": message, "content": content})

    def _write(self, session: str, update: Update) -> None:
        self._notify("session/update", {"sessionId": session, "update": update})
