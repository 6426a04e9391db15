"""The meaning of an agent file: an AgentDefinition, or the problems that prevent one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from axe_lsp.agentfile.check.first_fault import checked_values, read_values
from axe_lsp.agentfile.check.problem import DefinitionError
from axe_lsp.agentfile.mcp_servers import McpServer
from axe_lsp.agentfile.schema.agent_keys import AGENT
from axe_lsp.agentfile.schema.agent_types import BUILT_IN_TYPES, AgentType, filled_by
from axe_lsp.agentfile.schema.key_spec import FIRST_AXE, KeyPath
from axe_lsp.agentfile.schema.tools import tools_meant
from axe_lsp.agentfile.text.reading import values_of


class SubAgentsConfig(Struct, frozen=True, omit_defaults=True):
    """`[sub_agents_config]`. A `max_depth` of 0 means the default, a `timeout` of 0 none of its own."""

    max_depth: int = 0
    timeout: int = 0
    parallel: bool = True
    max_concurrent: int = 0
    pass_context: bool = True
    background: str = "never"
    at_end: str = "wait"

    @property
    def has_side_runs(self) -> bool:
        """Whether calls of agents may be side runs."""
        return self.background in ("optional", "always")


class MemoryConfig(Struct, frozen=True, omit_defaults=True):
    """`[memory]`."""

    enabled: bool = False
    path: str = ""
    last_n: int = 0
    max_entries: int = 0
    scope: str = "agent"


class Params(Struct, frozen=True, omit_defaults=True):
    """`[params]`. What is None is not sent; an explicit 0 is, but for `max_tokens`.

    `effort` is how much the model shall think: `none` to `max`. `thinking_budget` are tokens for
    that, 0 for no thinking. `extra` goes into the top level of each request's body as it is.
    """

    temperature: float | None = None
    max_tokens: int = 0
    response_format: Mapping[str, Any] | str | None = None
    effort: str = ""
    thinking_budget: int | None = None
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    num_ctx: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.temperature, self.max_tokens, self.effort))  # Tables have no hash.


class RetryConfig(Struct, frozen=True, omit_defaults=True):
    """`[retry]` of an agent file or of config.toml. A delay of 0 means the default, an empty `backoff` exponential.

    Without `max_retries`, only those failures are sent again that cost nothing to repeat.
    """

    max_retries: int | None = None
    backoff: str = ""
    initial_delay_ms: int = 0
    max_delay_ms: int = 0


class BudgetConfig(Struct, frozen=True, omit_defaults=True):
    """`[budget]`. 0 means no limit, an empty `scope` the whole tree.

    `max_wall_time` is in seconds, `max_cost` in US dollars.
    """

    max_tokens: int = 0
    scope: str = ""
    max_tool_calls: int = 0
    max_turns: int = 0
    max_wall_time: int = 0
    max_cost: float = 0


class ContextConfig(Struct, frozen=True, omit_defaults=True):
    """`[context]`. `compaction`: the model itself sums up a conversation that becomes too long."""

    compaction: bool = False


class IsolationConfig(Struct, frozen=True, omit_defaults=True):
    """`[isolation]`: `inline`, `process` for a process of its own, or `copy` for a copy of the folder.

    `changes` says what becomes of those in the copy: `ask`, `apply` or `keep`.
    """

    mode: str = "inline"
    changes: str = "ask"


class ToolPolicy(Struct, frozen=True, omit_defaults=True):
    """`[tool_policy]`: names and globs."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


class TaskConfig(Struct, frozen=True, omit_defaults=True):
    """`[task]`: what the `Task` tool may start. `type` holds the inline types by name."""

    types: tuple[str, ...] = tuple(BUILT_IN_TYPES)
    recursive: bool = False
    type: Mapping[str, AgentType] = field(default_factory=dict)

    @property
    def offered(self) -> tuple[str, ...]:
        """The names that the model may choose from: those listed, and the types of the file itself."""
        return tuple(dict.fromkeys((*self.types, *self.type)))

    def find(self, name: str) -> AgentType | None:
        """Return the type of a name, inline before built-in; None where an agent of that name is meant."""
        return self.type.get(name) or BUILT_IN_TYPES.get(name)


class Source(Struct, frozen=True, omit_defaults=True):
    """An agent file: its path, its text, and the user's own file of the same name that it hides, or "".

    `dialect` is the name of its dialect, "" for axe's own. `twins` are the agents of the same name of programs that are looked
    up later: the names of the programs, and the files.
    """

    path: str
    text: str
    shadows: str = ""
    dialect: str = ""
    twins: tuple[tuple[str, str], ...] = ()


