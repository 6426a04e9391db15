"""The first request of a run, as people see it: `--dry-run`, and previews in editors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from axe_lsp.agentfile.agent_definition import AgentDefinition, TaskConfig
from axe_lsp.agentfile.schema.models import estimated_tokens, known_model
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.files.context_files import ContextFile
from axe_lsp.runtime.json_data import Json, JsonStruct, to_json
from axe_lsp.runtime.messages import Tool
from axe_lsp.runtime.prepare import Prepared, twins_warning, unsupported_warning
from axe_lsp.runtime.prompt import Prompt, system_prompt
from axe_lsp.runtime.runs import DEFAULT_TIMEOUT
from axe_lsp.runtime.structured.schemas import canonical_json


class Preview(JsonStruct, frozen=True):
    """Everything that a first request would hold. `text` is what `--dry-run` prints.

    `input_schema` is that of the agent's `[input]`, which an editor makes a form from. `parts` are the
    prompt and the tools piece by piece, whose estimated tokens add up to those of the whole only roughly;
    `context_window` is how many tokens the model can take, if
    that is known. `isolation` says where the agent works when another one calls it, if not where that one does.
    """

    text: str
    model: str
    workdir: str
    system_prompt: str
    files: tuple[ContextFile, ...]
    user_message: str
    tools: tuple[str, ...]
    sub_agents: tuple[str, ...]
    estimated_tokens: int
    parts: tuple[Part, ...]
    warnings: tuple[str, ...] = ()
    context_window: int | None = None
    input_schema: Mapping[str, Any] | None = None
    isolation: str | None = None


def preview_of(prepared: Prepared) -> Preview:
    """Return the preview of a prepared run."""
    prompt, request = prepared.prompt, prepared.request
    tools = "".join(tool_text(tool) for tool in request.tools)
    model = known_model(str(prepared.model))
    return Preview(
        text=dry_run_text(prepared),
        model=str(prepared.model),
        workdir=prompt.workdir,
        system_prompt=prompt.system,
        files=prompt.files,
        user_message=prompt.user_message,
        tools=tuple(tool.name for tool in request.tools),
        sub_agents=prepared.definition.sub_agents,
        estimated_tokens=estimated_tokens(len(prompt.system + prompt.user_message + tools)),
        parts=parts_of(prepared),
        warnings=warnings_of(prepared),
        context_window=model.context if model is not None else None,
        input_schema=prepared.definition.input,
        isolation=_isolation_text(prepared.definition) or None,
    )


def warnings_of(prepared: Prepared) -> tuple[str, ...]:
    """Return the warnings that are known before the first request, such as keys without effect."""
    agent, definition = prepared.order.ids.agent, prepared.definition
    known = (unsupported_warning(agent, definition), twins_warning(agent, definition))
    return (*filter(None, known), *prepared.warnings)


def preview_json(prepared: Prepared) -> dict[str, Json]:
    """Return the answer of `axe/preview` and of `--dry-run --json`. Of context files only the sizes are told."""
    shown = preview_of(prepared)
    files = [{"path": file.path, "bytes": file.size} for file in shown.files]
    return {**to_json(shown), "files": files}


def dry_run_text(prepared: Prepared) -> str:
    """Return the sections of axe's `--dry-run`; one that axe M7 lacks only where the file uses it."""
    prompt, definition = prepared.prompt, prepared.definition
    task = prepared.order.message
    sections = [
        _section("System Prompt", prompt.system, empty=""),
        _section("Skill", prompt.skill_text),
        _section(f"Files ({len(prompt.files)})", "\n".join(file.path for file in prompt.files)),
        _section("Stdin", task if task.strip() else ""),
    ]
    if definition.memory.enabled:
        sections.append(_section("Memory", _memory_text(prompt)))
    if definition.ordinary_tools:
        sections.append(_section("Tools", ", ".join(definition.ordinary_tools)))
    if servers := definition.mcp_servers:
        named = (f"{each.name}: {each.place} ({each.transport})" for each in servers)
        sections.append(_section("MCP Servers", "\n".join(named)))
    sections.append(_section("Sub-Agents", _sub_agents_text(prepared)))
    if definition.task is not None:
        sections.append(_section("Task", _task_text(definition.task)))
    if isolation := _isolation_text(definition):
        sections.append(_section("Isolation", isolation))
    return f"=== Dry Run ===\n\n{header(prepared)}" + "".join(sections)


