"""Keys of an agent file that have no effect in a run, which warns about them."""

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
    missing = _unsupported(definition)
    if not missing:
        return ""
    return (
        f"agent {quoted(agent)} runs without {', '.join(missing)}: "
        "this version of axe-lsp does not support that yet"
    )


def _unsupported(definition: AgentDefinition) -> list[str]:
    rest = definition.rest
    return [f"[{name}]" for name in _TABLES if name in rest and _asks(rest[name])]


def _asks(value: Any) -> bool:
    """Whether a table asks for anything. Zeros ask for nothing."""
    if isinstance(value, Mapping):
        return any(_asks(item) for item in value.values())
    return bool(value)
