"""What the tests of ACP hold each message to: that faults are found."""

from __future__ import annotations

from typing import Any

import pytest

from support.acp_wire import Wire

Json = Any

SESSION = "s"


def update(kind: str, **members: Json) -> Json:
    params = {"sessionId": SESSION, "update": {"sessionUpdate": kind, **members}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


CHUNK = update("agent_message_chunk", content={"type": "text", "text": "Hi"})
CALL = update("tool_call", toolCallId="c", title="write_file a", status="pending")
CALL_ENDS = update("tool_call_update", toolCallId="c", status="completed")
OPENED: Json = {"jsonrpc": "2.0", "id": 1, "result": {"sessionId": SESSION}}
ANSWERED: Json = {"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn"}}


def faults(*received: Json, knows_subagents: bool = False) -> str:
    """Return the faults of messages that come after `session/new` and `session/prompt`."""
    wire = Wire(knows_subagents=knows_subagents)
    wire.sends({"id": 1, "method": "session/new", "params": {}}, after=0)
    wire.sends({"id": 2, "method": "session/prompt", "params": {"sessionId": SESSION}}, after=1)
    return "\n".join(wire.faults(received))


def test_valid_messages_have_no_schema_faults() -> None:
    assert faults(OPENED, CHUNK, CALL, CALL_ENDS, ANSWERED) == ""
    answered_with_error = {"jsonrpc": "2.0", "id": 2, "error": {"code": -32603, "message": "no"}}
    assert faults(OPENED, answered_with_error) == ""


@pytest.mark.parametrize(
    ("received", "told"),
    [
        ([{**OPENED, "result": {}}], "'sessionId' is a required property"),
        ([{**OPENED, "result": {"sessionId": SESSION, "sound": 1}}], "has no such member"),
        ([OPENED, {**ANSWERED, "result": {"stopReason": "tired"}}], "'tired' is not valid"),
        ([OPENED, update("agent_message_chunk", content={"type": "text"})], "not valid"),
        (
            [OPENED, update("usage_update", used=1, size=2, wide=3)],
            "wide: the protocol has no such",
        ),
        ([OPENED, {"jsonrpc": "2.0", "method": "session/sing", "params": {}}], "no notification"),
        ([CHUNK, OPENED, ANSWERED], "of which the client has not heard"),
        ([OPENED, ANSWERED, CHUNK], "while no message is being answered"),
        ([OPENED, CALL, ANSWERED], "answered while these calls are open"),
        ([OPENED, CALL, CALL], "comes twice"),
        ([OPENED, CALL_ENDS], "before its tool_call"),
        (
            [OPENED, CALL, CALL_ENDS, update("tool_call_update", toolCallId="c", status="failed")],
            "was completed and is failed",
        ),
    ],
)
def test_invalid_messages_have_schema_faults(received: list[Json], told: str) -> None:
    assert told in faults(*received)


def test_sub_agents_are_in_the_unstable_schema_only() -> None:
    child = update("subagent_update", sessionId="child", title="writer")
    assert "not valid" in faults(OPENED, child) or "has no such" in faults(OPENED, child)
    assert faults(OPENED, child, knows_subagents=True) == ""
