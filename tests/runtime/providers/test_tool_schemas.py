"""Schemas of tools that providers refuse are rewritten without another meaning, or the tools are left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from axe_lsp.agentfile.schema.providers import WIRES, Wire
from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.messages import Message, Request, Tool
from axe_lsp.runtime.providers.failures import refusal
from axe_lsp.runtime.providers.tool_schemas import (
    UnfitSchemaError,
    fit_schema,
    offered_tools,
    refused_tool,
)
from axe_lsp.runtime.safety.approval import allowed
from support.engines import agent, bench
from support.plain_mcp import plain_server
from support.scripted_provider import Refuses, Says, ScriptedProvider

Json = Any

STRING = {"type": "string"}
OBJECT = {"type": "object"}
GOOD = {"type": "object", "properties": {"a": STRING}}
CONDITIONS = {"anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const", "$ref"}


def prop(schema: Json, wire: Wire = "openai-chat") -> Json:
    """Return the schema of the argument `x`, as a provider gets it."""
    return fit_schema({"type": "object", "properties": {"x": schema}}, wire)["properties"]["x"]


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"type": ["array", "null"]}, {"type": ["array", "null"], "items": {}}),
        ({"type": "array", "items": True}, {"type": "array", "items": {}}),
        ({"type": "array", "items": None}, {"type": "array", "items": {}}),
        (
            {"type": "array", "items": [STRING, {}]},
            {"type": "array", "items": {}, "prefixItems": [STRING, {}]},
        ),
        (
            {"type": "array", "items": [STRING], "additionalItems": False},
            {"type": "array", "items": {}, "prefixItems": [STRING], "maxItems": 1},
        ),
        (
            {"anyOf": [{"type": "array"}, STRING]},
            {"anyOf": [{"type": "array", "items": {}}, STRING]},
        ),
        ({"type": "int"}, {"type": "integer"}),
        ({"type": "String"}, STRING),
        ({"type": ["str", "None"]}, {"type": ["string", "null"]}),
        ({"type": "any"}, {}),
        ({"type": []}, {}),
        ({"type": None, "description": None, "default": None}, {"default": None}),
        (True, {}),
        (
            {"type": "number", "minimum": 1, "exclusiveMinimum": True},
            {"type": "number", "exclusiveMinimum": 1},
        ),
        ({"type": "number", "exclusiveMaximum": False}, {"type": "number"}),
        ({"type": "object", "required": None}, {"type": "object"}),
        (
            {"type": "object", "properties": {"y": {"type": "string", "required": True}}},
            {"type": "object", "properties": {"y": STRING}, "required": ["y"]},
        ),
        ({"type": "object", "required": ["y", "y", 7]}, {"type": "object", "required": ["y"]}),
        ({"enum": ["a", None]}, {"enum": ["a", None]}),
    ],
)
def test_argument_of_another_draft_is_sent_in_the_words_of_2020_12(
    schema: Json, sent: Json
) -> None:
    assert prop(schema) == sent


@pytest.mark.parametrize("wire", [*WIRES])
@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"properties": {"a": STRING}},
        {"type": ["object", "null"], "properties": {"a": STRING}},
        {**GOOD, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {**GOOD, "oneOf": [{"properties": {"b": STRING}}, {"properties": {"c": STRING}}]},
        {"anyOf": [GOOD]},
        {"allOf": [GOOD, {"properties": {"b": STRING}, "required": ["b"]}]},
        {**GOOD, "not": {"required": ["a"]}},
        {**GOOD, "if": {"required": ["a"]}, "then": {"required": ["b"]}},
        {"$ref": "#/$defs/q", "$defs": {"q": GOOD}},
        {"$ref": "#/definitions/q", "definitions": {"q": {"anyOf": [GOOD]}}},
        {"type": "object", "properties": None},
    ],
)
def test_top_of_a_schema_is_a_plain_object_on_all_wires(schema: Json, wire: Wire) -> None:
    sent = fit_schema(schema, wire)
    assert sent["type"] == "object"
    assert isinstance(sent["properties"], dict)
    assert not CONDITIONS & sent.keys()
    Draft202012Validator.check_schema(sent)


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({"anyOf": [GOOD]}, GOOD),
        (
            {**GOOD, "allOf": [{"properties": {"b": STRING}, "required": ["b"]}]},
            {"type": "object", "properties": {"a": STRING, "b": STRING}, "required": ["b"]},
        ),
        (
            {"$ref": "#/$defs/q", "$defs": {"q": GOOD}, "description": "Q"},
            {**GOOD, "$defs": {"q": GOOD}, "description": "Q"},
        ),
    ],
)
def test_condition_that_is_a_part_of_the_schema_leaves_no_text(schema: Json, sent: Json) -> None:
    assert fit_schema(schema, "anthropic") | {"$defs": None} == sent | {"$defs": None}


def test_other_condition_is_told_in_the_description_and_its_arguments_are_declared() -> None:
    condition = {
        "anyOf": [{"properties": {"b": STRING}, "required": ["a", "b"]}, {"required": ["a"]}]
    }
    sent = fit_schema({**GOOD, "description": "Either.", **condition}, "anthropic")
    assert sent["properties"] == {"a": STRING, "b": STRING}
    assert sent["required"] == ["a"]
    said, told = sent["description"].split("\n\n")
    assert said == "Either."
    assert json.loads(told.partition(": ")[2]) == condition


@pytest.mark.parametrize(
    ("schema", "wire", "reason"),
    [
        (STRING, "openai-chat", 'the type of its schema is "string", not object'),
        (
            {"$ref": "#/$defs/none"},
            "openai-chat",
            'refers to "#/\\$defs/none", which it does not have',
        ),
        ({"$ref": "https://x.example/s"}, "gemini", "which it does not have"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, "gemini", "to itself"),
        (
            {
                "$ref": "#/$defs/0",
                "$defs": {
                    **{str(n): {"anyOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(12)},
                    "12": {},
                },
            },
            "anthropic",
            "too many alternatives",
        ),
        ({"properties": {"$filter": STRING}}, "anthropic", r'names of arguments.*not "\$filter"'),
    ],
)
def test_tool_that_no_rewriting_helps_is_left_out_with_the_reason(
    schema: Json, wire: Wire, reason: str
) -> None:
    with pytest.raises(UnfitSchemaError, match=reason):
        fit_schema(schema, wire)
    tool = Tool("x", "", schema=schema, server="s")
    offered = offered_tools(Request("m", (), tools=(tool,)), wire, ())
    assert offered.tools == ()
    (warning,) = offered.warnings
    assert warning.startswith('tool "x" of MCP server "s" is left out: ')


def test_gemini_gets_references_alone_and_all_required_properties() -> None:
    reference = {"$ref": "#/$defs/q", "description": "Q"}
    assert prop(reference, "gemini") == {"anyOf": [{"$ref": "#/$defs/q"}], "description": "Q"}
    assert prop(reference, "openai-chat") == reference
    assert prop({"type": "object", "required": ["y"]}, "gemini")["properties"] == {"y": {}}


@pytest.mark.parametrize("wire", [*WIRES])
def test_usual_schema_is_sent_as_it_is(wire: Wire) -> None:
    usual = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "a": {"type": "string", "description": "A.", "minLength": 1},
            "b": {"type": "array", "items": {"type": "integer", "minimum": 0}},
            "c": {"anyOf": [STRING, {"type": "null"}], "default": None},
            "d": {"type": "object", "additionalProperties": True},
        },
        "required": ["a"],
        "additionalProperties": False,
    }
    assert json.dumps(fit_schema(usual, wire)) == json.dumps(usual)


_PARTS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "array", "object", ["array", "null"], "any"]),
        "items": st.sampled_from([True, STRING, {"type": "array"}]),
        "enum": st.just(["a", 1, None]),
        "required": st.just(["a"]),
        "properties": st.just({"a": STRING}),
        "minimum": st.just(2),
    },
)
_VALUES = st.recursive(
    st.sampled_from([None, 1, 2, "a", "b", True]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=4,
)


@given(_PARTS, _VALUES, st.sampled_from([*WIRES]))
def test_rewritten_argument_has_the_same_values(schema: Json, value: Json, wire: Wire) -> None:
    meant = {name: each for name, each in schema.items() if each != "any"}
    before, after = Draft202012Validator(meant), Draft202012Validator(prop(schema, wire))
    assert before.is_valid(value) == after.is_valid(value)


# -- refusals that name a tool

ANTHROPIC = (
    "tools.1.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12"
)
BY_INDEX = [
    (ANTHROPIC, ""),
    ("Invalid schema for function 'bad': In context=('properties', 'l'), None is not valid", ""),
    ("Invalid schema.", "tools[1].function.parameters"),
    (
        "GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[l]: missing",
        "",
    ),
    ("The value at toolConfig.tools.1.toolSpec.inputSchema.json.type must be one of: object.", ""),
    ("tools[1].function.description: string too long. Expected maximum length 1024", ""),
]


@pytest.mark.parametrize(("message", "param"), BY_INDEX)
def test_refusal_names_a_tool_by_its_index_or_name(message: str, param: str) -> None:
    body = {"error": {"message": message, "type": "invalid_request_error", "param": param}}
    error = refusal(400, json.dumps(body).encode())
    tools = (Tool("good", "", schema=GOOD), Tool("bad", "", schema=GOOD), Tool("own", ""))
    request = Request("m", (Message("user", "x"),), tools=tools)
    found = refused_tool(error, request, "openai-chat", ())
    assert found is not None
    assert found.is_for(tools[1])
    assert not found.is_for(Tool("bad", "", schema=OBJECT))


@pytest.mark.parametrize(
    "message",
    [
        "tools.1.custom.cache_control: Extra inputs are not permitted",
        "tools.7.custom.input_schema: JSON schema is invalid",
        "Invalid schema for response_format 'answer'",
        "the model 'bad' does not exist",
    ],
)
def test_refusal_about_something_else_names_no_tool(message: str) -> None:
    tools = (Tool("good", "", schema=GOOD), Tool("bad", "", schema=GOOD))
    request = Request("m", (Message("user", "x"),), tools=tools)
    assert (
        refused_tool(ProviderError("bad_request", message, 400), request, "anthropic", ()) is None
    )


async def test_request_is_sent_again_without_the_tool_that_was_refused(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    first = "tools.0.custom.input_schema: JSON schema is invalid."
    second = "tools.1.custom.input_schema.properties: too many."
    refusals = [Refuses(400, first), Refuses(400, second)]
    provider.script("m-bot", *refusals, Says("one"), Says("two"))
    ending = """
        TOOLS[:] = [{"name": n, "inputSchema": {"type": "object"}} for n in "abc"]
        serve()
    """
    agents = agent("bot", "anthropic", mcp_servers=[plain_server(tmp_path, ending)])
    async with bench(provider, tmp_path, agents, approve=allowed) as work:
        for said in ("one", "two"):
            assert (await work.run("bot")).content == said
            assert work.warnings == [
                f'tool "{name}" of MCP server "plain" is left out: the provider refuses it: {why}'
                for name, why in (("a", first), ("c", second))
            ]
            work.warnings.clear()
    sent = [[tool["name"] for tool in each.body["tools"]] for each in provider.requests]
    assert sent == [["a", "b", "c"], ["b", "c"], ["b"], ["b"]]
