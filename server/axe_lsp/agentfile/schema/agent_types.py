"""The types of agents that need no file: the purpose, tools and prompt of each.

`type` in an agent file takes one as a preset, and the `Task` tool starts one as a child. This is
the only place that knows their names.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class AgentType(Struct, frozen=True):
    """A type: what it is for, the tools that it has as `tools` would list them, and its prompt.

    An agent that is `read_only` must not change its workspace, whatever its tools could do.
    """

    description: str = ""
    tools: tuple[str, ...] = ()
    prompt: str = ""
    read_only: bool = False

    def begins(self, own_prompt: str) -> str:
        """Return the prompt of a file that takes it as a preset: the type's, then the file's own."""
        return f"{self.prompt}\n\n{own_prompt}" if own_prompt.strip() else self.prompt


BUILT_IN_TYPES: Mapping[str, AgentType] = {
    "explore": AgentType(
        "Read-only for searching and analyzing",
        ("run_command", "read_file"),
        "Search and analyze. Never modify. Return concise summary.",
        read_only=True,
    ),
    "plan": AgentType(
        "Planning and analysis",
        ("run_command", "read_file"),
        "Analyze and output numbered plan. Don't change files.",
        read_only=True,
    ),
    "code": AgentType("Full agent for implementation", ("*",), "Implement changes efficiently."),
}
"""The types by name."""


def filled_by(type_name: object) -> Mapping[str, str | list[str]]:
    """Return the keys that `type = "<name>"` fills in where a file leaves them out."""
    preset = BUILT_IN_TYPES.get(type_name) if isinstance(type_name, str) else None
    if preset is None:
        return {}
    return {"description": preset.description, "tools": list(preset.tools)}
