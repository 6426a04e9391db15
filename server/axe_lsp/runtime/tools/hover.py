"""`hover`: the type and the documentation of a name, as the language servers of the editor show them."""

from __future__ import annotations

from axe_lsp.runtime.messages import Tool, ToolCall
from axe_lsp.runtime.tools.code_queries import AT, HEADING, NAME, query_at, quoted_lines
from axe_lsp.runtime.tools.tool import BuiltinTool, Workplace


async def _hover(call: ToolCall, workplace: Workplace) -> str:
    answer = await query_at(workplace, call, "hover")
    text = quoted_lines(workplace, "\n".join(item.message for item in answer.items))
    name, at = call.argument("name"), call.argument("at")
    return f"{name} at {at}, {HEADING}:\n{text}" if text else f"nothing about {name} at {at}"


TOOL = BuiltinTool(
    Tool(
        "hover",
        "Show the type and the documentation of a name, as the editor's language server knows them.",
        {"at": AT, "name": NAME},
    ),
    _hover,
    is_here=True,
)
