"""`call_hierarchy`: callers of a function, or what it calls, as the language servers of the editor find them."""

from __future__ import annotations

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.messages import Tool, ToolCall, ToolParameter
from axe_lsp.runtime.tools.code_queries import AT, NAME, Listing, listed, query_at
from axe_lsp.runtime.tools.editor import CodeItem, CodeQuestion
from axe_lsp.runtime.tools.tool import BuiltinTool, ToolError, Workplace

_QUESTIONS: dict[str, tuple[CodeQuestion, str]] = {
    "": ("incomingCalls", "call"),
    "incoming": ("incomingCalls", "call"),
    "outgoing": ("outgoingCalls", "called function"),
}


async def _call_hierarchy(call: ToolCall, workplace: Workplace) -> str:
    direction = call.argument("direction")
    if direction not in _QUESTIONS:
        raise ToolError(f"invalid direction {quoted(direction)}: incoming or outgoing")
    question, what = _QUESTIONS[direction]
    answer = await query_at(workplace, call, question)
    return await listed(workplace, Listing(what, answer.items, answer.left_out, _line))


def _line(item: CodeItem) -> str:
    return f"{item.name}: {item.text or ''}"


TOOL = BuiltinTool(
    Tool(
        "call_hierarchy",
        "Find the functions that call a function, with the lines of the calls, or those that it "
        "calls, as the editor's language server knows them. Returns one per line in the format "
        "'path:line: function: text'.",
        {
            "at": AT,
            "name": NAME,
            "direction": ToolParameter(
                "string", "incoming for callers, which is the default, or outgoing."
            ),
        },
    ),
    _call_hierarchy,
    is_here=True,
)
