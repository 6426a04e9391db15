"""`references`: where a name is used, as the language servers of the editor find it."""

from __future__ import annotations

from axe_lsp.runtime.messages import Tool, ToolCall
from axe_lsp.runtime.tools.code_queries import AT, NAME, Listing, listed, query_at
from axe_lsp.runtime.tools.tool import BuiltinTool, Workplace


async def _references(call: ToolCall, workplace: Workplace) -> str:
    answer = await query_at(workplace, call, "references")
    listing = Listing("reference", answer.items, answer.left_out, lambda item: item.text or "")
    return await listed(workplace, listing)


TOOL = BuiltinTool(
    Tool(
        "references",
        "Find all places that use a name, its definition included, as the editor's language server "
        "knows them: more exact than a search for the text. Returns one place per line in the "
        "format 'path:line: text'.",
        {"at": AT, "name": NAME},
    ),
    _references,
    is_here=True,
)