class AgentDefinition(Struct, frozen=True, omit_defaults=True):
    """A valid agent file, as the runtime reads it. What its `type` fills in is filled in.

    `rest` is what the file says beyond the fields, so that nothing it asks for is lost silently.
    `read_only` is no key of a file: types say so of their agents, whose commands may not write.
    Nor is `beyond_first_axe`, which is whether the file has keys that axe's first version lacked.
    `notes` are what a file of another dialect says that has no counterpart in a run.

    `source` is the file that it was read from; None for what no file has written.
    """

    name: str
    model: str
    description: str = ""
    type: str = ""
    system_prompt: str = ""
    skill: str = ""
    files: tuple[str, ...] = ()
    workdir: str = ""
    timeout: int = 0
    stream: bool = False
    tools: tuple[str, ...] = ()
    tool_policy: ToolPolicy = field(default_factory=ToolPolicy)
    allowed_hosts: tuple[str, ...] = ()
    sub_agents: tuple[str, ...] = ()
    sub_agents_config: SubAgentsConfig = field(default_factory=SubAgentsConfig)
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    params: Params = field(default_factory=Params)
    task: TaskConfig | None = None
    mcp_servers: tuple[McpServer, ...] = ()
    input: Mapping[str, Any] | None = None
    output: Mapping[str, Any] | None = None
    read_only: bool = False
    retry: RetryConfig = field(default_factory=RetryConfig)
    budget: BudgetConfig = field(default_factory=BudgetConfig)
    context: ContextConfig = field(default_factory=ContextConfig)
    isolation: IsolationConfig = field(default_factory=IsolationConfig)
    beyond_first_axe: bool = False
    notes: tuple[str, ...] = ()
    source: Source | None = None
    rest: Mapping[str, Any] = field(default_factory=dict)

    @property
    def max_depth(self) -> int:
        """The depth limit in force when this agent is the root (001-9.3)."""
        return self.sub_agents_config.max_depth or DEFAULT_MAX_DEPTH

    @property
    def ordinary_tools(self) -> tuple[str, ...]:
        """The names of the tools that the model may call, besides those for delegation."""
        return tools_meant(self.tools, self.tool_policy.allow, self.tool_policy.deny)


DEFAULT_MAX_DEPTH = 3
"""How deep sub-agents nest when the root's file says nothing (001-9.3)."""


def load(text: str) -> AgentDefinition:
    """Return the definition in `text`; raises DefinitionError with the first problem in axe's order."""
    values = checked_values(text)
    preset = BUILT_IN_TYPES.get(values.get("type", ""))
    return _definition(values) if preset is None else _filled(values, preset)


def valid_values(text: str, objection: Callable[[Mapping[str, Any]], str]) -> Mapping[str, Any]:
    """Return the values of a file of another dialect. Raises DefinitionError for syntax and objections."""
    values = values_of(text)
    if values is None:
        values = read_values(text)
    message = objection(values)
    if message:
        raise DefinitionError(message, 1, 1)
    return values


def _filled(values: Mapping[str, Any], preset: AgentType) -> AgentDefinition:
    """Return the definition, with what the file's type says about keys that are not there."""
    definition = _definition({**filled_by(values["type"]), **values})
    prompt = preset.begins(definition.system_prompt)
    return replace(definition, system_prompt=prompt, read_only=preset.read_only)


def _definition(values: Mapping[str, Any]) -> AgentDefinition:
    known = _known(AgentDefinition, values)
    for name, table in _TABLES.items():
        if name in known:
            known[name] = table(**_known(table, known[name]))
    if "task" in known:
        known["task"] = _task(known["task"])
    servers = known.get("mcp_servers", ())
    known["mcp_servers"] = tuple(McpServer(**_known(McpServer, each)) for each in servers)
    rest = {name: value for name, value in values.items() if name not in known}
    return AgentDefinition(**known, beyond_first_axe=_beyond_first_axe(values), rest=rest)


def _beyond_first_axe(values: Mapping[str, Any], table: KeyPath = ()) -> bool:
    for name, value in values.items():
        key = AGENT.find((*table, name))
        if key is not None and key.since != FIRST_AXE:
            return True
        if not table and isinstance(value, dict) and _beyond_first_axe(value, (name,)):
            return True
    return False


def _task(values: Mapping[str, Any]) -> TaskConfig:
    inline = values.get("type", {}).items()
    types = {name: AgentType(**_known(AgentType, each)) for name, each in inline}
    return TaskConfig(**{**_known(TaskConfig, values), "type": types})


def _known(data: type[Struct], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that `data` has fields for; arrays become tuples."""
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in values.items()
        if name in data.__struct_fields__ and name not in _OF_OUR_OWN
    }


_OF_OUR_OWN = {"of_client", "rest", "read_only", "beyond_first_axe", "notes", "source"}
"""Fields that are no keys."""

_TABLES: dict[str, type[Struct]] = {
    "sub_agents_config": SubAgentsConfig,
    "memory": MemoryConfig,
    "params": Params,
    "retry": RetryConfig,
    "budget": BudgetConfig,
    "tool_policy": ToolPolicy,
    "context": ContextConfig,
    "isolation": IsolationConfig,
}
