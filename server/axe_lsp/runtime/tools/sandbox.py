"""Whether this system enforces the write protection of commands of read-only agents."""

from __future__ import annotations

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.text.ranges import quoted


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
