"""Agents with `[output]`: what is asked for, what is believed, and how an answer is mended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.runtime.conversation import MAX_TURNS
from axe_lsp.runtime.errors import AgentError
from axe_lsp.runtime.events import AgentEnd
from axe_lsp.runtime.runs import RunRequest
from support.answers import DIALECTS
from support.engines import agent, bench
from support.scripted_provider import Answer, Call, Refuses, Says, ScriptedProvider, calls_agent

OUTPUT = {
    "type": "object",
    "required": ["found", "line"],
    "properties": {"found": {"type": "boolean"}, "line": {"type": "integer"}},
    "additionalProperties": False,
}
FINDER = agent("finder", system_prompt="Find it.", output=OUTPUT)
GOOD = '{"found":true,"line":3}'


def told(provider: ScriptedProvider) -> list[tuple[str, str]]:
    """Return the last request's messages, without the system's."""
    messages = provider.requests[-1].body["messages"]
    return [(each["role"], each["content"]) for each in messages if each["role"] != "system"]


@pytest.mark.req("002-13", "002-31")
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_providers_own_structured_output_is_asked_for(
    provider: ScriptedProvider, tmp_path: Path, dialect: str
) -> None:
    provider.script("m-finder", Says('{ "found": true,\n "line": 3 }'))
    async with bench(provider, tmp_path, agent("finder", dialect, output=OUTPUT)) as work:
        result = await work.run("finder", "go")
    (request,) = provider.requests
    body = request.body
    asked = {
        "openai": lambda: body["response_format"]["json_schema"]["schema"],
        "responses": lambda: body["text"]["format"]["schema"],
        "anthropic": lambda: body["output_config"]["format"]["schema"],
        "ollama": lambda: body["format"],
        "bedrock": lambda: json.loads(
            body["outputConfig"]["textFormat"]["structure"]["jsonSchema"]["schema"]
        ),
        "google": lambda: body["generationConfig"]["responseJsonSchema"],
    }[dialect]()
    assert asked == OUTPUT
    assert "## Output" not in str(body)
    assert (result.content, result.output) == (GOOD, {"found": True, "line": 3})
    assert (result.turns, result.status) == (1, "completed")


STRING = {"type": "string"}


@pytest.mark.parametrize(
    ("given", "sent", "strict"),
    [
        (OUTPUT, OUTPUT, True),
        (
            {"required": ["a"], "properties": {"a": STRING}},
            {
                "type": "object",
                "required": ["a"],
                "properties": {"a": STRING},
                "additionalProperties": False,
            },
            True,
        ),
        ({**OUTPUT, "additionalProperties": True}, {**OUTPUT, "additionalProperties": True}, False),
        ({**OUTPUT, "required": ["found"]}, {**OUTPUT, "required": ["found"]}, False),
    ],
)
async def test_providers_are_asked_for_closed_objects_and_for_an_exact_match_if_they_can(
    provider: ScriptedProvider,
    tmp_path: Path,
    given: dict[str, Any],
    sent: dict[str, Any],
    strict: bool,
) -> None:
    async with bench(provider, tmp_path, agent("finder", output=given)) as work:
        wanted = work.engine.preview(RunRequest("finder")).request.response_format
    assert wanted is not None
    assert (wanted.schema, wanted.strict, wanted.optional) == (sent, strict, True)


async def test_objects_inside_are_closed_too_unless_several_schemas_describe_them(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    inner = {"properties": {"properties": STRING}}
    listed = {"type": "object", "properties": {"all": {"type": "array", "items": inner}}}
    composed = {"type": "object", "properties": {}, "allOf": [inner]}
    asked = {}
    for name, schema in (("listed", listed), ("composed", composed)):
        async with bench(provider, tmp_path, agent(name, output=schema)) as work:
            wanted = work.engine.preview(RunRequest(name)).request.response_format
            assert wanted is not None
            asked[name] = wanted.schema
    items = asked["listed"]["properties"]["all"]["items"]
    assert items == {**inner, "additionalProperties": False}
    assert asked["composed"] == composed


@pytest.mark.req("002-13")
async def test_a_schema_that_a_provider_refuses_is_told_to_the_model_instead(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-finder", Refuses(400, "response_format: schema is not supported"))
    provider.script("m-finder", *[Says(GOOD)] * 3)
    other = agent("other", model="openai/m-finder", output={"required": ["found"]})
    async with bench(provider, tmp_path, FINDER | other) as work:
        first = await work.run("finder", "go")
        await work.run("finder", "go")
        await work.run("other", "go")
    assert (first.turns, first.output) == (1, json.loads(GOOD))
    refused, told, again, another = (each.body for each in provider.requests)
    assert "response_format" in refused
    assert "## Output" not in str(refused)
    for body in (told, again):
        assert "response_format" not in body
        system = body["messages"][0]["content"]
        assert system.startswith("Find it.\n\n---\n\n## Output\n\n")
        assert json.loads(system.rpartition("\n")[2]) == OUTPUT
    assert "response_format" in another
    assert work.warnings == []


@pytest.mark.req("002-13")
@pytest.mark.parametrize(
    ("dialect", "keys"),
    [
        ("ollama", {"output": OUTPUT, "tools": ["read_file"]}),
        ("openai", {"output": {"type": "array"}}),
        ("openai", {"output": OUTPUT, "params": {"response_format": "json_object"}}),
    ],
)
async def test_a_model_is_told_what_its_provider_cannot_be_asked_for(
    provider: ScriptedProvider, tmp_path: Path, dialect: str, keys: dict[str, Any]
) -> None:
    finder = agent("finder", dialect, system_prompt="Find it.", **keys)
    async with bench(provider, tmp_path, finder) as work:
        shown = work.engine.preview(RunRequest("finder"))
    own = shown.request.response_format
    assert own is None or own.type == "json_object"
    assert shown.prompt.system == shown.request.system
    assert shown.prompt.system.startswith("Find it.\n\n---\n\n## Output\n\n")
    assert json.loads(shown.prompt.system.rpartition("\n")[2]) == keys["output"]


@pytest.mark.req("002-13")
@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        ("It is in line 3.", "it is not JSON: Expecting value (line 1, column 1)"),
        ('{"found": true, "line": "3"}', "output.line must be of type integer, not string"),
        ("", "it is empty"),
    ],
)
async def test_a_model_mends_its_answer(
    provider: ScriptedProvider, tmp_path: Path, bad: str, complaint: str
) -> None:
    provider.script("m-finder", Says(bad, usage=(1, 1)), Says(GOOD, usage=(2, 2)))
    async with bench(provider, tmp_path, FINDER) as work:
        result = await work.run("finder", "go")
    *before, (role, text) = told(provider)
    assert before == [("user", "go"), *([("assistant", bad)] if bad else [])]
    assert role == "user"
    assert text.startswith(f"Your answer is not the result that was asked for: {complaint}.\n")
    assert json.loads(text.rpartition("\n")[2]) == OUTPUT
    assert (result.content, result.output) == (GOOD, json.loads(GOOD))
    assert (result.turns, result.input_tokens) == (2, 3)


@pytest.mark.req("002-13")
async def test_two_repairs_are_enough(provider: ScriptedProvider, tmp_path: Path) -> None:
    provider.script("m-finder", Says("one"), Says("two"), Says("three"), Says(GOOD))
    async with bench(provider, tmp_path, FINDER) as work:
        with pytest.raises(AgentError) as error:
            await work.run("finder", "go")
    assert len(provider.requests) == 3
    assert str(error.value) == (
        "the answer does not fit [output]: it is not JSON: Expecting value (line 1, column 1)"
    )
    assert error.value.exit_code == 1
    assert error.value.partial is not None
    assert (error.value.partial.content, error.value.partial.output) == ("three", None)
    (end,) = work.of(AgentEnd)
    assert (end.status, end.error) == ("failed", str(error.value))


async def test_the_second_repair_may_still_succeed_and_may_use_tools(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    finder = agent("finder", output=OUTPUT, tools=["list_directory"])
    looks = Says(calls=[Call("list_directory", {"path": "."})])
    provider.script("m-finder", Says("one"), Says("two"), looks, Says(f"```json\n{GOOD}\n```"))
    async with bench(provider, tmp_path, finder) as work:
        result = await work.run("finder", "go")
    assert (result.content, result.turns, result.tool_calls) == (GOOD, 4, 1)


async def test_repairs_have_no_turns_beyond_the_last(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    finder = agent("finder", output=OUTPUT, tools=["list_directory"])
    looks = Says(calls=[Call("list_directory", {"path": "."})])
    provider.script("m-finder", *[looks] * (MAX_TURNS - 1), Says("no"), Says(GOOD))
    async with bench(provider, tmp_path, finder) as work:
        with pytest.raises(AgentError, match="exceeded maximum conversation turns"):
            await work.run("finder", "go")
    assert len(provider.requests) == MAX_TURNS


@pytest.mark.req("002-13", "000-30")
async def test_a_parent_gets_the_compact_json_as_text(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    lead = agent("lead", sub_agents=["finder", "typed"])
    typed = agent("typed", input={"properties": {"x": {"type": "string"}}}, output=OUTPUT)
    calls = [calls_agent("finder", "t"), Call("subagent--typed", {"x": "1"})]
    provider.script("m-lead", Says(calls=calls), Says("done"))
    provider.script("m-finder", Says('{\n"found": true, "line": 3}'))
    provider.script("m-typed", Answer(Says("never"), repeat=True))
    async with bench(provider, tmp_path, lead | FINDER | typed) as work:
        result = await work.run("lead")
    last = provider.asked("m-lead")[-1].body
    results = [each["content"] for each in last["messages"] if each["role"] == "tool"]
    assert results == [
        GOOD,
        'Error: sub-agent "typed" failed - the answer does not fit [output]: it is not JSON: '
        "Expecting value (line 1, column 1). You may retry or proceed without this result.\n\nnever",
    ]
    assert "which is JSON" in last["tools"][-1]["function"]["description"]
    assert (result.content, result.output) == ("done", None)


async def test_what_is_remembered_is_the_result(provider: ScriptedProvider, tmp_path: Path) -> None:
    finder = agent("finder", output=OUTPUT, memory={"enabled": True})
    provider.script("m-finder", Says("no"), Says(f" {GOOD} "))
    async with bench(provider, tmp_path, finder) as work:
        await work.run("finder", "go")
    text = (tmp_path / "data" / "axe" / "memory" / "finder.md").read_text("utf-8")
    assert f"**Result:** {GOOD}\n" in text


async def test_members_make_an_object_of_a_schema_without_a_type(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    loose = {"required": ["a"], "properties": {"a": {"type": "string"}}}
    provider.script("m-finder", Says("42"), Says('{"a": "b", "more": null}'))
    async with bench(provider, tmp_path, agent("finder", output=loose)) as work:
        result = await work.run("finder", "go")
    assert (result.turns, result.output) == (2, {"a": "b", "more": None})
