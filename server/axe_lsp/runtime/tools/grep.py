"""`grep`: lines that match a regular expression. axe has no such tool."""

from __future__ import annotations

from axe_lsp.runtime.messages import Tool, ToolCall, ToolParameter
from axe_lsp.runtime.tools.search import Query, named_folders, search
from axe_lsp.runtime.tools.tool import BuiltinTool, Workplace, capped_lines, is_true, required


async def _grep(call: ToolCall, workplace: Workplace) -> str:
    path, glob = call.argument("path") or ".", call.argument("glob")
    query = Query(
        path,
        required(call, "pattern"),
        (glob,) if glob else (),
        ignore_case=is_true(call, "ignore_case"),
        names=named_folders(path, glob),
    )
    lines = await search(query, workplace)
    return capped_lines(lines, "narrow the search") or "no matches"


TOOL = BuiltinTool(
    Tool(
        "grep",
        "Search the files below the working directory for a regular expression (ripgrep syntax). "
        "Returns one match per line in the format 'path:line number:text'. Files that ignore "
        "files such as .gitignore name, binary files and the folder .git are left out.",
        {
            "pattern": ToolParameter(
                "string", "The regular expression to search for.", required=True
            ),
            "path": ToolParameter(
                "string", "Relative path to the file or directory to search in. Defaults to all."
            ),
            "glob": ToolParameter(
                "string", 'Search in files that match this glob only, such as "*.py".'
            ),
            "ignore_case": ToolParameter(
                "string", 'When set to "true", upper and lower case are the same.'
            ),
        },
    ),
    _grep,
)
