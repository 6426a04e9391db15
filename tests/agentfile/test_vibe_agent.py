"""The meaning of a Mistral Vibe agent file for a run."""

from __future__ import annotations

from typing import Any

import pytest

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.vibe_agent import is_subagent, prompt_file, vibe_agent, vibe_objection

OPENAI = {"name": "p", "api_base": "https://api.openai.com/v1"}


def meant(**values: Any) -> AgentDefinition:
    return vibe_agent(values, "deploy", ("helper",))


def with_model(base: str = OPENAI["api_base"], **model: Any) -> AgentDefinition:
    models = [{"name": "gpt-5.6", "provider": "p", **model}]
    return meant(active_model="m", models=models, providers=[{"name": "p", "api_base": base}])


def test_the_agent_has_the_name_of_its_file_and_its_instructions() -> None:
    agent = meant(display_name="Deploy!", description="D", instructions="Deploy it.")
    assert (agent.name, agent.description, agent.system_prompt) == ("deploy", "D", "Deploy it.")
    assert agent.model == ""
    assert agent.notes == ()


def test_without_a_list_it_has_the_tools_of_a_project_but_none_of_the_web() -> None:
    assert meant().ordinary_tools == (
        "read_file",
        "list_directory",
        "grep",
        "find_files",
        "write_file",
        "edit_file",
        "run_command",
    )


@pytest.mark.parametrize(
    ("values", "tools"),
    [
        ({"enabled_tools": ["read_file"]}, "read_file list_directory"),
        ({"enabled_tools": ["READ_*", "re:edit|web_.*"]}, "read_file list_directory edit_file"),
        ({"enabled_tools": ["web_fetch"]}, "url_fetch"),
        ({"enabled_tools": ["edit", "bash"], "disabled_tools": ["b*"]}, "edit_file"),
        ({"enabled_tools": ["bash"], "tools": {"bash": {"permission": "never"}}}, ""),
        ({"enabled_tools": ["re:(", "serena_*"]}, ""),
    ],
)
def test_tools_are_those_that_the_file_leaves(values: dict[str, Any], tools: str) -> None:
    assert meant(**values).ordinary_tools == tuple(tools.split())


def test_tools_without_a_counterpart_are_named() -> None:
    assert meant(enabled_tools=["serena_*", "bash"]).notes == (
        'enabled_tools: axe-lsp has no tool for "serena_*"',
    )


@pytest.mark.parametrize(
    "values", [{"tools": {"bash": {"permission": "always"}}}, {"bypass_tool_permissions": True}]
)
def test_approval_keys_of_a_file_have_no_effect(values: dict[str, Any]) -> None:
    (note,) = meant(**values).notes
    assert "approves nothing" in note


def test_a_model_at_a_known_address_is_that_of_its_provider() -> None:
    agent = with_model(alias="m", temperature=0.5, top_p=0.9, max_output_tokens=9, thinking="off")
    assert agent.model == "openai/gpt-5.6"
    assert (agent.params.temperature, agent.params.top_p) == (0.5, 0.9)
    assert (agent.params.max_tokens, agent.params.effort) == (9, "none")


def test_models_may_be_a_table_by_alias() -> None:
    models = {"m": {"name": "x", "provider": "mistral", "thinking": "high"}}
    agent = meant(active_model="m", models=models)
    assert (agent.model, agent.params.effort) == ("mistral/x", "high")


def test_a_model_is_not_sent_to_a_provider_that_nobody_has_named() -> None:
    agent = with_model("https://example.org/v1", alias="m")
    assert agent.model == ""
    assert agent.notes[0].startswith('provider "p" has no counterpart')
    assert "is not among the models" in meant(active_model="m").notes[0]


