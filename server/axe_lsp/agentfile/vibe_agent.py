"""The meaning of a Mistral Vibe agent file for a run: its AgentDefinition.

The values have passed Vibe's own check. What a run has no counterpart for is named in `notes`.
Facts are those of mistral-vibe 3.0.3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from typing import Any, Literal
from urllib.parse import urlsplit

from msgspec import Struct, ValidationError, convert

from axe_lsp.agentfile.agent_definition import AgentDefinition, Params, SubAgentsConfig
from axe_lsp.agentfile.mcp_servers import McpServer, command_fault, folder_fault, variables_in
from axe_lsp.agentfile.schema.providers import EFFORTS, PROVIDERS
from axe_lsp.agentfile.text.ranges import quoted

TOOLS: Mapping[str, tuple[str, ...]] = {
    "read_file": ("read_file", "list_directory"),
    "grep": ("grep", "find_files"),
    "write_file": ("write_file",),
    "edit": ("edit_file",),
    "bash": ("run_command",),
    "web_fetch": ("url_fetch",),
    "web_search": ("web_search",),
}
"""Tools of Vibe, and those of axe-lsp that do the same."""

_NEED_A_NAME = frozenset({"web_fetch", "web_search"})
"""Tools that reach out of the machine: an agent gets them only if its file lists them."""

SUBAGENT = "subagent"
"""The value of `agent_type` of agents that others may call."""

_SPAWNING_TOOL = "task"
_EFFORT_OF_THINKING = {"off": "none"}
MISTRAL = "mistral"
"""A provider that `config.toml` of axe-lsp has to describe."""

_HOST_OF_MISTRAL = "api.mistral.ai"


BUILT_IN_PROMPTS = ("cli", "explore", "lean")
"""Values of `system_prompt_id` that are prompts of Vibe itself, which axe-lsp does not have."""


def prompt_file(values: Mapping[str, Any]) -> str:
    """Return the name of the file with the prompt of an agent, in a folder of prompts; "" if there is none.

    `instructions` of the agent's own file win (mistral-vibe 3.0.3, `vibe/core/prompts`).
    """
    prompt = values.get("system_prompt_id")
    if values.get("instructions") is not None or not isinstance(prompt, str):
        return ""
    is_name = prompt not in ("", ".", "..") and not {"/", "\\", "\0"} & set(prompt)
    return f"{prompt.rpartition('.')[0] or prompt}.md" if is_name else ""


def vibe_agent(
    values: Mapping[str, Any], name: str, subagents: Sequence[str] = (), prompt: str = ""
) -> AgentDefinition:
    """Return the agent of a file.

    `name` is the file's stem, `subagents` the names that it may call, `prompt` the text of its `prompt_file`.
    """
    keys = _keys(values)
    model, params, model_note = _model(keys)
    enabled = _enabled(keys)
    servers, server_notes = _servers(keys.mcp_servers)
    notes = (
        model_note,
        *server_notes,
        _approval_note(keys),
        _tool_note(keys),
        _prompt_note(values, prompt),
        _unused_note(values),
    )
    return AgentDefinition(
        name=name,
        model=model,
        description=_text(keys.description),
        system_prompt=_text(keys.instructions) or prompt,
        tools=tuple(ours for tool in TOOLS if tool in enabled for ours in TOOLS[tool]),
        params=params,
        sub_agents=tuple(subagents) if _SPAWNING_TOOL in enabled and keys.enable_subagents else (),
        # The agents that it calls are offered no agents of their own.
        sub_agents_config=SubAgentsConfig(
            max_depth=1, max_concurrent=keys.max_concurrent_subagents
        ),
        mcp_servers=servers,
        beyond_first_axe=True,
        notes=tuple(note for note in notes if note),
    )


def is_subagent(values: Mapping[str, Any]) -> bool:
    """Return whether other agents may call the agent: Vibe offers those with a description only."""
    return values.get("agent_type") == SUBAGENT and bool(_text(values.get("description")).strip())


class Model(Struct):
    """One of `models`."""

    name: str = ""
    provider: str = ""
    alias: str = ""
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    thinking: str = ""


class Provider(Struct):
    """One of `providers`."""

    name: str
    api_base: str


class Server(Struct):
    """One of `mcp_servers`."""

    name: str
    transport: Literal["stdio", "http", "streamable-http"]
    url: str = ""
    headers: dict[str, str] = {}
    command: str | list[str] = ""
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    auth: Any = None
    api_key_env: str = ""
    disabled: bool = False
    disabled_tools: list[str] = []


class ToolSettings(Struct):
    """One of `tools`."""

    permission: Any = None


class Keys(Struct):
    """The keys that a run reads, with their types. Vibe takes `"1"` for 1 and for true, as msgspec does."""

    description: Any = ""
    instructions: Any = ""
    safety: Literal["safe", "neutral", "destructive", "smart", "yolo"] = "neutral"
    agent_type: Literal["agent", "subagent"] = "agent"
    active_model: str = ""
    models: list[Model] | dict[str, Model] = []
    providers: list[Provider] = []
    enabled_tools: list[str] = []
    disabled_tools: list[str] = []
    tools: dict[str, ToolSettings] = {}
    mcp_servers: list[Server] = []
    bypass_tool_permissions: bool = False
    system_prompt_id: str = ""
    enable_subagents: bool = True
    max_concurrent_subagents: int = 0


def vibe_objection(values: Mapping[str, Any]) -> str:
    """Return why Vibe drops a file or refuses the agent, as far as a run depends on it, or ""."""
    try:
        _keys(values)
    except ValidationError as error:
        return str(error).replace("$.", "")
    return ""


def _keys(values: Mapping[str, Any]) -> Keys:
    """Return the values in their types. Raises ValidationError."""
    tools = values.get("tools")
    if isinstance(tools, Mapping):  # Vibe takes settings that are no table for none.
        settings = {key: each for key, each in tools.items() if isinstance(each, Mapping)}
        values = {**values, "tools": settings}
    return convert(values, Keys, strict=False)


def _text(value: object) -> str:
    """Return a text whose type Vibe does not check."""
    return value if isinstance(value, str) else ""


def _model(keys: Keys) -> tuple[str, Params, str]:
    """Return the model as `provider/name` with its parameters, or "" with a note."""
    alias = keys.active_model
    if not alias:
        return "", Params(), ""
    model = _models(keys).get(alias)
    if model is None:
        return "", Params(), f"active_model {quoted(alias)} is not among the models of this file"
    provider = _provider(model.provider, keys)
    if not provider:
        told = f"provider {quoted(model.provider)} has no counterpart in axe-lsp"
        return "", Params(), f"{told}, so model {quoted(alias)} is not used"
    effort = _EFFORT_OF_THINKING.get(model.thinking, model.thinking)
    params = Params(
        temperature=model.temperature,
        top_p=model.top_p,
        max_tokens=model.max_output_tokens or 0,
        effort=effort if effort in EFFORTS else "",
    )
    return f"{provider}/{model.name}", params, ""


def _models(keys: Keys) -> Mapping[str, Model]:
    """Return the whole models of a file by alias: from an array of tables, or a table by alias."""
    written = keys.models
    if isinstance(written, list):
        written = {each.alias or each.name: each for each in written}
    return {alias: each for alias, each in written.items() if each.name and each.provider}


def _provider(name: str, keys: Keys) -> str:
    """Return the provider of axe-lsp at the same host, or "". Vibe's own `mistral` keeps its name."""
    written = {each.name: each.api_base for each in keys.providers}
    if name not in written:
        return MISTRAL if name == MISTRAL else ""
    host = urlsplit(written[name]).netloc
    if host == _HOST_OF_MISTRAL:
        return MISTRAL
    same = (each.name for each in PROVIDERS.values() if urlsplit(each.base_url).netloc == host)
    return next(same, "")


