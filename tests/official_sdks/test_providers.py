"""The wire formats beside the providers' own libraries.

Our requests are what their types say, and their clients read what our scripted provider sends, so
that it is true to what goes over the wire.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import Params
from axe_lsp.runtime.compaction import compaction_of
from axe_lsp.runtime.messages import (
    Image,
    Message,
    Request,
    Response,
    ResponseFormat,
    Tool,
    ToolCall,
    ToolParameter,
    ToolResult,
)
from axe_lsp.runtime.providers.restrictions import Restrictions
from axe_lsp.runtime.providers.wires import bedrock
from support.answers import (
    DIALECTS,
    Call,
    Dialect,
    Says,
    aws_event,
    calls_agent,
    content_type,
    stream_chunks,
    whole_body,
)
from support.bodies import FORMATS, encode
from support.scripted_provider import Raw, ScriptedProvider

# They are heavy, and whoever has an older environment shall still be able to run the other tests.
anthropic: Any = pytest.importorskip("anthropic", reason="pip install -e '.[dev]' brings it")
ollama: Any = pytest.importorskip("ollama", reason="pip install -e '.[dev]' brings it")
openai: Any = pytest.importorskip("openai", reason="pip install -e '.[dev]' brings it")
aws: Any = pytest.importorskip("botocore.session", reason="pip install -e '.[dev]' brings it")
genai: Any = pytest.importorskip("google.genai", reason="pip install -e '.[dev]' brings it")

from anthropic.types import RawMessageStreamEvent, message_create_params  # noqa: E402
from botocore.config import Config  # noqa: E402
from botocore.exceptions import EventStreamError  # noqa: E402
from botocore.validate import ParamValidator  # noqa: E402
from openai.types.chat import (  # noqa: E402
    ChatCompletion,
    ChatCompletionChunk,
    completion_create_params,
)
from openai.types.responses import (  # noqa: E402
    Response as OpenAIResponse,
)
from openai.types.responses import (  # noqa: E402
    ResponseStreamEvent,
    response_create_params,
)
from pydantic import TypeAdapter  # noqa: E402

from support.typed import faults  # noqa: E402

ASK = Message("user", "ask")
CALLS = (ToolCall("a", "call_agent", {"agent": "x"}), ToolCall("b", "find", {"n": [1, None]}))
RESULTS = (ToolResult("a", "found"), ToolResult("b", "boom", is_error=True))
TOOL = Tool(
    "call_agent",
    "Delegate.",
    {
        "agent": ToolParameter("string", "Who", required=True),
        "context": ToolParameter("string", "What else"),
    },
)
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
THOUGHTS = [
    {"type": "thinking", "thinking": "Well.", "signature": "abc"},
    {"type": "redacted_thinking", "data": "xyz"},
    {"type": "text", "text": "hm"},
    {"type": "tool_use", "id": "a", "name": "call_agent", "input": {"agent": "x"}},
    {"type": "tool_use", "id": "b", "name": "find", "input": {"n": [1, None]}},
]

SIGNED = [
    {"text": "Well.", "thought": True},
    {
        "functionCall": {"id": "a", "name": "call_agent", "args": {"agent": "x"}},
        "thoughtSignature": "YWJj",
    },
    {"functionCall": {"id": "b", "name": "find", "args": {"n": [1, None]}}},
]
REASONED = [
    {"reasoningContent": {"reasoningText": {"text": "Well.", "signature": "abc"}}},
    {"reasoningContent": {"redactedContent": "eHl6"}},
    {"toolUse": {"toolUseId": "a", "name": "call_agent", "input": {"agent": "x"}}},
    {"toolUse": {"toolUseId": "b", "name": "find", "input": {"n": [1, None]}}},
]
PICTURE = Image("image/png", "iVBORw0KGgo=")

LONG = Request(
    "m",
    (
        ASK,
        Message("assistant", "hm", CALLS),
        Message("tool", tool_results=RESULTS),
        Message("assistant", tool_calls=CALLS),
        Message("tool", tool_results=RESULTS),
    ),
    tools=(TOOL,),
    max_tokens=99,
)
SUMMED_UP = compaction_of(LONG, ASK, 1_000, None)
assert SUMMED_UP is not None

REQUESTS = {
    "the least": Request("m", (ASK,)),
    "a system prompt": Request("m", (ASK,), system="You help."),
    "a limit": Request("m", (ASK,), max_tokens=99),
    "a temperature": Request("m", (ASK,), temperature=0.5),
    "tools": Request("m", (ASK,), tools=(TOOL, Tool("now", "The time."))),
    "calls without text": Request(
        "m",
        (ASK, Message("assistant", tool_calls=CALLS), Message("tool", tool_results=RESULTS)),
        tools=(TOOL,),
    ),
    "calls after text": Request(
        "m",
        (ASK, Message("assistant", "hm", CALLS), Message("tool", tool_results=RESULTS)),
        tools=(TOOL,),
    ),
    "any JSON": Request("m", (ASK,), response_format=ResponseFormat("json_object")),
    "JSON after a schema": Request(
        "m", (ASK,), response_format=ResponseFormat("json_schema", SCHEMA, "count")
    ),
    "text": Request("m", (ASK,), response_format=ResponseFormat("text")),
    "a summary is asked for": SUMMED_UP.asked,
    "after a summary": SUMMED_UP.with_summary(LONG, "What happened."),
}


TO_ANTHROPIC = {
    **REQUESTS,
    "thoughts": Request(
        "m",
        (
            ASK,
            Message("assistant", "hm", CALLS, original=THOUGHTS),
            Message("tool", tool_results=RESULTS),
        ),
        tools=(TOOL,),
    ),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("what", TO_ANTHROPIC)
def test_requests_to_anthropic_are_of_its_types(what: str, stream: bool) -> None:
    type_ = (
        message_create_params.MessageCreateParamsStreaming
        if stream
        else message_create_params.MessageCreateParamsNonStreaming
    )
    body = encode(FORMATS["anthropic"], TO_ANTHROPIC[what], stream=stream)
    # The newest models take no temperature, so the library has dropped it; the others still do.
    body.pop("temperature", None)
    assert faults(type_, body) == []


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("what", REQUESTS)
def test_requests_to_openai_are_of_its_types(what: str, stream: bool) -> None:
    type_ = (
        completion_create_params.CompletionCreateParamsStreaming
        if stream
        else completion_create_params.CompletionCreateParamsNonStreaming
    )
    assert faults(type_, encode(FORMATS["openai"], REQUESTS[what], stream=stream)) == []


ITEMS = [
    {
        "id": "rs_0",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "Well."}],
        "encrypted_content": "secret",
    },
    {
        "id": "msg_0",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "phase": "commentary",
        "content": [{"type": "output_text", "text": "hm", "annotations": []}],
    },
    *(
        {"id": f"fc_{id_}", "type": "function_call", "call_id": id_, "name": "x", "arguments": "{}"}
        for id_ in ("a", "b")
    ),
]
PICTURE = Image("image/png", "iVBORw0KGgo=")

TO_RESPONSES = {
    **REQUESTS,
    "reasoning": Request(
        "m",
        (
            ASK,
            Message("assistant", "hm", CALLS, original=ITEMS),
            Message("tool", tool_results=RESULTS),
        ),
        tools=(TOOL,),
    ),
    "effort": Request("m", (ASK,), params=Params(effort="high", top_p=0.5), session="run-1"),
    "pictures": Request(
        "m",
        (
            Message("user", "look", images=(PICTURE,)),
            Message("assistant", tool_calls=CALLS[:1]),
            Message("tool", tool_results=(ToolResult("a", "seen", images=(PICTURE,)),)),
        ),
    ),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("what", TO_RESPONSES)
def test_requests_for_responses_are_of_openai_s_types(what: str, stream: bool) -> None:
    type_ = (
        response_create_params.ResponseCreateParamsStreaming
        if stream
        else response_create_params.ResponseCreateParamsNonStreaming
    )
    assert faults(type_, encode(FORMATS["responses"], TO_RESPONSES[what], stream=stream)) == []


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("what", REQUESTS)
def test_requests_to_ollama_are_of_its_types(what: str, stream: bool) -> None:
    body = encode(FORMATS["ollama"], REQUESTS[what], stream=stream)
    understood = ollama._types.ChatRequest.model_validate(body)
    assert understood.model_dump(exclude_none=True) == body


TO_GOOGLE = {
    **REQUESTS,
    "all parameters": Request(
        "m",
        (ASK,),
        temperature=0.5,
        max_tokens=9,
        params=Params(
            effort="xhigh", top_p=0.5, top_k=4, seed=3, stop=("a", "b"), extra={"store": False}
        ),
    ),
    "a budget": Request("m", (ASK,), params=Params(thinking_budget=100)),
    "images": Request(
        "m",
        (
            Message("user", "look", images=(PICTURE,)),
            Message("assistant", "hm", CALLS),
            Message("tool", tool_results=(replace(RESULTS[0], images=(PICTURE,)), RESULTS[1])),
        ),
        tools=(TOOL,),
    ),
    "signed parts": Request(
        "m",
        (
            ASK,
            Message("assistant", tool_calls=CALLS, original=SIGNED),
            Message("tool", tool_results=RESULTS),
        ),
        tools=(TOOL,),
    ),
}


@pytest.mark.parametrize("what", TO_GOOGLE)
def test_requests_to_google_are_of_its_types(what: str) -> None:
    body = encode(FORMATS["google"], TO_GOOGLE[what])
    body.pop("store", None)
    types = genai.types
    parts: dict[str, Any] = {
        "contents": list[types.Content],
        "systemInstruction": types.Content,
        "tools": list[types.Tool],
        "generationConfig": types.GenerationConfig,
    }
    for name, value in body.items():
        adapter = TypeAdapter(parts[name])
        understood = adapter.validate_python(value)
        read = adapter.dump_python(understood, mode="json", by_alias=True, exclude_none=True)
        assert read == value


def test_a_request_to_google_is_the_one_that_its_client_sends(provider: ScriptedProvider) -> None:
    request = replace(
        TO_GOOGLE["all parameters"],
        system="You help.",
        messages=TO_GOOGLE["signed parts"].messages,
        tools=(TOOL,),
        response_format=ResponseFormat("json_schema", SCHEMA, "count"),
    )
    ours = encode(FORMATS["google"], request)
    del ours["store"]
    provider.script("m", Says("ok"))
    config = {**ours["generationConfig"], "systemInstruction": "You help.", "tools": ours["tools"]}
    with _google(provider) as client:
        client.models.generate_content(model="m", contents=ours["contents"], config=config)
    (sent,) = provider.requests
    # Both spellings of a field are the same to the API.
    keys = re.compile(rb'"[a-z]+(_[a-z]+)+":')
    theirs = json.loads(
        keys.sub(lambda key: re.sub(rb"_(.)", lambda at: at[1].upper(), key[0]), sent.raw)
    )
    theirs["systemInstruction"].pop("role")  # It is of no meaning there.
    assert theirs == ours
    assert sent.path == "/" + FORMATS["google"].path("m", False)


def test_an_answer_of_google_goes_on_as_its_client_lets_it(provider: ScriptedProvider) -> None:
    """The client goes on with an unfinished answer by itself."""
    part = {"content": {"role": "model", "parts": [{"text": "half "}]}}
    cut = {**part, "finishReason": "CONTINUATION", "continuationToken": "dG9rZW4="}
    provider.script("m", Raw(json.dumps({"candidates": [cut]}).encode()), Says("an answer"))
    with _google(provider) as client:
        answer = client.models.generate_content(model="m", contents="ask")
    assert "".join(part.text for part in answer.candidates[0].content.parts) == "half an answer"
    token = FORMATS["google"].decode({"candidates": [cut]}).continuation
    ours = encode(FORMATS["google"], Request("m", (ASK,), continuation=token))
    sent = provider.requests[1].body
    assert sent["continuationToken"] == ours["continuationToken"] == "dG9rZW4="
    assert sent["contents"] == ours["contents"]


TO_BEDROCK = {
    **REQUESTS,
    "all parameters": Request(
        "claude-opus-5",
        (ASK,),
        "You help.",
        temperature=0.5,
        max_tokens=9,
        tools=(TOOL,),
        response_format=ResponseFormat("json_schema", SCHEMA, "count"),
        params=Params(effort="high", top_p=0.5, stop=("a", "b")),
    ),
    "a budget": Request("claude-opus-4-1", (ASK,), params=Params(thinking_budget=2000)),
    "images": TO_GOOGLE["images"],
    "thoughts": Request(
        "m",
        (
            ASK,
            Message("assistant", tool_calls=CALLS, original=REASONED),
            Message("tool", tool_results=RESULTS),
        ),
    ),
}


@pytest.mark.parametrize("current", [False, True], ids=["", "cached"])
@pytest.mark.parametrize("what", TO_BEDROCK)
def test_requests_to_bedrock_are_of_its_types(what: str, current: bool) -> None:
    body = encode(FORMATS["bedrock"], TO_BEDROCK[what], restrictions=Restrictions(current))
    report = ParamValidator().validate({**body, "modelId": "m"}, _converse().input_shape)
    assert not report.has_errors(), report.generate_report()


def test_the_check_for_bedrock_finds_what_is_wrong() -> None:
    body = encode(FORMATS["bedrock"], TO_BEDROCK["all parameters"])
    body["inferenceConfig"]["max_tokens"] = 9
    body["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"] = {}
    report = ParamValidator().validate({**body, "modelId": "m"}, _converse().input_shape)
    assert "max_tokens" in report.generate_report()
    assert "inputSchema" in report.generate_report()


def test_a_request_to_bedrock_is_the_one_that_its_client_sends(provider: ScriptedProvider) -> None:
    ours = encode(FORMATS["bedrock"], TO_BEDROCK["all parameters"])
    model = "us.anthropic.claude-opus-5-v1:0"
    provider.script(model, Says("ok"))
    _bedrock(provider).converse(modelId=model, **ours)
    (sent,) = provider.requests
    assert sent.body == ours
    assert sent.path == "/" + FORMATS["bedrock"].path(model, False)


def test_the_check_itself_finds_what_is_wrong() -> None:
    body = encode(FORMATS["openai"], REQUESTS["calls after text"], stream=False)
    body["messages"][1]["tool_calls"][0]["function"]["args"] = "{}"
    body["max_tokens"] = "many"
    del body["model"]
    found = faults(completion_create_params.CompletionCreateParamsNonStreaming, body)
    assert len(found) == 3
    assert "args" in "".join(found)


ANSWERS = {
    "text": Says("Line one\nline “two” 😀 and so on.", usage=(12, 34)),
    "nothing": Says(""),
    "calls": Says("", [calls_agent("helper", "do it", call_id="a"), Call("x", {"n": [1]}, "b")]),
    "text and a call": Says("Let me see.", [calls_agent("helper", "do it", "all", call_id="a")]),
    "a thought": Says("So.", [Call("x", {"n": 1}, "b")], thinking="Let me think about it."),
    "cut short": Says("Once upon", stop_reason="length"),
    "a refusal": Says("I would rather not.", refuses=True),
}


@pytest.mark.parametrize("what", ANSWERS)
@pytest.mark.parametrize("dialect", [each for each in DIALECTS if each != "bedrock"])
def test_what_the_scripted_provider_sends_is_of_the_types(dialect: Dialect, what: str) -> None:
    says = _said(dialect, what)
    _WHOLE[dialect].validate_python(whole_body(dialect, says, "m"))
    sent = b"".join(stream_chunks(dialect, says, "m")).decode().split("\n")
    events = [line.removeprefix("data: ") for line in sent if line[:6] in ("data: ", '{"mode')]
    assert events
    for event in events:
        # A library skips these two before it looks at types.
        if event != "[DONE]" and event != '{"type": "ping"}':
            _STREAMED[dialect].validate_python(json.loads(event))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("what", ANSWERS)
def test_the_client_of_anthropic_reads_what_we_read(
    provider: ScriptedProvider, what: str, stream: bool
) -> None:
    says = _said("anthropic", what)
    provider.script("m", says)
    request: dict[str, Any] = {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "ask"}],
    }
    with anthropic.Anthropic(api_key="key", base_url=provider.url, max_retries=0) as client:
        if stream:
            with client.messages.stream(**request) as events:
                text = "".join(events.text_stream)
                answer = events.get_final_message()
            assert text == says.text
        else:
            answer = client.messages.create(**request)
    if says.thinking:
        thought = answer.content[0]
        assert (thought.thinking, thought.signature) == (says.thinking, f"of {says.thinking}")
    assert _plain(_ours("anthropic", says)) == Response(
        content="".join(block.text for block in answer.content if block.type == "text"),
        tool_calls=tuple(
            ToolCall(block.id, block.name, block.input)
            for block in answer.content
            if block.type == "tool_use"
        ),
        model=answer.model,
        stop_reason=answer.stop_reason,
        input_tokens=answer.usage.input_tokens,
        output_tokens=answer.usage.output_tokens,
    )


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("what", ANSWERS)
def test_the_client_of_openai_reads_what_we_read(
    provider: ScriptedProvider, what: str, stream: bool
) -> None:
    says = _said("openai", what)
    provider.script("m", says)
    request: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "ask"}]}
    with openai.OpenAI(api_key="key", base_url=f"{provider.url}/v1", max_retries=0) as client:
        if stream:
            options = {"include_usage": True}
            with client.chat.completions.stream(**request, stream_options=options) as events:
                try:
                    kinds = ("content.delta", "refusal.delta")
                    text = "".join(each.delta for each in events if each.type in kinds)
                    answer = events.get_final_completion()
                    assert text == says.text
                except openai.LengthFinishReasonError as error:
                    answer = error.completion
        else:
            answer = client.chat.completions.create(**request)
    (choice,) = answer.choices
    assert _plain(_ours("openai", says)) == Response(
        content=choice.message.content or choice.message.refusal or "",
        tool_calls=tuple(
            ToolCall(call.id, call.function.name, json.loads(call.function.arguments))
            for call in choice.message.tool_calls or ()
        ),
        model=answer.model,
        stop_reason=choice.finish_reason,
        input_tokens=answer.usage.prompt_tokens,
        output_tokens=answer.usage.completion_tokens,
    )


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("what", ANSWERS)
def test_the_client_of_openai_reads_the_responses_that_we_read(
    provider: ScriptedProvider, what: str, stream: bool
) -> None:
    says = _said("responses", what)
    provider.script("m", says)
    request: dict[str, Any] = {"model": "m", "input": "ask"}
    with openai.OpenAI(api_key="key", base_url=f"{provider.url}/v1", max_retries=0) as client:
        if stream:
            with client.responses.stream(**request) as events:
                kinds = ("response.output_text.delta", "response.refusal.delta")
                deltas = [each for each in events if each.type in kinds]
                answer = events.get_final_response() if not says.stop_reason else None
            assert "".join(each.delta for each in deltas) == says.text
        if not stream or answer is None:
            provider.script("m", says)
            answer = client.responses.create(**request)
    # The library adds fields of its own to the items.
    parts = [part for item in answer.output if item.type == "message" for part in item.content]
    refusal = "".join(part.refusal for part in parts if part.type == "refusal")
    assert replace(_ours("responses", says), original=None) == Response(
        content=answer.output_text or refusal,
        tool_calls=tuple(
            ToolCall(item.call_id, item.name, json.loads(item.arguments))
            for item in answer.output
            if item.type == "function_call"
        ),
        model=answer.model,
        stop_reason=says.stop_reason or answer.status,
        input_tokens=answer.usage.input_tokens,
        output_tokens=answer.usage.output_tokens,
        incomplete="length" if says.stop_reason else "refusal" if refusal else None,
        thoughts=says.thinking,
    )


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("what", ANSWERS)
def test_the_client_of_ollama_reads_what_we_read(
    provider: ScriptedProvider, what: str, stream: bool
) -> None:
    says = _said("ollama", what)
    provider.script("m", says)
    client = ollama.Client(provider.url)
    asked = client.chat("m", [{"role": "user", "content": "ask"}], stream=stream)
    parts = list(asked) if stream else [asked]
    client._client.close()
    calls = [call for part in parts for call in part.message.tool_calls or ()]
    assert _plain(_ours("ollama", says)) == Response(
        content="".join(part.message.content or "" for part in parts),
        tool_calls=tuple(
            ToolCall(f"ollama_{index}", call.function.name, call.function.arguments)
            for index, call in enumerate(calls)
        ),
        model=parts[-1].model,
        stop_reason=parts[-1].done_reason,
        input_tokens=parts[-1].prompt_eval_count,
        output_tokens=parts[-1].eval_count,
    )


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("what", ANSWERS)
def test_the_client_of_google_reads_what_we_read(
    provider: ScriptedProvider, what: str, stream: bool
) -> None:
    says = _said("google", what)
    provider.script("m", says)
    with _google(provider) as client:
        ask = client.models.generate_content_stream if stream else client.models.generate_content
        asked = ask(model="m", contents="ask")
        answers = list(asked) if stream else [asked]
    assert provider.requests[0].path == "/" + FORMATS["google"].path("m", stream)
    parts = [part for each in answers for part in each.candidates[0].content.parts]
    last = answers[-1]
    ours = _ours("google", says)
    assert replace(ours, original=None, incomplete=None, incomplete_detail="") == Response(
        content="".join(part.text for part in parts if part.text and not part.thought),
        thoughts="".join(part.text for part in parts if part.text and part.thought),
        tool_calls=tuple(
            ToolCall(part.function_call.id, part.function_call.name, part.function_call.args)
            for part in parts
            if part.function_call
        ),
        model=last.model_version,
        stop_reason=last.candidates[0].finish_reason.value,
        input_tokens=last.usage_metadata.prompt_token_count,
        output_tokens=last.usage_metadata.candidates_token_count,
    )


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("what", ANSWERS)
def test_the_client_of_bedrock_reads_what_we_read(
    provider: ScriptedProvider, what: str, stream: bool
) -> None:
    says = _said("bedrock", what)
    provider.script("m", says)
    client = _bedrock(provider)
    asked = {"modelId": "m", "messages": [{"role": "user", "content": [{"text": "ask"}]}]}
    if stream:
        # What their client has read is written again, so that ours can read it.
        decoder = bedrock.stream_decoder()
        for event in client.converse_stream(**asked)["stream"]:
            ((name, payload),) = event.items()
            decoder.feed(aws_event(name, payload))
        answer = decoder.finish()
    else:
        read = client.converse(**asked)
        answer = bedrock.decode({key: read[key] for key in ("output", "stopReason", "usage")})
    assert answer == _ours("bedrock", says)


def test_the_client_of_bedrock_reads_an_exception_in_a_stream(provider: ScriptedProvider) -> None:
    frame = aws_event("throttlingException", {"message": "slow down"}, "exception")
    headers = {"Content-Type": content_type("bedrock", True)}
    provider.script("m", Raw(frame, headers=headers))
    stream = _bedrock(provider).converse_stream(modelId="m")["stream"]
    with pytest.raises(EventStreamError, match=r"throttlingException.*slow down"):
        list(stream)


@cache
def _aws() -> Any:
    session = aws.Session()
    session.set_credentials("AKID", "secret")
    return session


def _converse() -> Any:
    return _aws().get_service_model("bedrock-runtime").operation_model("Converse")


def _bedrock(provider: ScriptedProvider) -> Any:
    config = Config(retries={"total_max_attempts": 1})
    return _aws().create_client(
        "bedrock-runtime", region_name="eu-central-1", endpoint_url=provider.url, config=config
    )


def _google(provider: ScriptedProvider) -> Any:
    options = {"base_url": provider.url, "api_version": "v1beta", "retry_options": {"attempts": 1}}
    return genai.Client(api_key="key", vertexai=False, http_options=options)


def _said(dialect: Dialect, what: str) -> Says:
    """Return the answer; each service has a word of its own for an answer that reached its limit."""
    says = ANSWERS[what]
    words = {
        "anthropic": "max_tokens",
        "bedrock": "max_tokens",
        "google": "MAX_TOKENS",
        "responses": "max_output_tokens",
    }
    if says.stop_reason == "length":
        return Says(says.text, stop_reason=words.get(dialect, "length"))
    return says


def _plain(response: Response) -> Response:
    """Return an answer without what we make of it, and without what goes back to its provider."""
    return replace(response, original=None, thoughts="", incomplete=None, incomplete_detail="")


def _ours(dialect: Dialect, says: Says) -> Response:
    return FORMATS[dialect].decode(whole_body(dialect, says, "m"))


_WHOLE: dict[Dialect, TypeAdapter[Any]] = {
    "anthropic": TypeAdapter(anthropic.types.Message),
    "openai": TypeAdapter(ChatCompletion),
    "responses": TypeAdapter(OpenAIResponse),
    "ollama": TypeAdapter(ollama.ChatResponse),
    "google": TypeAdapter(genai.types.GenerateContentResponse),
}
_STREAMED: dict[Dialect, TypeAdapter[Any]] = {
    "anthropic": TypeAdapter(RawMessageStreamEvent),
    "openai": TypeAdapter(ChatCompletionChunk),
    "responses": TypeAdapter(ResponseStreamEvent),
    "ollama": TypeAdapter(ollama.ChatResponse),
    "google": TypeAdapter(genai.types.GenerateContentResponse),
}
