"""Changes in a copy that the user has seen and agreed to one by one, and is not asked about again.

A file is such a change as long as each of its states since the first one was made by a call that somebody was asked
about (`WatchedCall`), and is what they were shown as a whole. What a rule has allowed, or a command has changed, nobody
has seen.
"""

from __future__ import annotations

from pathlib import Path

import anyio
from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.runtime.files.opening import content_of
from axe_lsp.runtime.messages import ToolCall
from axe_lsp.runtime.plain_text import digest_of
from axe_lsp.runtime.safety.approval import ApprovalRequest, Rehearsal
from axe_lsp.runtime.tools.diff import MOST_SENT
from axe_lsp.runtime.tools.tool import Workplace
from axe_lsp.runtime.tools.tool_table import changed_file


class _Seen(Struct, frozen=True):
    """The first state of a file that the user has seen, and the last one that the user has agreed to."""

    first: str
    last: str


class AgreedChanges:
    """Those of one copy, by the path of the file in it."""

    def __init__(self) -> None:
        self._files: dict[Path, _Seen] = {}

    def add(self, path: Path, before: str, after: str) -> None:
        """Take note that a person has agreed to change a file from one state to another."""
        known = self._files.get(path)
        first = known.first if known is not None and known.last == before else before
        self._files[path] = _Seen(first, after)

    def has(self, path: Path, now: bytes | None, then: bytes | None) -> bool:
        """Return whether the user has seen all changes from one content of the file to the other. None is no file."""
        return self._files.get(path) == _Seen(digest_of_content(now), digest_of_content(then))


NO_FILE = "no file"


def digest_of_content(content: bytes | None) -> str:
    """Return the name of a state of a file. None is no file."""
    return NO_FILE if content is None else digest_of(content)


class WatchedCall:
    """A call in a copy, whose change is added if the user is asked and agrees."""

    def __init__(self, changes: AgreedChanges, call: ToolCall, workplace: Workplace) -> None:
        self._changes = changes
        self._call = call
        self._workplace = workplace
        self._is_agreed = False
        self._path: Path | None = None
        self._shown = ""
        self._then = ""

    def watched(self, request: ApprovalRequest) -> ApprovalRequest:
        """Return the same request, whose answer is noted."""

        async def rehearse() -> Rehearsal:
            before = await self._state()
            rehearsal = await request.rehearse()
            # What is shown is how the file would come from the state in which it is then.
            self._shown = before if await self._state() == before else ""
            change = rehearsal.change
            self._then = digest_of_content(change.after.encode()) if change is not None else ""
            return rehearsal

        return replace(request, rehearse=rehearse, on_agreed=self._agree)

    def _agree(self) -> None:
        self._is_agreed = True

    async def begin(self) -> None:
        """Take note that the change is about to be executed."""
        is_shown = self._is_agreed and self._shown and self._then
        if not (is_shown and await self._state() == self._shown):
            self._path = None

    async def _state(self) -> str:
        """Return the digest of the file that the call changes, "" if there is none."""
        self._path = changed_file(self._call, self._workplace)
        return "" if self._path is None else await anyio.to_thread.run_sync(_digest_of, self._path)

    async def end(self) -> None:
        """Take note that the change has been executed. Another agent or a command may have changed the file at the same time."""
        if self._path is not None:
            after = await anyio.to_thread.run_sync(_digest_of, self._path)
            if after == self._then:
                self._changes.add(self._path, self._shown, after)


def _digest_of(path: Path) -> str:
    """Return the digest of the file at a path without links; "" if it is no file, or too large to be shown."""
    try:
        content = content_of(path, MOST_SENT + 1)
    except OSError:
        return ""
    return digest_of_content(content) if len(content or b"") <= MOST_SENT else ""