def _enabled(keys: Keys) -> frozenset[str]:
    """Return the tools of Vibe that the agent has."""
    return frozenset(
        tool
        for tool in (*TOOLS, _SPAWNING_TOOL)
        if _is_listed(tool, keys.enabled_tools)
        and not matches(tool, keys.disabled_tools)
        and not (tool in keys.tools and keys.tools[tool].permission == "never")
    )


def _is_listed(tool: str, listed: Sequence[str]) -> bool:
    if tool in _NEED_A_NAME:
        return tool in listed
    return not listed or matches(tool, listed)


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a name matches one of Vibe's patterns: globs, or expressions after `re:`."""
    return any(_matches(name, pattern.strip()) for pattern in patterns)


def _matches(name: str, pattern: str) -> bool:
    if not pattern.startswith("re:"):
        return fnmatch(name.lower(), pattern.lower())
    try:
        return re.fullmatch(pattern.removeprefix("re:"), name, re.IGNORECASE) is not None
    except re.error:
        return False


def _servers(written: Sequence[Server]) -> tuple[tuple[McpServer, ...], list[str]]:
    """Return the servers that a run can use, and why it can't use the others.

    `${…}` in a header or in `env` is text in Vibe and a variable in axe-lsp, and a server some of whose
    tools are disabled would offer them here.
    """
    servers, notes = [], []
    for each in written:
        reason = _reason_against(each)
        if reason:
            notes.append(f"mcp_servers.{each.name} is not used: {reason}")
        elif not each.disabled:
            servers.append(_server(each))
    return tuple(servers), notes


