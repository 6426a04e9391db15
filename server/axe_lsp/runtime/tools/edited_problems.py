"""The problems that an edit leaves, for its result: only what is known to be about the text after the edit.

The editor is asked before and after the edit. A problem that was there before, in a line that the edit has not changed,
is only counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import anyio
from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.runtime.files.user_config import usable_config
from axe_lsp.runtime.messages import ToolCall, ToolResult
from axe_lsp.runtime.plain_text import decode
from axe_lsp.runtime.tools.code_queries import (
    HEADING,
    LocalItem,
    content_on_disk,
    counted,
    local_items,
    quoting,
    text_digest,
)
from axe_lsp.runtime.tools.diagnostics import is_as_bad, problem_lines
from axe_lsp.runtime.tools.editor import CodeAnswer, CodeItem, EditorOfRun, QueryCode
from axe_lsp.runtime.tools.tool import ToolError, Workplace
from axe_lsp.runtime.tools.tool_table import changed_file, changes_file

_SECONDS = 3.0
"""For language servers to check the text after an edit."""

_MOST_LISTED = 20
_MOST_COMPARED = 40_000
"""Pairs of lines that are compared to find the changed ones; beyond that all between the first and the last one count.
The time of a comparison grows with the cube of the lines in the worst case, as of lines that alternate."""

_WORST = {"errors": "error", "warnings": "warning"}


class _Earlier(Struct, frozen=True):
    """A file before an edit, None for a new one, and its problems, None if they are not known."""

    content: bytes | None
    problems: Sequence[CodeItem] | None


class EditCheck:
    """The check of one edit of a file, from before it until after it."""

    def __init__(self, call: ToolCall, workplace: Workplace) -> None:
        self._call = call
        self._workplace = workplace
        self._editor = _asked_editor(call, workplace)
        self._earlier = _Earlier(None, ())
        self._worst = ""
        self._is_served = True
        """Whether there is a language server for the file."""

    async def begin(self) -> None:
        """Learn what is known of the file before the edit."""
        if self._editor is None:
            return
        setting = usable_config(self._workplace.environment).diagnostics_after_edit
        self._worst = _WORST.get(setting, "")
        if not self._worst:
            self._editor = None
            return
        file = self._file()
        content = await anyio.to_thread.run_sync(content_on_disk, file) if file else None
        if file is not None and content is not None:
            problems = await self._problems(file, content, 0.0)
            self._earlier = _Earlier(content, problems)

    async def with_remark(self, result: ToolResult) -> ToolResult:
        """Return the result of the edit with its problems."""
        if self._editor is None or result.is_error:
            return result
        file = self._file()
        content = await anyio.to_thread.run_sync(content_on_disk, file) if file else None
        if file is None or content is None:
            return result
        return replace(result, content=result.content + await self._remark(file, content))

    async def _remark(self, file: Path, content: bytes) -> str:
        problems = await self._problems(file, content, _SECONDS) if self._is_served else None
        if not self._is_served:
            return ""
        if problems is None or await anyio.to_thread.run_sync(content_on_disk, file) != content:
            shown = quoting(self._workplace)(self._call.argument("path"))
            return f"\nthe editor has not finished checking {shown}"
        tell = partial(_told, self._workplace, self._earlier, content, problems)
        return await anyio.to_thread.run_sync(tell)

    def _file(self) -> Path | None:
        try:
            return changed_file(self._call, self._workplace)
        except ToolError:
            return None

    async def _problems(
        self, file: Path, content: bytes, seconds: float
    ) -> Sequence[CodeItem] | None:
        """Return the problems of a text of a file; None unless the editor has checked exactly this text."""
        if self._editor is None:
            return None
        digest = text_digest(content)
        answer = await self._editor.ask(
            QueryCode("diagnostics", str(file), digest=digest, seconds=seconds)
        )
        found = answer.about_code
        if found is None:
            return None
        self._is_served = not found.missing
        select = partial(_of_text, self._workplace, file, digest, found)
        problems = await anyio.to_thread.run_sync(select)
        if problems is None:
            return None
        return [each for each in problems if is_as_bad(each, self._worst)]


def _asked_editor(call: ToolCall, workplace: Workplace) -> EditorOfRun | None:
    """Return the editor that checks what a call has done; None if the call edits no file, or no editor can."""
    editor = workplace.editor
    if editor is None or not editor.can("code") or workplace.remote_copy is not None:
        return None
    return editor if changes_file(call.name) else None


def _of_text(
    workplace: Workplace, file: Path, digest: str, answer: CodeAnswer
) -> Sequence[CodeItem] | None:
    """Return the problems of a file, if its text with this digest was checked. Reads links."""
    checked, _ = local_items(workplace, [CodeItem(each) for each in answer.checked])
    digests = {answer.checked[each.item.path] for each in checked if each.place == file}
    if digests != {digest}:
        return None
    return [each.item for each in local_items(workplace, answer.items)[0] if each.place == file]


def _told(
    workplace: Workplace, earlier: _Earlier, content: bytes, problems: Sequence[CodeItem]
) -> str:
    """Return the problems after an edit: new ones, those that may be older, and the number of older ones."""
    places, _ = local_items(workplace, problems)
    former_lines = unchanged_lines(_lines(earlier.content or b""), _lines(content))
    if earlier.content is None:
        former_lines = {}
    unchanged = [each for each in places if each.item.line in former_lines]
    new = [each for each in places if each.item.line not in former_lines]
    uncertain: list[LocalItem] = []
    count = 0
    if earlier.problems is None:
        uncertain = unchanged
    else:
        former = Counter(_identity(each, each.line) for each in earlier.problems)
        for each in unchanged:
            identity = _identity(each.item, former_lines[each.item.line])
            is_older = former[identity] > 0
            former[identity] -= 1
            count += is_older
            new += [] if is_older else [each]
    new.sort(key=lambda each: each.item.line)
    parts = [
        *_listed(workplace, new, "after this edit"),
        *_listed(
            workplace, uncertain, "in lines that this edit has not changed, perhaps from before"
        ),
    ]
    if count:
        were = "was" if count == 1 else "were"
        parts.append(f"{counted(count, 'problem')} {were} there before")
    return "".join(f"\n{each}" for each in parts)


def _listed(workplace: Workplace, problems: Sequence[LocalItem], when: str) -> Iterator[str]:
    if not problems:
        return
    yield f"{counted(len(problems), 'problem')} {when}, {HEADING}:"
    yield from problem_lines(workplace, problems[:_MOST_LISTED])
    if len(problems) > _MOST_LISTED:
        yield f"({len(problems) - _MOST_LISTED} more are not shown)"


def _identity(item: CodeItem, line: int) -> tuple[int, str, str, str]:
    return line, item.message, item.severity, item.source


def _lines(content: bytes) -> Sequence[str]:
    return decode(content).split("\n")


def unchanged_lines(before: Sequence[str], after: Sequence[str]) -> Mapping[int, int]:
    """Return the lines of `after` that an edit has not changed, each with its number in `before`; both from 1."""
    shorter = min(len(before), len(after))
    start = 0
    while start < shorter and before[start] == after[start]:
        start += 1
    end = 0
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    numbers = {line: line for line in range(1, start + 1)}
    shift = len(before) - len(after)
    numbers.update((line, line + shift) for line in range(len(after) - end + 1, len(after) + 1))
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if len(old) * len(new) <= _MOST_COMPARED:
        from difflib import SequenceMatcher

        for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
            numbers.update(
                (start + block.b + each + 1, start + block.a + each + 1)
                for each in range(block.size)
            )
    return numbers
