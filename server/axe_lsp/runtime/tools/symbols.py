"""`symbols`: the symbols of a file, or of the workspace by a query, as the language servers of the editor find them."""

from __future__ import annotations

from axe_lsp.runtime.messages import Tool, ToolCall, ToolParameter
from axe_lsp.runtime.tools.code_queries import Listing, listed, query_file
from axe_lsp.runtime.tools.editor import CodeItem
from axe_lsp.runtime.tools.tool import BuiltinTool, ToolError, Workplace


async def _symbols(call: ToolCall, workplace: Workplace) -> str:
    path, words = call.argument("path"), call.argument("query")
    if bool(path) == bool(words):
        raise ToolError("give either path, for the symbols of a file, or query")
    answer = await query_file(workplace, path, "symbols", name=words)
    return await listed(workplace, Listing("symbol", answer.items, answer.left_out, _line))


def _line(item: CodeItem) -> str:
    return f"{item.kind} {item.name}".strip()


TOOL = BuiltinTool(
    Tool(
        "symbols",
        "List the functions, classes and other symbols of a file, or search those of the workspace, "
        "as the editor's language server knows them. Returns one symbol per line in the format "
        "'path:line: kind name'.",
        {
            "path": ToolParameter("string", "Relative path of the file whose symbols to list."),
            "query": ToolParameter(
                "string", "A name, or a part of one, to search in the workspace instead."
            ),
        },
    ),
    _symbols,
    is_here=True,
)
