"""Agents with typed input, run and previewed from the editor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.engines import agent
from support.raw_client import ServerError
from support.scripted_provider import Says, ScriptedProvider
from support.session import Project

AGENTS = agent("lead", sub_agents=["reader"]) | agent(
    "reader", input={"required": ["path"], "properties": {"path": {"type": "string"}}}
)


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider) -> Project:
    project = Project(tmp_path, provider.environment)
    for name, text in AGENTS.items():
        project.write(name, text)
    return project


@pytest.mark.req("002-9", "002-10")
def test_an_input_is_an_object(project: Project, provider: ScriptedProvider) -> None:
    provider.script("m-reader", Says("read"))
    params = {"agent": "reader", "input": {"path": "a", "more": [1, {"runId": None}]}}
    with project.editor() as editor:
        shown = editor.client.request("axe/preview", params)
        assert shown["userMessage"] == '{"more":[1,{"runId":null}],"path":"a"}'
        assert editor.client.request("axe/run", params)["content"] == "read"
    (request,) = provider.requests
    assert request.body["messages"][0]["content"] == shown["userMessage"]


def test_a_preview_has_the_schema_that_an_input_fits(project: Project) -> None:
    with project.editor() as editor:
        reader = editor.client.request("axe/preview", {"agent": "reader"})
        lead = editor.client.request("axe/preview", {"agent": "lead"})
    assert reader["inputSchema"]["properties"] == {"path": {"type": "string"}}
    assert "inputSchema" not in lead


@pytest.mark.req("002-10")
def test_an_input_that_does_not_fit_is_refused(
    project: Project, provider: ScriptedProvider
) -> None:
    with project.editor() as editor:
        for method in ("axe/run", "axe/preview"):
            with pytest.raises(ServerError) as error:
                editor.client.request(method, {"agent": "reader", "input": {"path": 1}})
            assert error.value.code == -32803
            assert error.value.data["kind"] == "config"
            assert error.value.data["exitCode"] == 2
            assert "input.path must be of type string, not integer" in str(error.value)
    assert provider.requests == []


@pytest.mark.parametrize(
    ("params", "complaint"),
    [
        ({"input": "a"}, '"input" must be an object'),
        ({"input": {}, "task": "x"}, 'give either "task" or "input"'),
    ],
)
def test_malformed_params_are_named(
    project: Project, params: dict[str, Any], complaint: str
) -> None:
    with project.editor() as editor, pytest.raises(ServerError, match=complaint) as error:
        editor.client.request("axe/run", {"agent": "reader", **params})
    assert error.value.code == -32602


@pytest.mark.req("002-31")
def test_the_preview_of_a_caller_shows_the_typed_tool(project: Project) -> None:
    with project.editor() as editor:
        shown = editor.client.request("axe/preview", {"agent": "lead"})
    assert shown["tools"] == ["call_agent", "subagent--reader"]


@pytest.mark.req("002-13")
def test_the_result_of_an_agent_with_output_is_parsed(
    project: Project, provider: ScriptedProvider
) -> None:
    (text,) = agent("finder", output={"required": ["Run_Id"]}).values()
    project.write("finder", text)
    provider.script("m-finder", Says('{"Run_Id": [null, {"a_b": 1}]}'))
    with project.editor() as editor:
        result = editor.client.request("axe/run", {"agent": "finder"})
    assert result["output"] == {"Run_Id": [None, {"a_b": 1}]}
    assert result["content"] == '{"Run_Id":[null,{"a_b":1}]}'
