"""What goes over the wire arrives as it was, and events look as clients expect them."""

import json
import math
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec
import pytest

from axe_lsp.agentfile.agent_definition import BudgetConfig
from axe_lsp.agentfile.lookup_order import AgentPlaces, Caller
from axe_lsp.hosting import protocol
from axe_lsp.hosting.notifications import Message, Notification, event_of, notification
from axe_lsp.hosting.protocol import encode
from axe_lsp.runtime import events
from axe_lsp.runtime.events import (
    AgentEnd,
    Event,
    Fork,
    RunIds,
    Saved,
    TextDelta,
    ToolBegin,
    TurnEnd,
)
from axe_lsp.runtime.json_data import plain_json
from axe_lsp.runtime.run_log import Begun
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.run_steps import Step
from axe_lsp.runtime.runs import Order, RunRequest
from axe_lsp.runtime.sources import Source
from axe_lsp.runtime.usage import Usage


def every_kind_of_event() -> list[type[Event]]:
    kinds = (each for each in vars(events).values() if isinstance(each, type))
    return [kind for kind in kinds if issubclass(kind, Event) and kind is not Event]


ROOT = RunIds(run_id="r", root_run_id="r", agent="lead")
CHILD = RunIds(run_id="c", root_run_id="r", agent="lint", depth=1, parent_run_id="r")
RESULT = RunResult(
    run_id="r",
    agent="lead",
    status="completed",
    model="m",
    content="Ünïcode\u2028and\nlines",
    stop_reason="end_turn",
    input_tokens=1,
    output_tokens=2,
    turns=1,
    tool_calls=0,
    duration_ms=5,
)


def read(line: bytes) -> Message:
    """Return what the side makes of a line that the message is meant for."""
    kinds = {each.__struct_config__.tag for each in get_args(protocol.ToHost)}
    is_to_host = json.loads(line)["type"] in kinds
    return protocol.read_to_host(line) if is_to_host else protocol.read_from_host(line)


@pytest.mark.parametrize(
    "message",
    [
        protocol.Start(
            "r",
            RunRequest(agent="lead", task="", timeout=0.5),
            protocol.Workplace(
                "/w",
                "/w/axe/agents/lead.toml",
                AgentPlaces((), ("/w",), (), "/u"),
                ("/w/sub/axe/agents",),
                {"/w/axe/agents/lead.toml": "a = 1\n"},
            ),
            stream=True,
        ),
        protocol.StartChild(
            Order(
                CHILD, Caller("/w"), "t", "Task: t", deadline=1.5, allowed_hosts=("h",), input={}
            ),
            protocol.Workplace("/w"),
            BudgetConfig(max_tokens=5),
            allow=("grep",),
            known=(Step("r", "c", "answer", 1, data="{}"),),
            begun={"c": Begun("2026-01-01T00:00:00Z", 5)},
        ),
        protocol.UsedUp("c"),
        protocol.Cancel("r"),
        protocol.Ping(7),
        protocol.Pong(7),
        protocol.Stepped(Step("r", "c", "begun", 1, "call-1")),
        protocol.Committing("r", 3),
        protocol.Committed(3),
        protocol.Ready(4711),
        Notification("axe/text", {"runId": "r", "delta": "\n"}),
        protocol.Warned("r", "memory is full"),
        protocol.Finished(RESULT),
        protocol.Failed("r", "auth: no", "api", 3, partial=RESULT),
        protocol.Failed("r", "cancelled", "agent", 1, cancelled=True),
    ],
    ids=lambda message: type(message).__name__,
)
def test_a_message_arrives_as_it_was_sent(message: Message) -> None:
    line = encode(message)

    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert read(line) == message


@pytest.mark.parametrize("kind", sorted(every_kind_of_event(), key=lambda kind: kind.__name__))
def test_an_event_becomes_a_notification_and_an_event_again(kind: type[Event]) -> None:
    samples = {
        "int": 3,
        "float": 0.5,
        "Usage": Usage(1, 2),
        "Saved": Saved(turns=2, cost=0.5),
        "Fork": Fork("1", 2),
        "str": "s",
        "bool": True,
        "tuple": ({"id": "1"},),
        "Mapping": {"a": 1},
    }
    tuples = {
        "sources": (Source("https://example.org", "A page"),),
        "side_runs": ("lint",),
        "message_ids": ("m1",),
    }
    own = {
        each.name: samples.get(given(each.type).__name__) or get_args(given(each.type))[0]
        for each in msgspec.structs.fields(kind)
        if each.name != "run" and each.name != "status"
    }
    status = {"status": "killed", "limit": "tokens"} if kind is AgentEnd else {}
    own |= {name: value for name, value in tuples.items() if name in own}
    event = kind(run=CHILD, **{**own, **status})
    arrived = protocol.read_from_host(encode(notification(event)))
    assert isinstance(arrived, Notification)
    assert event_of(arrived) == event


