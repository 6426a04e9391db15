"""What an agent file means: an AgentDefinition, or the problems that keep it from being one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class SubAgentsConfig:
    """`[sub_agents_config]`. Use the `effective_…` properties of AgentDefinition to read defaults."""

    max_depth: int = 0
    timeout: int = 0
    parallel: bool = True
    max_concurrent: int = 0
    pass_context: bool = True


@dataclass(frozen=True, slots=True)
class MemoryConfig:
    """`[memory]`."""

    enabled: bool = False
    path: str = ""
    last_n: int = 0
    max_entries: int = 0
    scope: str = "agent"


@dataclass(frozen=True, slots=True)
class Params:
    """`[params]`. An absent temperature is None, since an explicit 0.0 is sent."""

    temperature: float | None = None
    max_tokens: int = 0
    response_format: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """A valid agent file, as the runtime reads it."""

    name: str
    model: str
    description: str = ""
    system_prompt: str = ""
    skill: str = ""
    files: tuple[str, ...] = ()
    workdir: str = ""
    timeout: int = 0
    stream: bool = False
    tools: tuple[str, ...] = ()
    sub_agents: tuple[str, ...] = ()
    sub_agents_config: SubAgentsConfig = field(default_factory=SubAgentsConfig)
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    params: Params = field(default_factory=Params)

    @property
    def max_depth(self) -> int:
        """The depth limit in force when this agent is the root (001-9.3)."""
        return self.sub_agents_config.max_depth or DEFAULT_MAX_DEPTH


DEFAULT_MAX_DEPTH = 3
"""How deep sub-agents nest when the root's file says nothing (001-9.3)."""


class DefinitionError(ValueError):
    """The text is no agent. The message is axe's; `is_parse_error` when it could not be decoded."""

    def __init__(self, message: str, *, is_parse_error: bool = False) -> None:
        super().__init__(message)
        self.is_parse_error = is_parse_error


def load(text: str) -> AgentDefinition:
    """The definition in `text`; raises DefinitionError with the first problem in axe's order."""
    raise NotImplementedError
