"""Agents of Mistral Vibe 3.0.3.

Source: mistral-vibe, `vibe/core/tools/manager.py`: an empty `enabled_tools` means all tools, names are
compared without case, as globs or as `re:` expressions, and `disabled_tools` has the last word.
"""

from __future__ import annotations

from axe_lsp.agentfile import other_programs
from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.convert.formats import Format, Reading, Writing
from axe_lsp.agentfile.convert.intermediate import ConversionError
from axe_lsp.agentfile.vibe_agent import (
    TOOLS,
    Keys,
    matches,
    prompt_file,
    vibe_agent,
    vibe_objection,
)

_CALLER = "task"
"""Vibe's tool that starts another agent."""


def _read_name(reading: Reading) -> None:
    """Take the name of the file, by which Vibe calls an agent."""
    reading.agent.name = reading.stem
    title = reading.take("display_name")
    if title is not None:
        reading.notes.lost("display_name", f"the agent is called as its file, `{reading.stem}`")


def _read_run(reading: Reading) -> None:
    """Read the keys that a run reads, as a run does, and report what it would warn about."""
    objection = vibe_objection(reading.values)
    if objection:
        raise ConversionError(objection)
    known = {key: each for key, each in reading.values.items() if key in Keys.__struct_fields__}
    file = prompt_file(known)
    prompt = reading.beside(file) if file else ""
    meant = vibe_agent(known, reading.stem, [_CALLER], prompt)
    if prompt:
        reading.take("system_prompt_id")
        reading.agent.prompt = prompt
        reading.source_keys["prompt"] = "system_prompt_id"
        reading.notes.mapped("system_prompt_id", f"the text of prompts/{file}")
    elif not file:
        reading.take("system_prompt_id")
    for note in meant.notes:
        key, _, text = note.partition(" ")
        reading.notes.lost(key.rstrip(":,"), text)
    _read_tools(reading, meant)
    _read_model(reading, meant)
    for server in meant.mcp_servers:
        if not reading.values.get("enabled_tools") and not reading.values.get("disabled_tools"):
            reading.source_keys["servers"] = "mcp_servers"
            reading.agent.servers += (server,)
        else:
            reading.notes.lost(
                f"mcp_servers.{server.name}", "perhaps not all of its tools are enabled"
            )
    for key in ("mcp_servers", "enabled_tools", "disabled_tools"):
        reading.take(key)


def _read_tools(reading: Reading, meant: AgentDefinition) -> None:
    reading.agent.tools = meant.tools
    names = ", ".join(meant.tools) or "none"
    if reading.values.get("enabled_tools") or reading.values.get("disabled_tools"):
        reading.source_keys["tools"] = "enabled_tools"
    else:
        reading.notes.added("tools", f"{names}: without `enabled_tools` Vibe gives all")
    if meant.sub_agents and matches(_CALLER, reading.values.get("enabled_tools", ())):
        reading.notes.lost(f"enabled_tools: {_CALLER}", "the file names no agents that it may call")
    settings = reading.take("tools")
    for name, table in settings.items() if isinstance(settings, dict) else ():
        for key, value in table.items() if isinstance(table, dict) else ():
            if (key, value) == ("permission", "never"):
                reading.notes.mapped(f"tools.{name}.{key}", "the agent has no such tool")
            else:
                reading.notes.lost(f"tools.{name}.{key}", "")


def _read_model(reading: Reading, meant: AgentDefinition) -> None:
    alias = reading.take("active_model")
    if not meant.model:
        return
    reading.source_keys["model"] = "active_model"
    reading.agent.model = meant.model
    reading.agent.temperature = meant.params.temperature
    reading.agent.max_tokens = meant.params.max_tokens or None
    reading.agent.effort = meant.params.effort
    reading.notes.mapped("active_model", f"`{alias}` is `{meant.model}`, with its parameters")
    if meant.params.top_p is not None:
        reading.notes.lost("models.top_p", "")
    for key in ("models", "providers"):
        if len(reading.values.get(key, ())) == 1:  # It is the one that was meant.
            reading.take(key)


def _write_name(writing: Writing) -> None:
    if writing.agent.name != writing.stem:
        writing.set("display_name", writing.agent.name)


def _write_tools(writing: Writing) -> None:
    names = writing.tool_names()
    if names:
        writing.set("enabled_tools", names)
        return
    writing.set("disabled_tools", ["*"])
    writing.notes.mapped(writing.keys["tools"], "`disabled_tools`: an empty list would give all")


VIBE = Format(
    "vibe",
    "Mistral Vibe",
    other_programs.VIBE.agents[0],
    ".toml",
    syntax=None,
    keys={
        "name": "display_name",
        "description": "description",
        "tools": "enabled_tools",
        "prompt": "instructions",
    },
    tools={name: frozenset(ours) for name, ours in TOOLS.items()},
    readers={"name": _read_name, "tools": _read_run},
    why_unwritten={"servers": "write them to config.toml of Vibe, with its own form of keys"},
    writers={"name": _write_name, "tools": _write_tools},
)