def given(hint: Any) -> type:
    """Return the type of a field, without the None of one that may be absent."""
    is_union = get_origin(hint) in (Union, UnionType)
    return get_args(hint)[0] if is_union else hint  # type: ignore[no-any-return]


def test_half_a_character_does_not_break_the_line() -> None:
    line = encode(protocol.Warned("r", "half: \ud83d"))

    assert protocol.read_from_host(line) == protocol.Warned("r", "half: ?")


@pytest.mark.parametrize(
    "value",
    [
        None,
        {"null": [None, "null"]},
        -0.5,
        1e300,
        2**63,
        -(10**30),
        "\x00\x1f\u2028é😀",
        (),
        {},
        [True],
    ],
    ids=repr,
)
def test_arguments_of_tools_arrive_whatever_they_are(value: Any) -> None:
    line = encode(Notification("axe/tool", {"runId": "r", "arguments": {"a": value}}))
    assert line == line.strip() + b"\n"
    arrived = protocol.read_from_host(line)
    assert isinstance(arrived, Notification)
    sent = list(value) if isinstance(value, tuple) else value
    assert arrived.params == {"runId": "r", "arguments": {"a": sent}}
    assert json.loads(arrived.text) == arrived.params


@pytest.mark.parametrize("value", [None, math.nan, math.inf, "half: \ud83d"], ids=repr)
def test_what_needs_a_closer_look_is_not_made_in_haste(value: Any) -> None:
    assert plain_json({"arguments": {"a": value}}) is None
    assert plain_json({"arguments": {"a": 1}}) == b'{"arguments":{"a":1}}'


def test_what_is_no_number_arrives_as_none_too() -> None:
    sent = {"nan": math.nan, "infinity": -math.inf}
    arrived = protocol.read_from_host(encode(Notification("axe/tool", sent)))
    assert isinstance(arrived, Notification)
    assert math.isnan(arrived.params["nan"])
    assert arrived.params["infinity"] == -math.inf


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"Traceback",
        b"[]",
        b"null",
        b'{"type":"nonsense"}',
        b'{"type":"pong"}',
        b'{"type":"pong","number":"1"}',
        b'{"type":"ping","number":1}',  # It is for a host.
        b"\xff",
    ],
)
def test_what_is_no_message_is_an_error(line: bytes) -> None:
    with pytest.raises((json.JSONDecodeError, msgspec.ValidationError, UnicodeDecodeError)):
        protocol.read_from_host(line)


def test_an_event_carries_the_ids_of_its_run_and_camel_case_names() -> None:
    event = TurnEnd(
        run=CHILD,
        seq=4,
        time="2025-01-01T00:00:00.000Z",
        turn=1,
        stop_reason="tool_use",
        text="",
        tool_calls=({"id": "t1", "name": "call_agent", "arguments": {"snake_case": None}},),
        input_tokens=3,
        output_tokens=4,
        duration_ms=12,
    )

    sent = notification(event)

    assert sent.method == "axe/turn"
    assert json.loads(json.dumps(sent.params)) == {
        "runId": "c",
        "parentRunId": "r",
        "rootRunId": "r",
        "agent": "lint",
        "depth": 1,
        "seq": 4,
        "time": "2025-01-01T00:00:00.000Z",
        "kind": "end",
        "turn": 1,
        "stopReason": "tool_use",
        "text": "",
        "toolCalls": [{"id": "t1", "name": "call_agent", "arguments": {"snake_case": None}}],
        "inputTokens": 3,
        "outputTokens": 4,
        "durationMs": 12,
    }


def test_what_an_event_does_not_have_is_left_out() -> None:
    end = notification(AgentEnd(run=ROOT, seq=1, status="completed", duration_ms=1))
    text = notification(TextDelta(run=ROOT, seq=2, turn=1, delta="Hi"))
    tool = notification(ToolBegin(run=ROOT, seq=3, turn=1, call_id="t", name="n"))

    assert not {"error", "parentRunId"} & end.params.keys()
    assert "kind" not in text.params
    assert tool.params["arguments"] == {}
