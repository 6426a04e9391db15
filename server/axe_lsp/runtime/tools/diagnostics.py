"""`diagnostics`: the problems that the language servers of the editor report, about the text that is on the disk now.

An answer about another text does not count: it is left out, and the result says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import anyio

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.messages import Tool, ToolCall, ToolParameter
from axe_lsp.runtime.tools.code_queries import (
    HEADING,
    MOST_ITEMS,
    LocalItem,
    content_on_disk,
    counted,
    local_items,
    query_file,
    quoting,
    text_digest,
)
from axe_lsp.runtime.tools.editor import CodeAnswer, CodeItem
from axe_lsp.runtime.tools.paths import named_file, place
from axe_lsp.runtime.tools.tool import BuiltinTool, ToolError, Workplace

SEVERITIES = ("error", "warning", "information", "hint")
"""The worst first."""


async def _diagnostics(call: ToolCall, workplace: Workplace) -> str:
    path, worst = call.argument("path"), call.argument("severity") or "hint"
    if worst not in SEVERITIES:
        raise ToolError(f"invalid severity {quoted(worst)}: one of {', '.join(SEVERITIES)}")
    digest = ""
    if path:
        content = await anyio.to_thread.run_sync(content_on_disk, place(workplace, path))
        if content is None:
            raise ToolError(f"{path} can't be read as a file, or is too large")
        digest = text_digest(content)
    answer = await query_file(workplace, path, "diagnostics", digest=digest)
    show = partial(_shown, workplace, path, worst, answer)
    return await anyio.to_thread.run_sync(show, abandon_on_cancel=True)


def _shown(workplace: Workplace, path: str, worst: str, answer: CodeAnswer) -> str:
    """Return the problems of files whose text was checked as it is now, and the other files."""
    items = [each for each in answer.items if is_as_bad(each, worst)]
    local, _ = local_items(workplace, items)
    current = current_files(
        local_items(workplace, [CodeItem(each) for each in answer.checked])[0], answer
    )
    fresh = [each for each in local if each.place in current]
    outdated = dict.fromkeys(each.shown for each in local if each.place not in current)
    if path and place(workplace, path) not in current:
        outdated[named_file(workplace, path).shown] = None
    quote = quoting(workplace)
    notes = [
        f"the editor has not finished checking {quote(each)} as it is now" for each in outdated
    ]
    more = max(0, len(fresh) - MOST_ITEMS) + answer.left_out
    if more:
        notes.append(f"{more} more are not shown")
    lines = list(problem_lines(workplace, fresh[:MOST_ITEMS]))
    if not lines:
        return "\n".join(notes) if notes else "no problems"
    return "\n".join([f"{counted(len(lines), 'problem')}, {HEADING}:", *lines, *notes])


def is_as_bad(item: CodeItem, worst: str) -> bool:
    """Return whether a problem is as bad as a severity. One without a severity of LSP is an error."""
    severity = item.severity if item.severity in SEVERITIES else "error"
    return SEVERITIES.index(severity) <= SEVERITIES.index(worst)


def current_files(checked: Sequence[LocalItem], answer: CodeAnswer) -> frozenset[Path]:
    """Return the files whose text on the disk is the one that was checked. Reads them."""

    def is_current(file: LocalItem) -> bool:
        content = content_on_disk(file.place)
        return content is not None and text_digest(content) == answer.checked[file.item.path]

    return frozenset(each.place for each in checked if is_current(each))


def problem_lines(workplace: Workplace, problems: Sequence[LocalItem]) -> Iterator[str]:
    """Yield a line about each problem."""
    quote = quoting(workplace)
    for each in problems:
        item = each.item
        severity = item.severity if item.severity in SEVERITIES else "error"
        source = f" [{quote(item.source)}]" if item.source else ""
        yield f"{quote(each.shown)}:{item.line}: {severity}: {quote(item.message)}{source}"


TOOL = BuiltinTool(
    Tool(
        "diagnostics",
        "List the problems that the editor's language servers and linters report in a file, or in "
        "all files that they have checked. Returns one problem per line in the format "
        "'path:line: severity: message', and says of which files the check is not finished.",
        {
            "path": ToolParameter("string", "Relative path of a file. Defaults to all files."),
            "severity": ToolParameter(
                "string",
                "The mildest severity to list: error, warning, information or hint. Defaults to hint.",
            ),
        },
    ),
    _diagnostics,
    is_here=True,
)
