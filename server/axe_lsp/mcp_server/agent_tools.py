"""Agents as tools: names, schemas, and what a client may know before it calls one."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from mcp.types import Tool, ToolAnnotations
from msgspec import Struct

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.schema.tools import WEB_TOOLS
from axe_lsp.runtime.agent_search import AgentSearch, agent_search_in
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.json_data import Json
from axe_lsp.runtime.processes import agents_above
from axe_lsp.runtime.structured.output import output_of
from axe_lsp.runtime.structured.schemas import Check, check_of, object_schema

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
"""What MCP takes as the name of a tool."""

_PLAIN_INPUT: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "task": {"type": "string", "description": "The task of the agent."},
        "context": {"type": "string", "description": "Facts that the agent needs for the task."},
    },
    "required": ["task"],
    "additionalProperties": False,
}
"""The input of an agent without `[input]`."""

_WRITING = frozenset({"write_file", "edit_file", "run_command"})


class AgentTool(Struct, frozen=True):
    """An agent that can be called. `check` judges the arguments; `output` is the schema of its answer, if it has one."""

    name: str
    workspace: Path
    is_typed: bool
    description: str
    input: Mapping[str, Json]
    check: Check
    output: Mapping[str, Json] | None
    only_reads: bool
    reaches_out: bool

    def described(self, *, is_modern: bool) -> Tool:
        """Return the tool as clients see it. Before 2026-07-28 the output must be an object."""
        output = self.output
        if output is not None and not is_modern and output.get("type") != "object":
            output = {"type": "object", "properties": {"result": output}, "required": ["result"]}
        return Tool(
            name=self.name,
            title=self.name,
            description=self.description,
            input_schema=dict(self.input),
            output_schema=dict(output) if output is not None else None,
            annotations=ToolAnnotations(
                title=self.name,
                read_only_hint=self.only_reads,
                destructive_hint=not self.only_reads,
                open_world_hint=self.reaches_out,
            ),
        )


class Toolbox(Struct, frozen=True):
    """The tools of a folder, by name, and the folders in which agents were looked for."""

    here: AgentSearch
    tools: Mapping[str, AgentTool]
    left_out: tuple[str, ...]


def toolbox(folder: Path, names: Collection[str], *, offers_all: bool) -> Toolbox:
    """Return the agents of a folder as tools. Blocks. Raises ConfigError for a named one that can't be run.

    Without names, those of the workspace that no other one calls, or all of it. Users' own agents have to be named.
    None is offered that has led to this process: it would call itself.
    """
    here = agent_search_in(folder)
    above = agents_above(os.environ)
    for name in names:
        here.agents.resolve(name)
    found = {
        name: (path, agent)
        for name, path, agent in here.agents.list()
        if isinstance(agent, AgentDefinition)
    }
    called = {child for _, agent in found.values() for child in agent.sub_agents}
    users = Path(here.places.user)
    chosen = [
        name
        for name, (path, _) in found.items()
        if name not in above
        and (
            name in names if names else path.parent != users and (offers_all or name not in called)
        )
    ]
    nameable = [name for name in sorted(chosen) if _NAME.fullmatch(name)]
    tools = {name: _tool(here, name, *found[name]) for name in nameable}
    return Toolbox(here, tools, tuple(sorted(set(chosen) - set(nameable))))


def _tool(here: AgentSearch, name: str, path: Path, agent: AgentDefinition) -> AgentTool:
    schema = object_schema(agent.input) if agent.input is not None else _PLAIN_INPUT
    output = output_of(agent)
    below = list(_below(here, agent, {name}))
    only_reads = all(_only_reads(each) for each in below)
    effect = "" if only_reads else "May write files or run commands; asks first."
    sentences = (f"{agent.description.rstrip('.')}." if agent.description else "", effect)
    return AgentTool(
        name=name,
        workspace=here.workspace_of(path),
        is_typed=agent.input is not None,
        description=" ".join(filter(None, sentences)),
        input=schema,
        check=check_of(schema, "arguments"),
        output=output.schema if output is not None else None,
        only_reads=only_reads,
        reaches_out=any(_reaches_out(each) for each in below),
    )


def _below(here: AgentSearch, agent: AgentDefinition, seen: set[str]) -> Iterator[AgentDefinition]:
    """Yield an agent and those that it calls, each once. One that can't be loaded can't do anything."""
    yield agent
    for name in agent.sub_agents:
        if name not in seen:
            seen.add(name)
            try:
                child = here.agents.resolve(name)
            except ConfigError:
                continue
            yield from _below(here, child, seen)


def _only_reads(agent: AgentDefinition) -> bool:
    """Return whether nothing that the agent itself does changes anything, as far as its file says."""
    if agent.read_only:
        return True
    return not (_WRITING & {*agent.ordinary_tools} or agent.mcp_servers or agent.task is not None)


def _reaches_out(agent: AgentDefinition) -> bool:
    return bool({*WEB_TOOLS} & {*agent.ordinary_tools} or agent.mcp_servers)