def _server(written: Server) -> McpServer:
    if written.transport != "stdio":
        return McpServer(written.name, written.url, "streamable-http", written.headers)
    command, *args = _words(written)
    cwd = written.cwd or ""
    return McpServer(written.name, command=command, args=tuple(args), env=written.env, cwd=cwd)


def _words(server: Server) -> list[str]:
    """Return the command line, as Vibe splits it (`MCPStdio.argv`). Raises ValueError."""
    import shlex

    command = server.command
    return [*(shlex.split(command) if isinstance(command, str) else command), *server.args]


def _reason_against_command(server: Server) -> str:
    try:
        words = _words(server)
    except ValueError:
        return "its command has a quotation mark that is not closed"
    if not words or not words[0]:
        return "it has no command"
    fault = command_fault(words[0])
    if fault is None and server.cwd:
        fault = folder_fault(server.cwd)
    if fault is not None:
        return f"its command or folder {fault}"
    is_variable = variables_in(server.env.values())
    return "a value of `env` would be read as a variable" if is_variable else ""


def _reason_against(server: Server) -> str:
    if server.disabled:
        return ""
    if server.transport == "stdio" and (reason := _reason_against_command(server)):
        return reason
    if server.auth or server.api_key_env:
        return "axe-lsp has no counterpart for its authentication"
    if variables_in(server.headers.values()):
        return "one of its headers would be read as a variable"
    return "some of its tools are disabled" if server.disabled_tools else ""


def _approval_note(keys: Keys) -> str:
    always = [
        f"tools.{tool}.permission"
        for tool, settings in keys.tools.items()
        if settings.permission == "always"
    ]
    if keys.bypass_tool_permissions:
        always.append("bypass_tool_permissions")
    if not always:
        return ""
    return f"{', '.join(always)} approves nothing: you are asked before each change and command"


def _tool_note(keys: Keys) -> str:
    known = (*TOOLS, _SPAWNING_TOOL)
    without = [
        pattern
        for pattern in keys.enabled_tools
        if not any(matches(tool, [pattern]) for tool in known)
    ]
    if not without:
        return ""
    return f"enabled_tools: axe-lsp has no tool for {', '.join(map(quoted, without))}"


def _prompt_note(values: Mapping[str, Any], prompt: str) -> str:
    file = prompt_file(values)
    if not file or prompt:
        return ""
    if values["system_prompt_id"].lower() in BUILT_IN_PROMPTS:
        return f"system_prompt_id: axe-lsp does not have Vibe's own prompt {quoted(values['system_prompt_id'])}"
    return f"system_prompt_id: there is no readable file prompts/{file}, so the agent has no instructions"


def _unused_note(values: Mapping[str, Any]) -> str:
    unused = [key for key in values if key not in (*Keys.__struct_fields__, "display_name")]
    return f"there is no counterpart for {', '.join(unused)}" if unused else ""
