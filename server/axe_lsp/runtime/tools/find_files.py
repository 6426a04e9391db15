"""`find_files`: the paths that match a glob. axe has no such tool."""

from __future__ import annotations

import os

import anyio

from axe_lsp.agentfile.text.globs import BadPatternError, matches, segments_of
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.messages import Tool, ToolCall, ToolParameter
from axe_lsp.runtime.tools.search import Query, named_folders, search
from axe_lsp.runtime.tools.tool import BuiltinTool, ToolError, Workplace, capped_lines, required


async def _find_files(call: ToolCall, workplace: Workplace) -> str:
    pattern = required(call, "pattern")
    above = _above(pattern, workplace)
    try:
        segments = segments_of(pattern[len(above) :])
    except BadPatternError as error:
        raise ToolError(f"invalid glob pattern {quoted(pattern)}: {error}") from error
    # Not by the globs of a query: those bring back what the ignore files leave out.
    query = Query(above or ".", names=named_folders(pattern))
    paths = await search(query, workplace)
    return await anyio.to_thread.run_sync(_matching, segments, paths, above)


def _above(pattern: str, workplace: Workplace) -> str:
    """Return the folder that an absolute pattern names, with a slash; "" for the working directory."""
    folders = (str(each).rstrip("/") + "/" for each in workplace.more_folders)
    return next((each for each in folders if pattern.startswith(each)), "")


def _matching(segments: tuple[str, ...], paths: list[str], above: str) -> str:
    real = os.path.realpath(above).rstrip(os.sep) + os.sep if above else ""
    names = (path.removeprefix(real) for path in paths)
    found = (above + name for name in names if matches(segments, tuple(name.split("/"))))
    return capped_lines(found, "narrow the search") or "no matches"


TOOL = BuiltinTool(
    Tool(
        "find_files",
        "Find files below the working directory by a glob such as 'src/**/*.py'. Returns one "
        "path per line. Files that ignore files such as .gitignore name and the folder .git are "
        "left out.",
        {
            "pattern": ToolParameter(
                "string",
                "The glob, relative to the working directory; ** stands for any directories.",
                required=True,
            ),
        },
    ),
    _find_files,
)
