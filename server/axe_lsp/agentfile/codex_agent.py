"""The meaning of a Codex agent file for a run: its AgentDefinition.

The values have passed Codex's own check. What a run has no counterpart for is named in `notes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from axe_lsp.agentfile.agent_definition import AgentDefinition, Params, SubAgentsConfig
from axe_lsp.agentfile.schema.providers import EFFORTS
from axe_lsp.agentfile.schema.tools import CHANGING_TOOLS, READING_TOOLS
from axe_lsp.agentfile.text.ranges import quoted

DEFAULT_MAX_DEPTH = 1
"""The depth of Codex's agents if config.toml has no `agents.max_depth`: children call no others."""

READ_ONLY = "read-only"
"""The value of `sandbox_mode` of agents that may not write."""

PROVIDERS: Mapping[str, str] = {"openai": "openai", "ollama": "ollama"}
"""Codex's own providers, and the providers of axe-lsp that are certainly the same service.

All others have an address in config.toml of Codex, which no agent file can give to axe-lsp.
"""

DEEPEST = 5
"""The deepest nesting that axe has."""

_TEXTS = (
    "name",
    "description",
    "developer_instructions",
    "model",
    "model_provider",
    "model_reasoning_effort",
    "sandbox_mode",
)
_HANDLED = frozenset(
    [*_TEXTS, "nickname_candidates"]  # Only a display of Codex shows the nicknames.
)
"""Keys that are mapped, or have a note of their own."""


def codex_agent(
    values: Mapping[str, Any],
    name: str = "",
    session: Mapping[str, Any] | None = None,
    roles: Sequence[str] = (),
) -> AgentDefinition:
    """Return the agent of a file. `name` is the one that config.toml declares, where the file has none.

    `session` are the values of config.toml, from which a file inherits model, effort and sandbox. A
    read-only sandbox of either counts, so that a file cannot lift that of its project. `roles` are
    the names of all roles, which are open to each other.
    """
    merged = {**(session or {}), **values}
    model, model_note = _model(merged)
    effort, effort_note = _effort(_text(merged, "model_reasoning_effort"))
    is_read_only = READ_ONLY in (values.get("sandbox_mode"), (session or {}).get("sandbox_mode"))
    limits, is_delegating = _delegation((session or {}).get("agents"))
    notes = (
        model_note,
        effort_note,
        _sandbox_note(values, is_read_only),
        _unused_note(values),
        _servers_note(session or {}),
    )
    return AgentDefinition(
        name=_text(values, "name").strip() or name,
        model=model,
        description=_text(values, "description"),
        system_prompt=_text(values, "developer_instructions"),
        tools=READING_TOOLS if is_read_only else (*READING_TOOLS, *CHANGING_TOOLS),
        read_only=is_read_only,
        params=Params(effort=effort),
        sub_agents=tuple(roles) if is_delegating else (),
        sub_agents_config=limits,
        beyond_first_axe=True,
        notes=tuple(note for note in notes if note),
    )


def codex_objection(
    values: Mapping[str, Any], inherited: Mapping[str, Any], *, is_declared: bool
) -> str:
    """Return why Codex drops a file, as far as a run depends on it, or "".

    A role that config.toml declares needs neither a name nor instructions in its file.
    """
    for key in _TEXTS:
        if not isinstance(values.get(key, ""), str):
            return f"{key} must be a string"
    required = (
        ("description",) if is_declared else ("name", "description", "developer_instructions")
    )
    for key in required:
        if not str({**inherited, **values}.get(key, "")).strip():
            return f"agent config missing required field: {key}"
    return ""


def _text(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key, "")
    return value if isinstance(value, str) else ""


def _model(values: Mapping[str, Any]) -> tuple[str, str]:
    """Return the model as `provider/name`, or "" with a note if its provider is not known here."""
    model, provider = _text(values, "model"), _text(values, "model_provider") or "openai"
    if not model:
        return "", ""
    ours = PROVIDERS.get(provider)
    if ours is None:
        reason = f"model_provider {quoted(provider)} has no counterpart in axe-lsp"
        return "", f"{reason}, so model {quoted(model)} is not used"
    return f"{ours}/{model}", ""


def _effort(effort: str) -> tuple[str, str]:
    if not effort or effort in EFFORTS:
        return effort, ""
    words = ", ".join(EFFORTS)
    return "", f"model_reasoning_effort {quoted(effort)} is not sent: axe-lsp knows {words}"


def _delegation(agents: object) -> tuple[SubAgentsConfig, bool]:
    """Return the limits of `[agents]` in config.toml, and whether agents may call others at all."""
    table: Mapping[str, Any] = agents if isinstance(agents, Mapping) else {}
    most = _number(table.get("max_concurrent_threads_per_session", table.get("max_threads")), 0)
    depth = min(_number(table.get("max_depth"), DEFAULT_MAX_DEPTH), DEEPEST)
    limits = SubAgentsConfig(max_depth=max(depth, 0), max_concurrent=max(most, 0))
    return limits, depth > 0 and table.get("enabled") is not False


def _number(value: object, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def _sandbox_note(values: Mapping[str, Any], is_read_only: bool) -> str:
    sandbox = _text(values, "sandbox_mode")
    if not sandbox or is_read_only:
        return ""
    return f"sandbox_mode {quoted(sandbox)} confines nothing: you are asked before each command"


def _unused_note(values: Mapping[str, Any]) -> str:
    unused = [key for key in values if key not in _HANDLED]
    return f"there is no counterpart for {', '.join(unused)}" if unused else ""


def _servers_note(session: Mapping[str, Any]) -> str:
    """Return why the tools of the servers of config.toml are missing, which an agent has in Codex."""
    tables = session.get("mcp_servers")
    names = [
        name
        for name, each in (tables.items() if isinstance(tables, Mapping) else ())
        if not (isinstance(each, Mapping) and each.get("enabled") is False)
    ]
    if not names:
        return ""
    servers = ", ".join(map(quoted, names))
    return (
        f"the MCP servers of Codex's config.toml are not started: {servers}; "
        "an agent of axe names its servers in [[mcp_servers]]"
    )
