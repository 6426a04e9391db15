"""Warnings of a run about keys of its agent file that have no effect, or less than they say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.text.ranges import quoted

_TABLES = ("artifacts",)


def unsupported_warning(agent: str, definition: AgentDefinition) -> str:
    """A sentence about what the agent runs without, or ""."""
    if definition.notes:
        return f"agent {quoted(agent)}: {'; '.join(definition.notes)}"
    missing = [f"[{name}]" for name in _TABLES if _asks(definition.rest.get(name))]
    if not missing:
        return ""
    return (
        f"agent {quoted(agent)} runs without {', '.join(missing)}: "
        "this version of axe-lsp does not support that yet"
    )


def _asks(value: Any) -> bool:
    """Whether a table asks for anything. Zeros ask for nothing."""
    if isinstance(value, Mapping):
        return any(_asks(item) for item in value.values())
    return bool(value)


def sandbox_of(definition: AgentDefinition) -> str | None:
    """The write protection of the agent's commands: "landlock", or "none"; None if they may write."""
    if not definition.read_only or "run_command" not in definition.ordinary_tools:
        return None
    # Imported here, with all of ctypes, since hardly any agent asks.
    from axe_lsp.runtime.tools.read_only import is_enforceable

    return "landlock" if is_enforceable() else "none"


def sandbox_warning(agent: str, definition: AgentDefinition) -> str:
    """A sentence for the user about commands that only the agent's prompt keeps from writing, or ""."""
    if sandbox_of(definition) != "none":
        return ""
    return (
        f"agent {quoted(agent)} should only read, but this system can't keep its commands from writing: "
        "it has no Landlock, which Linux has had since 5.13"
    )
