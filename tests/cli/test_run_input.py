"""`axe-lsp run --input`: an object for an agent that declares one."""

from __future__ import annotations

import json

import pytest

from support.command_line import Home
from support.engines import agent
from support.scripted_provider import Call, Says, ScriptedProvider

READER = agent(
    "reader",
    input={"required": ["path"], "properties": {"path": {"type": "string"}}},
)


@pytest.mark.req("002-9", "002-10")
@pytest.mark.parametrize("argument", ['{"path": "é", "b": 1}', "@given.json"])
def test_the_input_is_an_argument_or_a_file(
    home: Home, provider: ScriptedProvider, argument: str
) -> None:
    home.add(READER)
    (home.work / "given.json").write_text('{"path": "é",\n "b": 1}\n', "utf-8")
    provider.script("m-reader", Says("read"))
    dropped = "Warning: standard input is not read, because of --input\n"
    answer = home.call("run", "reader", "--input", argument, stdin="not asked for")
    assert answer == (0, "read", dropped)
    (request,) = provider.requests
    assert request.body["messages"] == [{"role": "user", "content": '{"b":1,"path":"é"}'}]


@pytest.mark.req("002-10", "002-31")
@pytest.mark.parametrize(
    ("argument", "complaint"),
    [
        ("{}", 'invalid input for agent "reader": input.path is missing'),
        (
            '{"path": 1}',
            'invalid input for agent "reader": input.path must be of type string, not integer',
        ),
        ("[1]", '--input: it is not a JSON object, such as {"path": "src"}'),
        (
            "{path",
            "--input: it is not JSON: Expecting property name enclosed in double quotes (line 1, column 2)",
        ),
        ("@none.json", "--input @none.json: there is no such file; @ marks a file name"),
        ("@.", "--input @.: Is a directory"),
    ],
)
def test_an_input_that_cannot_be_used_is_a_mistake_of_configuration(
    home: Home, provider: ScriptedProvider, argument: str, complaint: str
) -> None:
    home.add(READER)
    for more in ([], ["--dry-run"]):
        code, out, err = home.call("run", "reader", "--input", argument, *more)
        assert (code, out, err) == (2, "", f"{complaint}\n")
    assert provider.requests == []


@pytest.mark.req("002-31")
def test_an_invalid_schema_is_a_mistake_of_configuration(home: Home) -> None:
    home.add({"bad": 'name = "bad"\nmodel = "openai/m"\n[input.properties.a]\ntype = "text"\n'})
    code, _, err = home.call("run", "bad", "-p", "x")
    assert code == 2
    assert err.startswith("input.properties.a.type must be one of: ")


def test_an_input_and_a_prompt_are_too_much(home: Home) -> None:
    home.add(READER)
    code, _, err = home.call("run", "reader", "--input", "{}", "-p", "x")
    assert code == 1
    assert "--prompt" in err


def test_a_dry_run_shows_what_the_agent_is_told(home: Home) -> None:
    home.add(READER | agent("lead", sub_agents=["reader"]))
    code, out, _ = home.call("run", "reader", "--dry-run", "--input", '{"path": "a"}')
    assert code == 0
    assert '--- Stdin ---\n{"path":"a"}\n' in out


@pytest.mark.req("002-13")
def test_the_result_is_compact_json_and_parsed_in_the_envelope(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("finder", output={"required": ["n"], "properties": {"n": {"type": "integer"}}}))
    provider.script("m-finder", *[Says("so"), Says('{ "n": 3 }')] * 2)
    assert home.call("run", "finder", "--stream") == (0, '{"n":3}', "")
    code, out, _ = home.call("run", "finder", "--json")
    envelope = json.loads(out)
    assert (code, envelope["content"], envelope["output"]) == (0, '{"n":3}', {"n": 3})
    assert list(envelope) == sorted(envelope)


@pytest.mark.req("002-13")
def test_a_result_that_never_fits_is_a_failure(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("finder", output={"type": "object", "required": ["n"]}))
    provider.script("m-finder", *[Says("{}")] * 3)
    code, out, err = home.call("run", "finder")
    complaint, last_answer = err.split("Its last answer was:\n\n")
    assert (code, out) == (1, "")
    assert complaint == "the answer does not fit [output]: output.n is missing\n"
    assert last_answer == "{}\n"


def test_a_recording_plays_typed_calls_and_mended_answers_back(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(
        agent("lead", sub_agents=["finder"])
        | agent(
            "finder",
            input={"required": ["path"], "properties": {"path": {"type": "string"}}},
            output={"required": ["n"], "properties": {"n": {"type": "integer"}}},
        )
    )
    calls = [Call("subagent--finder", {}), Call("subagent--finder", {"path": "a"})]
    provider.script("m-lead", Says(calls=calls), Says("three"))
    provider.script("m-finder", Says("let me see"), Says('{"n": 3}'))
    assert home.call("run", "lead", "--record", "kept.toml") == (0, "three", "")
    sent = len(provider.requests)
    assert home.call("run", "lead", "--replay", "kept.toml") == (0, "three", "")
    assert len(provider.requests) == sent == 4
