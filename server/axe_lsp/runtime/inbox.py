"""Messages to a run that works: accepted at any time, given at a boundary, the moment before a request.

Each message is a step of its run, so that one that was accepted is not lost when the process ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

from msgspec.structs import replace

from axe_lsp.runtime.events import (
    MessageChanged,
    MessageMode,
    MessageQueued,
    MessageRemoved,
    RunIds,
)
from axe_lsp.runtime.journal import Journal, timestamp
from axe_lsp.runtime.json_data import JsonStruct
from axe_lsp.runtime.run_log import Gave, RunLog, StoredMessage
from axe_lsp.runtime.runs import new_run_id

MAX_QUEUED = 100
"""Messages of one run that wait at the same time."""

MAX_CHARACTERS = 100_000
"""Characters of one message."""

PERSON = "person"
"""The sender of a message that is not an agent."""

MessageRefusal = Literal["unknown", "ended", "tooLong", "full", "recording"]
"""The reasons for which a run takes no message."""

_REFUSALS: Mapping[MessageRefusal, str] = {
    "unknown": "no run has this id",
    "ended": "the run has ended; reply to it instead",
    "tooLong": f"a message may have at most {MAX_CHARACTERS:,} characters",
    "full": f"at most {MAX_QUEUED} messages may wait; remove one, or wait until they are given",
    "recording": "a run that is recorded is not interrupted; send the message with mode `next`",
}


class MessageRefusedError(Exception):
    """A run does not take a message. `reason` is a word for programs."""

    def __init__(self, reason: MessageRefusal) -> None:
        super().__init__(_REFUSALS[reason])
        self.reason = reason


class NewMessage(JsonStruct, frozen=True):
    """A message that is to be accepted. The same `message_id` is the same message; "" gets a new one."""

    text: str
    mode: MessageMode = "next"
    message_id: str = ""
    sender: str = PERSON


class MessageEdit(JsonStruct, frozen=True):
    """A change of a message that waits; None leaves the text or the mode. A removal `removes` it."""

    message_id: str
    text: str | None = None
    mode: MessageMode | None = None
    removes: bool = False


class Interruption:
    """A part of the work that a message of mode `now` breaks off, unless it is `protect`ed."""

    def __init__(self, break_off: Callable[[], object]) -> None:
        self._break_off: Callable[[], object] | None = break_off
        self.has_happened = False

    def protect(self) -> None:
        """Let the work finish from now on."""
        self._break_off = None

    def happen(self) -> None:
        """Break the work off."""
        if self._break_off is not None and not self.has_happened:
            self.has_happened = True
            self._break_off()


class Inbox:
    """The messages of one run that wait. `can_interrupt` is false while the run is recorded."""

    def __init__(self, ids: RunIds, log: RunLog, journal: Journal, can_interrupt: bool) -> None:
        self._ids = ids
        self._log = log
        self._journal = journal
        self._can_interrupt = can_interrupt
        self._queued = {each.message_id: each for each in log.queued_messages}
        self._accepted = set(log.message_ids)
        self._number = log.last_message_number
        self._interruptions: list[Interruption] = []
        self._arrival = asyncio.Event()
        self.is_open = True

    @property
    def queued(self) -> tuple[StoredMessage, ...]:
        """The messages that wait, in the order in which they came."""
        return tuple(self._queued.values())

    @property
    def has_urgent(self) -> bool:
        """Whether a message waits that the next request gives."""
        return any(each.mode != "after" for each in self._queued.values())

    @property
    def interrupts(self) -> bool:
        """Whether a message of mode `now` waits."""
        return any(each.mode == "now" for each in self._queued.values())

    @property
    def arrival(self) -> asyncio.Event:
        """The event that is set when the next message comes that does not wait for the end."""
        if self._arrival.is_set() and not self.has_urgent:
            self._arrival = asyncio.Event()
        return self._arrival

    async def accept(self, message: NewMessage) -> str:
        """Queue a message and return its id once it is on the disk. Raises MessageRefusedError."""
        message_id = message.message_id or new_run_id()
        if message_id not in self._accepted:
            self._check(message)
            self._number += 1
            self._accepted.add(message_id)
            self._store(
                StoredMessage(
                    message_id,
                    message.mode,
                    message.text,
                    message.sender,
                    timestamp(),
                    self._number,
                )
            )
            self._journal.emit(
                MessageQueued(
                    run=self._ids,
                    message_id=message_id,
                    mode=message.mode,
                    text=message.text,
                    from_=message.sender,
                )
            )
            self._notify(message.mode)
        await self._log.committed()
        return message_id

    async def change(self, edit: MessageEdit) -> bool:
        """Change or remove a message that waits. Returns False once it is given. Raises MessageRefusedError."""
        message = self._queued.get(edit.message_id)
        if message is None or message.mode == "now" or not self.is_open:
            return False
        if edit.removes:
            del self._queued[edit.message_id]
            self._log.keep("message", call=edit.message_id, data=replace(message, is_removed=True))
            self._journal.emit(MessageRemoved(run=self._ids, message_id=edit.message_id))
        else:
            mode, text = edit.mode or message.mode, edit.text
            self._check_content(mode, text or "")
            self._store(replace(message, mode=mode, text=message.text if text is None else text))
            self._journal.emit(
                MessageChanged(run=self._ids, message_id=edit.message_id, text=text, mode=edit.mode)
            )
            self._notify(mode)
        await self._log.committed()
        return True

    def take(self, *, with_later: bool) -> tuple[StoredMessage, ...]:
        """Remove the messages that the next request gives, `with_later` those of mode `after` as well."""
        taken = tuple(each for each in self.queued if with_later or each.mode != "after")
        for message in taken:
            del self._queued[message.message_id]
        return taken

    def forget(self, gave: Gave) -> None:
        """Forget the messages that a former process has given."""
        for message_id in gave.message_ids:
            self._queued.pop(message_id, None)

    def close(self) -> None:
        """Take no more messages: the run has ended."""
        self.is_open = False

    @contextmanager
    def interruption(self, break_off: Callable[[], object]) -> Iterator[Interruption]:
        """Call `break_off` when a message of mode `now` comes."""
        interruption = Interruption(break_off)
        self._interruptions.append(interruption)
        try:
            yield interruption
        finally:
            self._interruptions.remove(interruption)

    def _check(self, message: NewMessage) -> None:
        if not self.is_open:
            raise MessageRefusedError("ended")
        self._check_content(message.mode, message.text)
        if len(self._queued) >= MAX_QUEUED:
            raise MessageRefusedError("full")

    def _check_content(self, mode: MessageMode, text: str) -> None:
        if mode == "now" and not self._can_interrupt:
            raise MessageRefusedError("recording")
        if len(text) > MAX_CHARACTERS:
            raise MessageRefusedError("tooLong")

    def _store(self, message: StoredMessage) -> None:
        self._queued[message.message_id] = message
        self._log.keep("message", call=message.message_id, data=message)

    def _notify(self, mode: MessageMode) -> None:
        if mode != "after":
            self._arrival.set()
        if mode == "now":
            for interruption in tuple(self._interruptions):
                interruption.happen()
