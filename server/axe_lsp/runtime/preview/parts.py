"""What a first request is made of, piece by piece, with the tokens of each.

Tokens are estimated, so those of the parts add up to those of the whole only about.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from axe_lsp.agentfile.text.tokens import estimated_tokens
from axe_lsp.runtime.json_data import JsonStruct
from axe_lsp.runtime.messages import Tool
from axe_lsp.runtime.prepare import Prepared
from axe_lsp.runtime.prompt import system_prompt
from axe_lsp.runtime.structured.schemas import canonical_json

Kind = Literal["systemPrompt", "skill", "file", "memory", "output", "userMessage", "tool"]


class Part(JsonStruct, frozen=True):
    """One piece. `name` says which one, where there may be several: a path, a skill, a tool."""

    kind: Kind
    name: str
    text: str
    tokens: int


def parts_of(prepared: Prepared) -> tuple[Part, ...]:
    """The pieces, in the order in which a model reads them."""
    pieces = (*_system(prepared), ("userMessage", "", prepared.prompt.user_message))
    parts = [Part(kind, name, text, estimated_tokens(len(text))) for kind, name, text in pieces]
    return (*parts, *(_tool_part(tool) for tool in prepared.request.tools))


def tool_text(tool: Tool) -> str:
    """About as much text as a provider makes of a tool."""
    if tool.schema is not None:
        return tool.name + tool.description + canonical_json(tool.schema)
    parameters = "".join(each.description for each in tool.parameters.values())
    return tool.name + tool.description + parameters


def _system(prepared: Prepared) -> Iterator[tuple[Kind, str, str]]:
    """The system prompt, without the headings between its parts."""
    prompt, own = prepared.prompt, prepared.definition.system_prompt
    entries = prompt.memory.entries if prompt.memory is not None else ""
    if own:
        yield "systemPrompt", "", own
    if prompt.skill_text:
        yield "skill", prompt.skill, prompt.skill_text
    for file in prompt.files:
        yield "file", file.path, file.content
    if entries:
        yield "memory", "", entries
    told = prompt.system[len(system_prompt(own, prompt.skill_text, prompt.files, entries)) :]
    if told.strip():
        yield "output", "", told.strip()


def _tool_part(tool: Tool) -> Part:
    lines = [tool.description]
    if tool.schema is not None:
        lines.append(canonical_json(tool.schema))
    for name, parameter in tool.parameters.items():
        needed = ", required" if parameter.required else ""
        lines.append(f"- {name} ({parameter.type}{needed}): {parameter.description}")
    return Part("tool", tool.name, "\n".join(lines), estimated_tokens(len(tool_text(tool))))
