"""All tools that an agent file may list: what is offered to a model, and how a call is executed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from pathlib import Path

from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.schema.tools import EDITOR_TOOLS, TOOLS, named_tools
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.files.user_config import known_secrets
from axe_lsp.runtime.messages import Tool, ToolCall, ToolResult
from axe_lsp.runtime.plain_text import valid_text
from axe_lsp.runtime.safety.approval import ApprovalRequest, Approve, Rehearsal
from axe_lsp.runtime.safety.protected_places import ChangedFile, changed_file_of
from axe_lsp.runtime.safety.redaction import redact, redacted_table
from axe_lsp.runtime.tools.tool import BuiltinTool, Shown, ToolError, Workplace


class _Tools(Mapping[str, BuiltinTool]):
    """The tools of the rows; the module of each, which has its name, is imported when it is looked up.

    Most agents have few of them or none.
    """

    def __getitem__(self, name: str) -> BuiltinTool:
        return _tool(name)

    def __contains__(self, name: object) -> bool:
        return name in TOOLS

    def __iter__(self) -> Iterator[str]:
        return iter(TOOLS)

    def __len__(self) -> int:
        return len(TOOLS)


@cache
def _tool(name: str) -> BuiltinTool:
    if name not in TOOLS:
        raise KeyError(name)
    tool: BuiltinTool = import_module(f"axe_lsp.runtime.tools.{name}").TOOL
    return tool


BUILTIN_TOOLS: Mapping[str, BuiltinTool] = _Tools()
"""By name."""


def changes_something(name: str) -> bool:
    """Return whether a call of the tool may change what a later call sees."""
    return name in BUILTIN_TOOLS and BUILTIN_TOOLS[name].rehearse is not None


def changes_file(name: str) -> bool:
    """Return whether a call of the tool changes a file itself, and executes nothing else."""
    return name in BUILTIN_TOOLS and BUILTIN_TOOLS[name].changes is not None


def changed_file(call: ToolCall, workplace: Workplace) -> Path | None:
    """Return the file that a call of one of these tools changes, if it changes one. Raises ToolError."""
    tool = BUILTIN_TOOLS.get(call.name)
    return tool.changes(call, workplace) if tool is not None and tool.changes is not None else None


def ordinary_tools(definition: AgentDefinition, *, asks_editor: bool) -> tuple[Tool, ...]:
    """Return the tools that an agent is offered besides those for delegation, in the order of its file.

    Those that ask the editor are among them only if there is one, `asks_editor`.
    """
    policy = definition.tool_policy
    named = named_tools((*definition.tools, *policy.allow), policy.deny)
    return tuple(
        replace(BUILTIN_TOOLS[name].definition, is_optional=True)
        if name in EDITOR_TOOLS or (TOOLS[name].since and name not in named)
        else BUILTIN_TOOLS[name].definition
        for name in definition.ordinary_tools
        if asks_editor or name not in EDITOR_TOOLS
    )


def unknown_tool(name: str) -> str:
    """Return the error result for a call of a tool that the model did not get (001-8.2)."""
    return f"Unknown tool: {quoted(name)}"


async def execute_tool(
    call: ToolCall, run: RunIds, workplace: Workplace, approve: Approve
) -> ToolResult:
    """Execute a call of one of these tools. Always returns a result."""
    tool = BUILTIN_TOOLS[call.name]
    if tool.writes and workplace.read_only:
        return ToolResult(call.id, "this agent may look at files but not write them", is_error=True)
    try:
        refusal = (
            await approve(_approval_request(tool, call, run, workplace)) if tool.rehearse else ""
        )
        if refusal:
            return ToolResult(call.id, f"{call.name} was not allowed: {refusal}", is_error=True)
        remote_copy = None if tool.is_here else workplace.remote_copy
        if remote_copy is not None:
            found = await remote_copy.execute(call, workplace)
        else:
            found = await tool.execute(call, workplace)
        shown = Shown(found, ()) if isinstance(found, str) else found
        return ToolResult(call.id, valid_text(shown.text), images=shown.images)
    except ToolError as error:
        return ToolResult(call.id, valid_text(str(error)), is_error=True)


def _approval_request(
    tool: BuiltinTool, call: ToolCall, run: RunIds, workplace: Workplace
) -> ApprovalRequest:
    """Return the call as others may see it."""
    secrets = known_secrets(workplace.environment)

    def as_shown(text: str) -> str:
        return redact(text, secrets)

    async def rehearse() -> Rehearsal:
        assert tool.rehearse is not None
        if workplace.remote_copy is not None and not tool.is_here:
            rehearsal = await workplace.remote_copy.rehearse(call, workplace)
        else:
            rehearsal = await tool.rehearse(call, workplace)
        return rehearsal.told(as_shown)

    file = _file_of_rules(tool, call, workplace)
    return ApprovalRequest(
        run,
        call.name,
        redacted_table(call.arguments, secrets),
        rehearse,
        call_id=call.event_id,
        file=file.told(as_shown) if file is not None else None,
        folder=workplace.folder,
        obstacle=partial(_obstacle, call, workplace),
    )


async def _obstacle(call: ToolCall, workplace: Workplace) -> str:
    """Return why no rule for single commands applies to a call in this folder, or ""."""
    from axe_lsp.runtime.tools.git_configuration import configured_programs

    return await configured_programs(call.argument("command"), workplace)


def _file_of_rules(tool: BuiltinTool, call: ToolCall, workplace: Workplace) -> ChangedFile | None:
    """Return the file that a call changes, as rules see it. Raises ToolError."""
    if tool.changes is None:
        return None
    roots = (*filter(None, [workplace.workspace]), *workplace.folders)
    spoken = Path(os.path.realpath(workplace.folder), call.argument("path"))
    return changed_file_of(tool.changes(call, workplace), roots, spoken)
