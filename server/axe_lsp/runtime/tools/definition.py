"""`definition`: where a name is defined, as the language servers of the editor find it."""

from __future__ import annotations

from axe_lsp.runtime.messages import Tool, ToolCall
from axe_lsp.runtime.tools.code_queries import AT, NAME, Listing, listed, query_at
from axe_lsp.runtime.tools.tool import BuiltinTool, Workplace


async def _definition(call: ToolCall, workplace: Workplace) -> str:
    answer = await query_at(workplace, call, "definition")
    listing = Listing("definition", answer.items, answer.left_out, lambda item: item.text or "")
    return await listed(workplace, listing)


TOOL = BuiltinTool(
    Tool(
        "definition",
        "Find where a name is defined, as the editor's language server knows it. Returns one place "
        "per line in the format 'path:line: text'.",
        {"at": AT, "name": NAME},
    ),
    _definition,
    is_here=True,
)
