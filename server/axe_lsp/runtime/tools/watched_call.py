"""A call in a copy that changes a file, and the part of the change that the user has seen."""

from __future__ import annotations

from pathlib import Path

import anyio
from msgspec.structs import replace

from axe_lsp.runtime.files.opening import is_nothing, opened_file
from axe_lsp.runtime.messages import ToolCall
from axe_lsp.runtime.safety.agreed_changes import AgreedChanges, digest_of_content
from axe_lsp.runtime.safety.approval import ApprovalRequest, Rehearsal
from axe_lsp.runtime.tools.diff import MOST_SENT
from axe_lsp.runtime.tools.tool import Workplace
from axe_lsp.runtime.tools.tool_table import changed_file


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
        """The same request, whose answer is noted."""

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
        """It is about to be executed."""
        is_shown = self._is_agreed and self._shown and self._then
        if not (is_shown and await self._state() == self._shown):
            self._path = None

    async def _state(self) -> str:
        """Of the file that it changes; "" if there is none."""
        self._path = changed_file(self._call, self._workplace)
        return "" if self._path is None else await anyio.to_thread.run_sync(_digest_of, self._path)

    async def end(self) -> None:
        """It has been executed. Another agent or a command may have changed the file at the same time."""
        if self._path is not None:
            after = await anyio.to_thread.run_sync(_digest_of, self._path)
            if after == self._then:
                self._changes.add(self._path, self._shown, after)


def _digest_of(path: Path) -> str:
    """The digest of the file at a path without links; "" if it is no file, or too large to be shown."""
    try:
        if is_nothing(path):
            return digest_of_content(None)
        with opened_file(path) as file:
            content = file.read(MOST_SENT + 1)
        return digest_of_content(content) if len(content) <= MOST_SENT else ""
    except OSError:
        return ""
