"""The files that an agent knows: what it has read or written is not overwritten once it is something else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from axe_lsp.runtime.files.line_ends import plain
from axe_lsp.runtime.messages import Message, ToolCall
from axe_lsp.runtime.plain_text import digest_of
from axe_lsp.runtime.safety.redaction import REDACTED


class FormerRead(Struct, frozen=True):
    """A call of `read_file` that a former process has executed, and its result."""

    call: ToolCall
    result: str


class SeenFiles:
    """What one agent knows of files, by their places.

    Of a file that it has read or written in this process, the digest of the content is known. Of what it has read
    before its run was resumed or continued, the conversation has the results: such a file is unchanged if
    reading it again gives the same.
    """

    def __init__(self) -> None:
        self._digests: dict[Path, str] = {}
        self._former_reads: dict[Path, list[FormerRead]] = {}

    def learn(self, messages: Sequence[Message], place: Callable[[str], Path | None]) -> None:
        """Learn of files from the messages of former processes. `place` resolves the path of a call."""
        known = {*self._digests}
        results = {result.call_id: result for each in messages for result in each.tool_results}
        for call in (call for each in messages for call in each.tool_calls):
            result = results.get(call.id)
            if result is None or result.is_error or call.name not in ("read_file", *_WRITERS):
                continue
            path = place(call.argument("path"))
            if path is None or path in known:
                continue
            if call.name in _WRITERS:
                self._former_reads.pop(path, None)
            if call.name == "write_file":
                self.note(path, call.argument("content").encode())
            elif call.name == "edit_file":
                self._digests.pop(path, None)
            # A result that was shortened, or holds what looks like a key, is not as it was read.
            elif _is_begun_with_line(call, result.content) and REDACTED not in result.content:
                self._former_reads.setdefault(path, []).append(FormerRead(call, result.content))

    def note(self, place: Path, content: bytes) -> None:
        """Note the content of a file that the agent has read or written."""
        self._digests[place] = digest_of(plain(content))
        self._former_reads.pop(place, None)

    def note_edit(self, place: Path, before: bytes, after: bytes) -> None:
        """Note an edit of the agent, which shows it nothing of what others have changed in the file."""
        if self._digests.get(place) == digest_of(plain(before)):
            self.note(place, after)

    def has_changed(self, place: Path, content: bytes) -> bool:
        """Return whether a file has another content now than when the agent has read or written it."""
        known = self._digests.get(place)
        return known is not None and known != digest_of(plain(content))

    def former_reads(self, place: Path) -> Sequence[FormerRead]:
        """Return what a former process has read of a file, if the agent has not read or written it since."""
        return self._former_reads.get(place, ())


_WRITERS = ("write_file", "edit_file")


def _is_begun_with_line(call: ToolCall, result: str) -> bool:
    return result.startswith(f"{call.argument('offset') or 1}: ")
