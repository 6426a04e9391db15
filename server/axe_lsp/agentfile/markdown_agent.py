"""The meaning of an agent in Markdown for a run: its AgentDefinition.

Tools, models and servers are mapped as conversions map them; what has no counterpart is named in `notes`. Front matter grants
nothing: no key of it approves a call or executes a command.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct

from axe_lsp.agentfile.agent_definition import (
    AgentDefinition,
    BudgetConfig,
    IsolationConfig,
    Params,
    SubAgentsConfig,
)
from axe_lsp.agentfile.check.check import check
from axe_lsp.agentfile.check.front_matter import is_meant_as_agent
from axe_lsp.agentfile.check.problem import DefinitionError
from axe_lsp.agentfile.convert.claude import names_in
from axe_lsp.agentfile.convert.conversion import FORMATS, read_agent
from axe_lsp.agentfile.convert.formats import Reading, split_list
from axe_lsp.agentfile.convert.intermediate import ConversionError, NoteKind
from axe_lsp.agentfile.convert.opencode import action_of, rules_of
from axe_lsp.agentfile.convert.output_file import read_markdown
from axe_lsp.agentfile.dialects import LAYERED
from axe_lsp.agentfile.other_programs import CLAUDE, COPILOT, OPENCODE, Program
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.providers import EFFORTS, PROVIDERS
from axe_lsp.agentfile.schema.tools import WEB_TOOLS
from axe_lsp.agentfile.text.front_matter import MarkdownParse
from axe_lsp.agentfile.text.ranges import quoted

MOST_TURNS = 50
"""The most turns that axe gives an agent."""

_SHOWN_ONLY = frozenset(
    ["color", "display_name", "hidden", "argument-hint", "metadata", "version", "author", "license"]
)
"""Keys that only the program's own display reads."""

_CALLING = frozenset(["Agent", "Task", "agent", "custom-agent", "task"])
"""Names of the tool that calls agents."""

_MAPPED = frozenset(["model", "timeout_mins", "name"])
"""Keys whose new value nobody has to be told of before a run."""


class Called(Struct, frozen=True):
    """What a caller has to know of an agent: whether models may call it."""

    name: str
    is_callable: bool = True


def called_in(program: Program, text: str, by_path: str) -> Called | None:
    """Return what callers have to know of the agent in a text; None if it is no agent, or removed.

    `by_path` is the name by the path of its file, which counts where the text has no name.
    """
    syntax = LAYERED[program].agent.syntax
    assert syntax is not None
    parse = MarkdownParse(text, syntax)
    values = parse.values if isinstance(parse.values, Mapping) else {}
    is_free_text = parse.parts.matter is None and program is not OPENCODE
    if _is_on(values.get("disable")) or (is_free_text and not is_meant_as_agent(text)):
        return None
    name = values.get("name")
    name = name if isinstance(name, str) and name.strip() else by_path
    is_hidden = values.get("mode") == "primary" or _is_on(values.get("disable-model-invocation"))
    return Called(name, not is_hidden)


def first_fault(program: Program, text: str) -> DefinitionError | None:
    """Return the fault for which the program does not load a file, None if it loads it."""
    kind = LAYERED[program].agent
    parse = kind.parse(text)
    faults = [
        (each.range, each.message)
        for each in check(parse, Lookup(parse, kind.schema), kind.judge)
        if each.fatal and not each.is_warning
    ]
    faults += [(each.range, each.message) for each in parse.problems]
    assert isinstance(parse, MarkdownParse)
    if parse.parts.matter is None and not faults and program is not OPENCODE:
        faults = [(parse.first_line, f"there is no front matter: {parse.parts.fault}")]
    if not faults:
        return None
    where, message = min(faults)
    line, column = parse.lines.position(where.start, "utf-32")
    return DefinitionError(message, line + 1, column + 1)


def markdown_agent(
    program: Program, text: str, name: str, others: Sequence[str], *, is_main: bool
) -> AgentDefinition:
    """Return the agent of a file. Raises DefinitionError for a file that its program does not load.

    `others` are the names that agents of the program may call. An agent `is_main` if a person starts it.
    """
    fault = first_fault(program, text)
    if fault is not None:
        raise fault
    of = FORMATS[program.name]
    assert of.syntax is not None
    try:
        reading = read_agent(read_markdown(text, of.syntax), name, of)
    except ConversionError as error:
        raise DefinitionError(str(error), max(error.line, 1), 1) from error
    agent = reading.agent
    called, limits = _delegation(program, reading, others, is_main=is_main)
    tools, web = _without_unnamed_web(reading)
    model, model_note = _model(agent.model)
    effort = agent.effort if agent.effort in EFFORTS else ""
    notes = (
        model_note,
        f"effort {quoted(agent.effort)} is not sent" if agent.effort and not effort else "",
        web,
        *_grants(program, reading.values),
        *_missing_agents(reading, others),
        *_lost(reading),
    )
    return AgentDefinition(
        name=name,
        model=model,
        description=agent.description,
        system_prompt=agent.prompt.strip(),
        timeout=agent.timeout or 0,
        tools=tools,
        sub_agents=called,
        sub_agents_config=limits,
        params=Params(effort=effort, temperature=agent.temperature),
        mcp_servers=agent.servers,
        budget=BudgetConfig(max_turns=max(0, min(agent.max_turns or 0, MOST_TURNS))),
        isolation=IsolationConfig(mode="copy", changes=agent.copy)
        if agent.copy
        else IsolationConfig(),
        beyond_first_axe=True,
        notes=tuple(note for note in notes if note),
    )


def _model(model: str) -> tuple[str, str]:
    """Return the model, or "" with a note if its provider is not known here."""
    provider, slash, name = model.partition("/")
    if not model or (slash and name and provider in PROVIDERS):
        return model, ""
    reason = f"axe-lsp knows no provider {quoted(provider)}"
    return "", f"{reason}, so model {quoted(model)} is not used"


