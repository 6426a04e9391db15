"""Agent roles of the Codex CLI, as version 0.169 reads them.

`features.shell_tool` takes effect in a role. `sandbox_mode` does not: the child runs in the sandbox of
its parent. It is written all the same, as axe-lsp obeys it. There is no list of tools.
Source: openai/codex, `codex-rs/core/src/config/agent_roles.rs`, and recorded runs.
"""

from __future__ import annotations

from axe_lsp.agentfile import other_programs
from axe_lsp.agentfile.codex_agent import READ_ONLY, codex_agent
from axe_lsp.agentfile.convert.formats import Format, Reading, Writing
from axe_lsp.agentfile.convert.intermediate import CHANGING, READING
from axe_lsp.agentfile.convert.model_names import (
    CLAUDE_ALIASES,
    INHERIT,
    read_model,
    write_effort,
    write_model,
)

_WRITING = CHANGING - {"run_command"}

_WHY_READ_ONLY = "# axe: ignore[no-effect] for axe-lsp, which obeys it"
"""The comment that keeps an exported file free of diagnostics."""


def _read_model(reading: Reading) -> None:
    """Read the model as a run has it; other programs' words for a model are not Codex's."""
    model = reading.values.get("model")
    if not isinstance(model, str) or not model:
        return
    if model in (*CLAUDE_ALIASES, INHERIT) or "/" in model:
        read_model(reading)
        return
    meant = codex_agent(reading.values).model
    reading.take("model")
    if reading.take("model_provider") is not None or not meant:
        text = "kept with the model" if meant else "its address is in another file"
        (reading.notes.mapped if meant else reading.notes.lost)("model_provider", text)
    if not meant:
        reading.notes.lost("model", f"`{model}` does not say which provider has the model")
        return
    reading.source_keys["model"] = "model"
    reading.agent.model = meant
    reading.notes.mapped("model", f"`{model}` is `{meant}`")


def _read_tools(reading: Reading) -> None:
    """Read the tools that a run would have, since Codex has no list; without `run_command` if the shell is off."""
    tools = codex_agent(reading.values).tools
    mode, shell = reading.take("sandbox_mode"), reading.take("features.shell_tool")
    if mode is not None and mode != READ_ONLY:
        reading.notes.lost("sandbox_mode", "no counterpart: the tools are listed")
    if shell is False:
        tools = tuple(tool for tool in tools if tool != "run_command")
    elif shell is not None:
        reading.notes.lost("features.shell_tool", "no counterpart: the tools are listed")
    reading.agent.tools = tools
    reading.notes.added("tools", f"{', '.join(tools)}: Codex has no list of tools")


def _write_tools(writing: Writing) -> None:
    """Switch off the tools that the agent lacks, as far as a Codex role can."""
    has, key = set(writing.agent.tools), writing.keys["tools"]
    if not has & CHANGING:
        writing.set("sandbox_mode", READ_ONLY)
        writing.written.comments.append(("sandbox_mode", _WHY_READ_ONLY))
        text = '`sandbox_mode = "read-only"`, which Codex 0.169 ignores: the sandbox of the session decides'
        writing.notes.mapped(key, text)
    if "run_command" not in has:
        writing.set("features.shell_tool", value=False)
        text = "`features.shell_tool = false`: without commands Codex can't read files either"
        writing.notes.mapped(key, text)
    gone = sorted(has - CHANGING - READING)
    if gone:
        writing.lost("tools", f"{', '.join(gone)}: Codex has no list of tools")
    missing = sorted(_WRITING - has)
    if missing:
        text = f"without {', '.join(missing)}: Codex can't be kept from patching files by its agent file"
        writing.lost("tools", text)


CODEX = Format(
    "codex",
    "Codex",
    other_programs.CODEX.agents[0],
    ".toml",
    syntax=None,
    keys={
        "name": "name",
        "description": "description",
        "model": "model",
        "effort": "model_reasoning_effort",
        "prompt": "developer_instructions",
    },
    readers={
        "model": _read_model,
        "tools": _read_tools,
        "servers": lambda reading: reading.take_servers("mcp_servers"),
    },
    writers={
        "model": lambda writing: write_model(writing, "openai"),
        "effort": write_effort,
        "tools": _write_tools,
    },
    required=frozenset({"name", "description", "prompt"}),
    why_unwritten={
        "agents": "a Codex agent may start every agent",
        "servers": "Codex ignores servers of an agent; they belong in its config.toml",
    },
)
