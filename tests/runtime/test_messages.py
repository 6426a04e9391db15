"""What is said between agents and models, before any provider puts it into its own words."""

from __future__ import annotations

import pytest

from axe_lsp.runtime.messages import (
    Message,
    Request,
    Response,
    Tool,
    ToolCall,
    ToolParameter,
    ToolResult,
)


@pytest.mark.req("001-1.1", "001-1.2", "001-1.4", "001-1.5", "001-1.6", "001-1.8", "001-T2")
def test_what_is_not_set_is_empty() -> None:
    assert dict(Tool("t", "d").parameters) == {}
    assert ToolParameter("string", "d").required is False
    assert ToolResult("id", "text").is_error is False
    assert Request("m", ()).tools == ()
    assert Response().tool_calls == ()
    assert (Response().content, Response().stop_reason) == ("", "")


@pytest.mark.req("001-1.7", "001-T2")
def test_a_message_holds_calls_or_results() -> None:
    call = ToolCall("id", "call_agent", {"agent": "x"})
    assert Message("assistant", tool_calls=(call,)).content == ""
    assert Message("tool", tool_results=(ToolResult("id", "r"),)).tool_calls == ()


@pytest.mark.req("001-1.3")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        (5, "5"),
        (1000000, "1000000"),
        (True, "true"),
        (1.5, "1.5"),
        ({"a": 1, "b": [None, "x"]}, '{"a":1,"b":[null,"x"]}'),
        (["é"], '["é"]'),
    ],
)
def test_an_argument_as_text_is_json_never_python(value: object, text: str) -> None:
    assert ToolCall("id", "t", {"k": value}).argument("k") == text


@pytest.mark.req("001-1.3", "001-5.1f")
def test_an_absent_argument_is_empty() -> None:
    assert ToolCall("id", "t").argument("agent") == ""
