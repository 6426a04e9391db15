"""The files that an agent has read or written: `write_file` does not overwrite one that has changed since."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from axe_lsp.runtime.files.line_ends import plain
from axe_lsp.runtime.messages import Message, ToolCall, ToolResult
from axe_lsp.runtime.plain_text import digest_of
from axe_lsp.runtime.safety.redaction import REDACTED
from axe_lsp.runtime.shortening import is_shortened

COMPARED_BYTES = 10 * 1024 * 1024 + 1
"""Bytes from the beginning of a file that decide if it has changed: one more than files have that are edited."""


class FormerRead(Struct, frozen=True):
    """A call of `read_file` that a former process has executed, and its result."""

    call: ToolCall
    result: str


class SeenFiles:
    """The files that one agent has read or written, by their places.

    A file of this process has a digest of its content. A file that the agent has read before its run was resumed
    or continued has the results of these calls: it is unchanged if `read_file` gives the same results again.
    """

    def __init__(self) -> None:
        self._digests: dict[Path, str] = {}
        self._former_reads: dict[Path, list[FormerRead]] = {}

    def learn(self, messages: Sequence[Message], place: Callable[[str], Path | None]) -> None:
        """Learn of files from the messages of former processes. `place` resolves the path of a call."""
        files_of_this_process = {*self._digests}
        for call, result in _executed_calls(messages):
            if result.is_error or call.name not in ("read_file", *_WRITERS):
                continue
            path = place(call.argument("path"))
            if path is None or path in files_of_this_process:
                continue
            if call.name in _WRITERS:
                self._former_reads.pop(path, None)
            if call.name == "write_file":
                self.note(path, call.argument("content").encode())
            elif call.name == "edit_file":
                self._digests.pop(path, None)
            elif _is_as_read(call, result.content):
                self._former_reads.setdefault(path, []).append(FormerRead(call, result.content))

    def note(self, place: Path, content: bytes) -> None:
        """Note the content of a file that the agent has read or written."""
        self._digests[place] = _digest(content)
        self._former_reads.pop(place, None)

    def note_edit(self, place: Path, before: bytes, after: bytes) -> None:
        """Note an edit of the agent, which shows it nothing of what others have changed in the file."""
        if self._digests.get(place) == _digest(before):
            self.note(place, after)

    def has_changed(self, place: Path, content: bytes) -> bool:
        """Return whether a file has another content now than when the agent has read or written it."""
        known = self._digests.get(place)
        return known is not None and known != _digest(content)

    def former_reads(self, place: Path) -> Sequence[FormerRead]:
        """Return the calls of a former process that have read a file, none if the agent has read or written it since."""
        return self._former_reads.get(place, ())


def _digest(content: bytes) -> str:
    return digest_of(plain(content[:COMPARED_BYTES]))


_WRITERS = ("write_file", "edit_file")


def _executed_calls(messages: Sequence[Message]) -> Iterator[tuple[ToolCall, ToolResult]]:
    """Yield the calls of a conversation with their results.

    A result belongs to a call of the message before: Ollama and Gemini give calls of different messages the same id.
    """
    calls: dict[str, ToolCall] = {}
    for message in messages:
        for result in message.tool_results:
            if (call := calls.pop(result.call_id, None)) is not None:
                yield call, result
        calls = {call.id: call for call in message.tool_calls}


def _is_as_read(call: ToolCall, result: str) -> bool:
    """Return whether a result is all that `read_file` has returned, neither shortened nor redacted."""
    is_begun_with_line = result.startswith(f"{call.argument('offset') or 1}: ")
    return is_begun_with_line and not is_shortened(result) and REDACTED not in result