def test_server_is_used_only_if_all_its_keys_have_counterparts() -> None:
    http = {"name": "http", "transport": "http", "url": "http://x"}
    agent = meant(
        mcp_servers=[
            {**http, "headers": {"A": "b"}},
            {**http, "name": "off", "disabled": True},
            {**http, "name": "some", "disabled_tools": ["rm"]},
            {**http, "name": "variable", "headers": {"A": "${GITHUB_TOKEN}"}},
            {**http, "name": "key", "api_key_env": "GITHUB_TOKEN"},
        ]
    )
    (server,) = agent.mcp_servers
    assert (server.name, server.url, dict(server.headers)) == ("http", "http://x", {"A": "b"})
    assert [note.partition(" ")[0] for note in agent.notes] == [
        "mcp_servers.some",
        "mcp_servers.variable",
        "mcp_servers.key",
    ]


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"command": "npx -y 'a b'"}, "npx -y 'a b'"),
        ({"command": ["npx", "-y"], "args": ["a b"]}, "npx -y 'a b'"),
        ({"command": "npx", "env": {"A": "1"}, "cwd": "sub"}, "cd sub && A=1 npx"),
    ],
)
def test_a_server_is_started_with_the_words_that_vibe_makes(keys: Any, line: str) -> None:
    agent = meant(mcp_servers=[{"name": "s", "transport": "stdio", **keys}])
    assert [each.line for each in agent.mcp_servers] == [line]
    assert agent.notes == ()


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({}, "it has no command"),
        ({"command": "npx 'a"}, "a quotation mark that is not closed"),
        ({"command": "./x"}, "must be the name of a program on the PATH"),
        ({"command": "x", "cwd": "/tmp"}, "must be a relative path"),
        ({"command": "x", "env": {"A": "${B}"}}, "would be read as a variable"),
        ({"command": "x", "disabled_tools": ["a"]}, "some of its tools are disabled"),
    ],
)
def test_a_server_that_vibe_would_start_otherwise_is_not_started(keys: Any, reason: str) -> None:
    agent = meant(mcp_servers=[{"name": "s", "transport": "stdio", **keys}])
    assert agent.mcp_servers == ()
    assert reason in agent.notes[0]


@pytest.mark.parametrize(
    "values",
    [{"enabled_tools": ["bash"]}, {"disabled_tools": ["task"]}, {"enable_subagents": False}],
)
def test_an_agent_calls_subagents_unless_the_file_says_otherwise(values: dict[str, Any]) -> None:
    assert meant().sub_agents == ("helper",)
    assert meant().max_depth == 1
    assert meant(**values).sub_agents == ()


def test_only_subagents_with_a_description_are_called() -> None:
    assert is_subagent({"agent_type": "subagent", "description": "d"})
    assert not is_subagent({"agent_type": "subagent", "description": " "})
    assert not is_subagent({"description": "d"})


def test_key_without_a_counterpart_is_reported() -> None:
    assert meant(compaction_prompt_id="x", theme="y", safety="yolo").notes == (
        "there is no counterpart for compaction_prompt_id, theme",
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, ""),
        ({"bypass_tool_permissions": "true", "tools": {"x": 3}, "description": 3}, ""),
        ({"agent_type": "main"}, "agent_type"),
        ({"safety": "none"}, "safety"),
        ({"enabled_tools": "bash"}, "enabled_tools"),
        ({"enabled_tools": [3]}, "enabled_tools[0]"),
        ({"models": [{"name": 3}]}, "models"),
        ({"providers": [{"name": "x"}]}, "api_base"),
        ({"mcp_servers": [{"name": "x", "transport": "sse"}]}, "transport"),
    ],
)
def test_fault_of_the_file_is_reported(values: dict[str, Any], message: str) -> None:
    found = vibe_objection(values)
    assert message in found
    assert bool(found) == bool(message)


@pytest.mark.parametrize(
    ("values", "file"),
    [
        ({"system_prompt_id": "builder"}, "builder.md"),
        ({"system_prompt_id": "builder.txt"}, "builder.md"),
        ({"system_prompt_id": "builder", "instructions": "Build."}, ""),
        ({"system_prompt_id": "../secret"}, ""),
        ({"system_prompt_id": ".."}, ""),
        ({"system_prompt_id": 3}, ""),
        ({}, ""),
    ],
)
def test_prompt_of_an_agent_is_a_file_unless_it_has_instructions(
    values: dict[str, object], file: str
) -> None:
    assert prompt_file(values) == file


def test_prompt_of_a_file_becomes_the_system_prompt() -> None:
    values = {"system_prompt_id": "builder"}
    assert vibe_agent(values, "b", prompt="Build.").system_prompt == "Build."
    (note,) = vibe_agent(values, "b").notes
    assert note.startswith("system_prompt_id: there is no readable file prompts/builder.md")
    (note,) = vibe_agent({"system_prompt_id": "lean"}, "b").notes
    assert "Vibe's own prompt" in note
