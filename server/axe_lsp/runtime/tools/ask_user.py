"""`ask_user`: a question to the person who started the run; the answer is the result."""

from __future__ import annotations

from axe_lsp.runtime.messages import Tool, ToolCall, ToolParameter, argument_text
from axe_lsp.runtime.tools.tool import BuiltinTool, ToolError, Workplace, capped_lines, required

_MOST_CHARACTERS = 2000
_MOST_CHOICES = 8
_LONGEST_CHOICE = 80


async def _ask_user(call: ToolCall, workplace: Workplace) -> str:
    question = required(call, "question").strip()
    if not question:
        raise ToolError("question is required")
    if len(question) > _MOST_CHARACTERS:
        raise ToolError(f"question has {len(question):,} characters; at most {_MOST_CHARACTERS:,}")
    answer = await workplace.ask(call.event_id, question, _choices(call))
    if answer.decision == "deny":
        raise ToolError(answer.why)
    return capped_lines(answer.text.split("\n"))


def _choices(call: ToolCall) -> tuple[str, ...]:
    """Return each once, in order. Raises ToolError."""
    given = call.arguments.get("choices") or []
    if not isinstance(given, list):
        raise ToolError("choices must be an array of strings")
    choices = tuple(dict.fromkeys(argument_text(each).strip() for each in given))
    if len(choices) > _MOST_CHOICES:
        raise ToolError(f"choices has {len(choices)} entries; at most {_MOST_CHOICES}")
    for number, choice in enumerate(choices, 1):
        if not 0 < len(choice) <= _LONGEST_CHOICE:
            fault = f"choice {number} has {len(choice)} characters"
            raise ToolError(f"{fault}; 1 to {_LONGEST_CHOICE} are possible")
    return choices


TOOL = BuiltinTool(
    Tool(
        "ask_user",
        "Ask the person who started this run a question and wait for the answer. Use it only for "
        "what nothing but that person can decide. If nobody answers, the result says so.",
        {
            "question": ToolParameter(
                "string",
                f"The question, complete by itself. At most {_MOST_CHARACTERS:,} characters.",
                required=True,
            ),
            "choices": ToolParameter(
                "array",
                f"Answers to choose from: at most {_MOST_CHOICES}, each of at most "
                f"{_LONGEST_CHOICE} characters. The person may also answer in other words.",
                items="string",
            ),
        },
    ),
    _ask_user,
    is_here=True,
)
