"""The meaning of a Codex agent file for a run."""

from __future__ import annotations

from typing import Any

import pytest

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.codex_agent import codex_agent, codex_objection

FILE = {"name": "reviewer", "description": "Reviews", "developer_instructions": "Review it."}
ALL_TOOLS = (
    "read_file",
    "list_directory",
    "grep",
    "find_files",
    "write_file",
    "edit_file",
    "run_command",
)


def meant(session: dict[str, Any] | None = None, **values: Any) -> AgentDefinition:
    return codex_agent({**FILE, **values}, session=session)


def test_instructions_model_and_effort_are_those_of_the_file() -> None:
    agent = meant(model="gpt-5.6", model_reasoning_effort="high")
    assert (agent.name, agent.description) == ("reviewer", "Reviews")
    assert agent.system_prompt == "Review it."
    assert (agent.model, agent.params.effort) == ("openai/gpt-5.6", "high")
    assert agent.ordinary_tools == ALL_TOOLS
    assert agent.notes == ()


def test_a_read_only_sandbox_leaves_the_tools_that_read() -> None:
    agent = meant(sandbox_mode="read-only")
    assert agent.ordinary_tools == ALL_TOOLS[:4]
    assert agent.read_only
    assert agent.notes == ()


@pytest.mark.parametrize("own", ["workspace-write", "danger-full-access"])
def test_a_file_cannot_lift_the_sandbox_of_its_project(own: str) -> None:
    assert meant({"sandbox_mode": "read-only"}, sandbox_mode=own).ordinary_tools == ALL_TOOLS[:4]


def test_wider_sandbox_grants_nothing_and_is_reported() -> None:
    agent = meant(sandbox_mode="danger-full-access")
    assert agent.ordinary_tools == ALL_TOOLS
    (note,) = agent.notes
    assert 'sandbox_mode "danger-full-access" confines nothing' in note


def test_key_without_a_counterpart_is_reported() -> None:
    agent = meant(web_search="live", mcp_servers={"docs": {"command": "x"}}, notify=["x"])
    assert agent.notes == ("there is no counterpart for web_search, mcp_servers, notify",)
    assert agent.mcp_servers == ()


@pytest.mark.parametrize(
    ("provider", "model"), [("openai", "openai/gpt-5.6"), ("ollama", "ollama/gpt-5.6")]
)
def test_a_provider_of_codex_is_the_same_service_here(provider: str, model: str) -> None:
    assert meant(model="gpt-5.6", model_provider=provider).model == model


@pytest.mark.parametrize("provider", ["lmstudio", "azure", "openrouter", "anthropic"])
def test_a_model_is_not_sent_to_a_provider_that_nobody_has_named(provider: str) -> None:
    own = meant(model="gpt-5.6", model_provider=provider)
    of_project = meant({"model_provider": provider}, model="gpt-5.6")
    for agent in (own, of_project):
        assert agent.model == ""
        assert agent.notes[0].startswith(f'model_provider "{provider}" has no counterpart')


def test_missing_key_is_inherited_from_config_toml() -> None:
    session = {"model": "gpt-5.6", "model_reasoning_effort": "low"}
    inherited, own = meant(session), meant(session, model="gpt-6-sol")
    assert (inherited.model, inherited.params.effort) == ("openai/gpt-5.6", "low")
    assert (own.model, own.params.effort) == ("openai/gpt-6-sol", "low")


def test_an_agent_may_name_no_model() -> None:
    assert meant().model == ""
    assert meant().notes == ()


@pytest.mark.parametrize("effort", ["ultra", "hihg"])
def test_an_effort_that_no_wire_knows_is_not_sent(effort: str) -> None:
    agent = meant(model_reasoning_effort=effort)
    assert agent.params.effort == ""
    assert f'model_reasoning_effort "{effort}" is not sent' in agent.notes[0]


@pytest.mark.parametrize(
    ("agents", "depth", "callable_"),
    [
        ({}, 1, True),
        ({"max_depth": 3}, 3, True),
        ({"max_depth": 99}, 5, True),
        ({"max_depth": 0}, None, False),
        ({"enabled": False}, None, False),
    ],
)
def test_all_roles_are_open_to_all_up_to_the_depth_of_config_toml(
    agents: dict[str, Any], depth: int | None, callable_: bool
) -> None:
    agent = codex_agent(FILE, session={"agents": agents}, roles=("reviewer", "worker"))
    assert agent.sub_agents == (("reviewer", "worker") if callable_ else ())
    if depth is not None:
        assert agent.max_depth == depth


@pytest.mark.parametrize("key", ["max_threads", "max_concurrent_threads_per_session"])
def test_config_toml_limits_how_many_run_at_once(key: str) -> None:
    assert meant({"agents": {key: 2}}).sub_agents_config.max_concurrent == 2


def test_a_file_alone_needs_name_description_and_instructions() -> None:
    for key in FILE:
        values = {**FILE, key: " "}
        message = codex_objection(values, {}, is_declared=False)
        assert message == f"agent config missing required field: {key}"
    assert codex_objection(FILE, {}, is_declared=False) == ""
    assert codex_objection({}, {"description": "d"}, is_declared=True) == ""
    assert codex_objection({**FILE, "model": 3}, {}, is_declared=False) == "model must be a string"


def test_servers_of_config_toml_are_named_since_they_are_not_started() -> None:
    off, on = {"command": "x", "enabled": False}, {"command": "npx", "args": ["docs"]}
    agent = meant({"mcp_servers": {"off": off, "docs": on, "web": {"url": "https://x"}}})
    assert agent.mcp_servers == ()
    assert agent.notes == (
        'the MCP servers of Codex\'s config.toml are not started: "docs", "web"; '
        "an agent of axe names its servers in [[mcp_servers]]",
    )
    assert meant({"mcp_servers": {"off": off}}).notes == ()
    assert meant({"mcp_servers": 3}).notes == ()