def header(prepared: Prepared) -> str:
    """Return the first lines: who answers, where, how long, how."""
    most = prepared.budget.max_tokens
    budget = f"Budget:   {most} tokens (0 = unlimited)\n" if most else ""
    return (
        f"Model:    {prepared.model}\n"
        f"Workdir:  {prepared.prompt.workdir}\n"
        f"{timeout_line(prepared)}\n"
        f"{params_line(prepared)}\n"
        f"{budget}"
    )


def params_line(prepared: Prepared) -> str:
    """Return the line about the model's parameters; a parameter without a value is shown as 0."""
    params = prepared.definition.params
    temperature = shown_number(params.temperature or 0)
    return f"Params:   temperature={temperature}, max_tokens={params.max_tokens}"


def timeout_line(prepared: Prepared) -> str:
    """Return the timeout as axe shows it: its default, if none is set."""
    stated = DEFAULT_TIMEOUT if prepared.timeout is None else prepared.timeout
    return f"Timeout:  {shown_number(stated)}s"


def shown_number(value: float) -> str:
    """Return a number without a needless `.0`."""
    return repr(float(value)).removesuffix(".0")


def _section(title: str, text: str, empty: str = "(none)") -> str:
    return f"\n--- {title} ---\n{text or empty}\n"


def _memory_text(prompt: Prompt) -> str:
    if prompt.memory is None:
        return ""
    return f"(error: {prompt.memory.error})" if prompt.memory.error else prompt.memory.entries


def _task_text(config: TaskConfig) -> str:
    if not config.offered:
        return ""
    return f"{', '.join(config.offered)}\nRecursive: {'yes' if config.recursive else 'no'}"


def _isolation_text(definition: AgentDefinition) -> str:
    """Return where it works when another agent calls it; "" if that is where its caller does."""
    isolation = definition.isolation
    if isolation.mode == "copy":
        return f"when another agent calls it: a copy of the folder, changes = {quoted(isolation.changes)}"
    return (
        "when another agent calls it: a process of its own" if isolation.mode == "process" else ""
    )


def _sub_agents_text(prepared: Prepared) -> str:
    definition = prepared.definition
    if not definition.sub_agents:
        return ""
    config = definition.sub_agents_config
    return (
        f"{', '.join(definition.sub_agents)}\n"
        f"Max Depth: {definition.max_depth}\n"
        f"Parallel:  {'yes' if config.parallel else 'no'}\n"
        f"Timeout:   {config.timeout}s"
    )


Kind = Literal["systemPrompt", "skill", "file", "memory", "output", "userMessage", "tool"]


class Part(JsonStruct, frozen=True):
    """One piece. `name` says which one, where there may be several: a path, a skill, a tool."""

    kind: Kind
    name: str
    text: str
    tokens: int


def parts_of(prepared: Prepared) -> tuple[Part, ...]:
    """Return the pieces, in the order in which a model reads them."""
    pieces = (*_system(prepared), ("userMessage", "", prepared.prompt.user_message))
    parts = [Part(kind, name, text, estimated_tokens(len(text))) for kind, name, text in pieces]
    return (*parts, *(_tool_part(tool) for tool in prepared.request.tools))


def tool_text(tool: Tool) -> str:
    """Return text of about the length that a provider makes of a tool."""
    if tool.schema is not None:
        return tool.name + tool.description + canonical_json(tool.schema)
    parameters = "".join(each.description for each in tool.parameters.values())
    return tool.name + tool.description + parameters


def _system(prepared: Prepared) -> Iterator[tuple[Kind, str, str]]:
    """Yield the system prompt, without the headings between its parts."""
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