def _without_unnamed_web(reading: Reading) -> tuple[tuple[str, ...], str]:
    """Return the tools, without those that reach out of the machine unless the file lists them."""
    of = reading.format
    listed = {each.lower() for each in reading.listed or ()}
    named = {
        tool
        for name, meant in {**of.tool_aliases, **of.tools}.items()
        if name.lower() in listed
        for tool in meant
    }
    tools = reading.agent.tools
    gone = [tool for tool in tools if tool in WEB_TOOLS and tool not in named]
    note = f"{', '.join(gone)} are left out: the file does not list them" if gone else ""
    return tuple(tool for tool in tools if tool not in gone), note


# -- agents that it may call


def _delegation(
    program: Program, reading: Reading, others: Sequence[str], *, is_main: bool
) -> tuple[tuple[str, ...], SubAgentsConfig]:
    """Return the agents that an agent may call by the rules of its program, and the limits."""
    values = reading.values
    if program is CLAUDE:
        return tuple(_called_by_claude(values, others, is_main=is_main)), SubAgentsConfig()
    if program is COPILOT:
        return tuple(_called_by_copilot(values, others)), SubAgentsConfig()
    if program is OPENCODE:
        return tuple(_called_by_opencode(values, others)), SubAgentsConfig(max_depth=1)
    return (), SubAgentsConfig()


def _called_by_claude(
    values: Mapping[str, Any], others: Sequence[str], *, is_main: bool
) -> Iterator[str]:
    """Yield the names that an agent may call. The list of `Agent(…)` binds only a main agent (2.1.332)."""
    denied = names_in(values.get("disallowedTools"))
    if any(each.partition("(")[0] in ("Agent", "Task") for each in denied):
        return
    listed = names_in(values["tools"]) if "tools" in values else ["*"]
    calls = [each for each in listed if each.partition("(")[0] in ("Agent", "Task")]
    if "*" in listed or "Agent" in calls or "Task" in calls or (calls and not is_main):
        yield from others
        return
    named = [name for each in calls for name in agents_in(each)]
    yield from (name for name in dict.fromkeys(named) if name in others)


def agents_in(call: str) -> list[str]:
    """Return the names in `Agent(a, b)`."""
    return [
        name for each in call.partition("(")[2].rstrip(")").split(",") if (name := each.strip())
    ]


def _called_by_copilot(values: Mapping[str, Any], others: Sequence[str]) -> Iterator[str]:
    """Yield the names that an agent may call: those of `agents`, which VS Code reads, else all."""
    listed = _texts(values["tools"]) if values.get("tools") is not None else ["*"]
    if "*" not in listed and not {each.lower() for each in listed} & {
        "agent",
        "custom-agent",
        "task",
    }:
        return
    agents = values.get("agents")
    named = _texts(agents) if agents is not None else ["*"]
    yield from (name for name in others if "*" in named or name in named)


def _called_by_opencode(values: Mapping[str, Any], others: Sequence[str]) -> Iterator[str]:
    """Yield the names that an agent may call: those that the last rule of `permission.task` that matches allows."""
    action = action_of(rules_of(values), "task")
    for name in others:
        if isinstance(action, Mapping):
            matching = [each for rule, each in action.items() if fnmatchcase(name, str(rule))]
            decided = matching[-1] if matching else "allow"
        else:
            decided = action
        if decided == "allow":  # Nobody is asked before a call, so `ask` is not enough.
            yield name


def _missing_agents(reading: Reading, others: Sequence[str]) -> Iterator[str]:
    missing = [
        each for each in reading.agent.agents if each not in others and not set("*?[") & set(each)
    ]
    if missing:
        yield f"there is no agent {', '.join(map(quoted, missing))}"


# -- notes


def _grants(program: Program, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield a note for each key that would approve calls or execute commands, and does not."""
    mode = values.get("permissionMode")
    if program is CLAUDE and isinstance(mode, str) and mode not in ("plan", "default", "manual"):
        yield f"permissionMode {quoted(mode)} approves nothing: you are asked before each change"
    rules = rules_of(values) if program is OPENCODE else []
    allowed = [
        name for _, name, action in rules if name in ("*", "edit", "bash") and action == "allow"
    ]
    if allowed:
        yield "permission `allow` approves nothing: you are asked before each change"
    if values.get("hooks"):
        yield "hooks are not executed"
    if _is_on(values.get("background", False)):
        yield "background: its caller waits for its answer"


def _lost(reading: Reading) -> Iterator[str]:
    """Yield what conversions say is lost, the keys without a reason in one note."""
    plain: list[str] = []
    for note in reading.notes.all:
        key = note.key
        is_call = key.partition(":")[2].strip() in (*_CALLING, "*") or key.startswith(
            "permission.task"
        )
        if note.kind is NoteKind.ADDED or key in _IN_OTHER_NOTES or key in _SHOWN_ONLY or is_call:
            continue
        if note.kind is NoteKind.MAPPED and key in _MAPPED:
            continue
        if key == "model" and "inherit" in note.text:
            continue
        if not note.text or note.text == "the tool has no counterpart":
            plain.append(key.removeprefix("tools: "))
        else:
            yield f"{key}: {note.text}"
    if plain:
        yield f"there is no counterpart for {', '.join(plain)}"


_IN_OTHER_NOTES = frozenset(["hooks", "background", "mode", "disable", "infer", "user-invocable"])


def _texts(value: object) -> list[str]:
    """Return the strings of a list, or of a text with commas."""
    if isinstance(value, str):
        return split_list(value)
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _is_on(value: object) -> bool:
    return value is True or value == "true"
