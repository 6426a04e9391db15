"""What a scripted model answers, and how each provider puts that into bytes, whole or streamed.

Written from the providers' documentation and independently of `axe_lsp.runtime.providers`, so that
the two check each other.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote

Dialect = Literal["anthropic", "openai", "responses", "ollama", "google", "bedrock"]
DIALECTS: tuple[Dialect, ...] = (
    "anthropic",
    "openai",
    "responses",
    "ollama",
    "google",
    "bedrock",
)
"""By the name of the provider that speaks it. `responses` is not built in."""

PATHS: dict[str, Dialect] = {
    "/v1/messages": "anthropic",
    "/v1/chat/completions": "openai",
    "/v1/responses": "responses",
    "/api/chat": "ollama",
}

_MODEL_PATHS: tuple[tuple[str, Dialect], ...] = (
    (
        r"/v1beta/models/(?P<model>[^/:]+):(generate|(?P<stream>streamGenerate))Content(\?alt=sse)?",
        "google",
    ),
    (r"/model/(?P<model>[^/]+)/converse(?P<stream>-stream)?", "bedrock"),
)
"""Those that hold the model, and say whether the answer shall be streamed."""


def asked_at(path: str, body: Any) -> tuple[Dialect | None, str, bool]:
    """Return who is meant by a request, the model, and whether the answer shall be streamed."""
    for pattern, dialect in _MODEL_PATHS:
        match = re.fullmatch(pattern, path)
        if match:
            return dialect, unquote(match["model"]), bool(match["stream"])
    table = body if isinstance(body, dict) else {}
    dialect = PATHS.get(path) or PATHS.get(path.partition("?")[0])
    return dialect, table.get("model", ""), bool(table.get("stream"))


@dataclass(frozen=True)
class Call:
    """A tool call that the model makes."""

    name: str
    arguments: dict[str, Any]
    id: str = ""


@dataclass(frozen=True)
class Says:
    """A model's answer.

    `refuses`: its text is a refusal, in the form that the wire has for it; Gemini and Bedrock have filters only,
    and Ollama has nothing.
    """

    text: str = ""
    calls: Sequence[Call] = ()
    stop_reason: str = ""
    refuses: bool = False
    usage: tuple[int, int] = (10, 5)
    model: str = ""
    thinking: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


def calls_agent(agent: str, task: str, context: str = "", call_id: str = "") -> Call:
    """Return a call of `call_agent`."""
    arguments = {"agent": agent, "task": task}
    if context:
        arguments["context"] = context
    return Call("call_agent", arguments, call_id)


def whole_body(dialect: Dialect, says: Says, model: str) -> dict[str, Any]:
    """Return the JSON of an answer that is not streamed."""
    return {**_BODIES[dialect](says, says.model or model), **says.extra}


def stream_chunks(dialect: Dialect, says: Says, model: str) -> list[bytes]:
    """Return the pieces of a streamed answer; the text comes word by word."""
    return _STREAMS[dialect](says, says.model or model)


def content_type(dialect: Dialect, stream: bool) -> str:
    """Return the media type of an answer."""
    if not stream:
        return "application/json; charset=utf-8"
    others = {"ollama": "application/x-ndjson", "bedrock": "application/vnd.amazon.eventstream"}
    return others.get(dialect, "text/event-stream; charset=utf-8")


def error_body(dialect: Dialect, message: str) -> dict[str, Any]:
    """Return the JSON of a refusal."""
    if dialect == "ollama":
        return {"error": message}
    if dialect == "bedrock":
        return {"message": message}
    error = {"type": "api_error", "message": message}
    return {"type": "error", "error": error} if dialect == "anthropic" else {"error": error}


def words(text: str) -> list[str]:
    """Return a text in the pieces in which it is streamed."""
    return re.findall(r"\S+\s*|\s+", text)


def _call_id(dialect: Dialect, call: Call, index: int) -> str:
    return call.id or f"{'toolu' if dialect == 'anthropic' else 'call'}_{index}"


def _anthropic_stop(says: Says) -> str:
    usual = "tool_use" if says.calls else "end_turn"
    return says.stop_reason or ("refusal" if says.refuses else usual)


def _openai_stop(says: Says) -> str:
    return says.stop_reason or ("tool_calls" if says.calls else "stop")


def _anthropic_blocks(says: Says) -> list[dict[str, Any]]:
    thought = {"type": "thinking", "thinking": says.thinking, "signature": f"of {says.thinking}"}
    before: list[dict[str, Any]] = [thought] if says.thinking else []
    if says.text or not says.calls:
        before.append({"type": "text", "text": says.text})
    return before + [
        {
            "type": "tool_use",
            "id": _call_id("anthropic", call, index),
            "name": call.name,
            "input": call.arguments,
        }
        for index, call in enumerate(says.calls)
    ]


def _anthropic_body(says: Says, model: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": _anthropic_blocks(says),
        "stop_reason": _anthropic_stop(says),
        "stop_sequence": None,
        "usage": {"input_tokens": says.usage[0], "output_tokens": says.usage[1]},
    }


def _anthropic_stream(says: Says, model: str) -> list[bytes]:
    start = {
        **_anthropic_body(says, model),
        "content": [],
        "stop_reason": None,
        "usage": {"input_tokens": says.usage[0], "output_tokens": 1},
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, block in enumerate(_anthropic_blocks(says)):
        empty, deltas = _in_deltas(block)
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        for delta in deltas:
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    events.append(
        {
            "type": "message_delta",
            "delta": {"stop_reason": _anthropic_stop(says), "stop_sequence": None},
            "usage": {"output_tokens": says.usage[1]},
        }
    )
    events.append({"type": "message_stop"})
    return [f"event: {event['type']}\ndata: {_json(event)}\n\n".encode() for event in events]


def _in_deltas(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """Return how a block begins, and what is added to it."""
    if block["type"] == "text":
        pieces = words(block["text"])
        return {**block, "text": ""}, [{"type": "text_delta", "text": each} for each in pieces]
    if block["type"] == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": each} for each in words(block["thinking"])]
        signature = {"type": "signature_delta", "signature": block["signature"]}
        return {**block, "thinking": "", "signature": ""}, [*deltas, signature]
    slices = _slices(json.dumps(block["input"]))
    return {**block, "input": {}}, [
        {"type": "input_json_delta", "partial_json": each} for each in slices
    ]


def _openai_calls(says: Says) -> list[dict[str, Any]]:
    return [
        {
            "id": _call_id("openai", call, index),
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for index, call in enumerate(says.calls)
    ]


def _openai_usage(says: Says) -> dict[str, int]:
    return {
        "prompt_tokens": says.usage[0],
        "completion_tokens": says.usage[1],
        "total_tokens": sum(says.usage),
    }


def _openai_body(says: Says, model: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": says.text or None}
    if says.refuses:
        message.update(content=None, refusal=says.text)
    if says.thinking:
        message["reasoning_content"] = says.thinking
    if says.calls:
        message["tool_calls"] = _openai_calls(says)
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": _openai_stop(says)}],
        "usage": _openai_usage(says),
    }


def _openai_stream(says: Says, model: str) -> list[bytes]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": piece} for piece in words(says.thinking)]
    said = "refusal" if says.refuses else "content"
    deltas += [{said: piece} for piece in words(says.text)]
    for index, call in enumerate(_openai_calls(says)):
        first, *rest = _slices(call["function"]["arguments"])
        function = {"name": call["function"]["name"], "arguments": first}
        deltas.append({"tool_calls": [{**call, "index": index, "function": function}]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]} for piece in rest
        ]
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": model}
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    end = {"index": 0, "delta": {}, "finish_reason": _openai_stop(says)}
    chunks.append({**head, "choices": [end]})
    chunks.append({**head, "choices": [], "usage": _openai_usage(says)})
    return [f"data: {_json(chunk)}\n\n".encode() for chunk in chunks] + [b"data: [DONE]\n\n"]


def _responses_items(says: Says) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if says.thinking:
        summary = [{"type": "summary_text", "text": says.thinking}]
        secret = f"of {says.thinking}"
        item = {"id": "rs_0", "type": "reasoning", "summary": summary, "encrypted_content": secret}
        items.append(item)
    ended = "incomplete" if says.stop_reason else "completed"
    if says.text or not says.calls:
        part: dict[str, Any] = {"type": "output_text", "text": says.text, "annotations": []}
        part["logprobs"] = []
        if says.refuses:
            part = {"type": "refusal", "refusal": says.text}
        message = {"id": "msg_0", "type": "message", "role": "assistant", "status": ended}
        items.append({**message, "content": [part]})
    return items + [
        {
            "id": f"fc_{index}",
            "type": "function_call",
            "status": "completed",
            "call_id": _call_id("responses", call, index),
            "name": call.name,
            "arguments": json.dumps(call.arguments),
        }
        for index, call in enumerate(says.calls)
    ]


def _responses_body(says: Says, model: str) -> dict[str, Any]:
    read, written = says.usage
    return {
        "id": "resp_0",
        "object": "response",
        "created_at": 0,
        "status": "incomplete" if says.stop_reason else "completed",
        "error": None,
        "incomplete_details": {"reason": says.stop_reason} if says.stop_reason else None,
        "instructions": None,
        "model": model,
        "output": _responses_items(says),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + written,
        },
    }


def _responses_stream(says: Says, model: str) -> list[bytes]:
    body = _responses_body(says, model)
    begun = {**body, "status": "in_progress", "output": [], "usage": None}
    begun["incomplete_details"] = None
    events: list[dict[str, Any]] = [
        {"type": f"response.{name}", "response": begun} for name in ("created", "in_progress")
    ]
    for index, item in enumerate(body["output"]):
        events += _responses_item_events(index, item)
    events.append({"type": f"response.{body['status']}", "response": body})
    return [
        f"event: {event['type']}\ndata: {_json({**event, 'sequence_number': number})}\n\n".encode()
        for number, event in enumerate(events)
    ]


def _responses_item_events(index: int, item: dict[str, Any]) -> list[dict[str, Any]]:
    """Return how an item begins, what is added to it, and how it ends."""
    at = {"item_id": item["id"], "output_index": index}
    more: dict[str, Any] = {}
    if item["type"] == "reasoning":
        begun: dict[str, Any] = {**item, "summary": [], "encrypted_content": "unfinished"}
        part, text = item["summary"][0], item["summary"][0]["text"]
        at["summary_index"] = 0
        empty = {**part, "text": ""}
        before = [{"type": "response.reasoning_summary_part.added", "part": empty, **at}]
        kind, whole = "response.reasoning_summary_text", {"text": text}
        after = [{"type": "response.reasoning_summary_part.done", "part": part, **at}]
        pieces = words(text)
    elif item["type"] == "message":
        begun = {**item, "content": [], "status": "in_progress"}
        part = item["content"][0]
        said = "refusal" if part["type"] == "refusal" else "text"
        text = part[said]
        at["content_index"] = 0
        before = [{"type": "response.content_part.added", "part": {**part, said: ""}, **at}]
        more = {"logprobs": []} if said == "text" else {}
        kind = "response.output_text" if said == "text" else "response.refusal"
        whole = {said: text, **more}
        after = [{"type": "response.content_part.done", "part": part, **at}]
        pieces = words(text)
    else:
        begun = {**item, "arguments": "", "status": "in_progress"}
        before, after = [], []
        kind = "response.function_call_arguments"
        whole = {"arguments": item["arguments"], "name": item["name"]}
        pieces = _slices(item["arguments"])
    return [
        {"type": "response.output_item.added", "output_index": index, "item": begun},
        *before,
        *({"type": f"{kind}.delta", "delta": piece, **at, **more} for piece in pieces),
        {"type": f"{kind}.done", **whole, **at},
        *after,
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def _ollama_calls(says: Says) -> list[dict[str, Any]]:
    return [{"function": {"name": call.name, "arguments": call.arguments}} for call in says.calls]


def _ollama_end(says: Says) -> dict[str, Any]:
    return {
        "done": True,
        "done_reason": says.stop_reason or "stop",
        "prompt_eval_count": says.usage[0],
        "eval_count": says.usage[1],
    }


def _ollama_body(says: Says, model: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": says.text}
    if says.thinking:
        message["thinking"] = says.thinking
    if says.calls:
        message["tool_calls"] = _ollama_calls(says)
    return {"model": model, "message": message, **_ollama_end(says)}


def _ollama_stream(says: Says, model: str) -> list[bytes]:
    messages = [{"content": "", "thinking": piece} for piece in words(says.thinking)]
    messages += [{"content": piece} for piece in words(says.text)]
    if says.calls:
        messages.append({"content": "", "tool_calls": _ollama_calls(says)})
    lines: list[dict[str, Any]] = [
        {"model": model, "message": {"role": "assistant", **message}, "done": False}
        for message in messages
    ]
    end = {"role": "assistant", "content": ""}
    lines.append({"model": model, "message": end, **_ollama_end(says)})
    return [_json(line).encode() + b"\n" for line in lines]


def _google_parts(says: Says) -> list[dict[str, Any]]:
    """Return the parts with the signature at the first call, or else at the last part."""
    parts: list[dict[str, Any]] = []
    if says.thinking:
        parts.append({"text": says.thinking, "thought": True})
    if says.text or not says.calls:
        parts.append({"text": says.text})
    calls = [
        {"functionCall": {**_google_id(call), "name": call.name, "args": call.arguments}}
        for call in says.calls
    ]
    if says.thinking:
        signed = calls[0] if calls else parts[-1]
        signed["thoughtSignature"] = b64encode(says.thinking.encode()).decode()
    return parts + calls


def _google_id(call: Call) -> dict[str, str]:
    return {"id": call.id} if call.id else {}


def _google_body(
    says: Says, model: str, parts: Sequence[dict[str, Any]] | None = None, *, ends: bool = True
) -> dict[str, Any]:
    parts = _google_parts(says) if parts is None else parts
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    if ends:
        usual = "PROHIBITED_CONTENT" if says.refuses else "STOP"
        candidate["finishReason"] = says.stop_reason or usual
    usage = {
        "promptTokenCount": says.usage[0],
        "candidatesTokenCount": says.usage[1],
        "totalTokenCount": sum(says.usage),
    }
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model}


def _google_stream(says: Says, model: str) -> list[bytes]:
    """Texts word by word, calls whole; the signature of a text comes in an empty part of its own."""
    pieces: list[dict[str, Any]] = []
    for part in _google_parts(says):
        if "text" in part:
            marks = {"thought": True} if "thought" in part else {}
            pieces += [{"text": piece, **marks} for piece in words(part["text"])]
            if "thoughtSignature" in part:
                pieces.append({"text": "", "thoughtSignature": part["thoughtSignature"]})
        else:
            pieces.append(part)
    chunks = [_google_body(says, model, [piece], ends=False) for piece in pieces]
    chunks.append(_google_body(says, model, [{"text": ""}]))
    return [f"data: {_json(chunk)}\n\n".encode() for chunk in chunks]


def _bedrock_blocks(says: Says) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if says.thinking:
        thought = {"text": says.thinking, "signature": f"of {says.thinking}"}
        blocks.append({"reasoningContent": {"reasoningText": thought}})
    if says.text:
        blocks.append({"text": says.text})
    return blocks + [
        {
            "toolUse": {
                "toolUseId": call.id or f"tooluse_{index}",
                "name": call.name,
                "input": call.arguments,
            }
        }
        for index, call in enumerate(says.calls)
    ]


def _bedrock_stop(says: Says) -> str:
    usual = "tool_use" if says.calls else "end_turn"
    return says.stop_reason or ("guardrail_intervened" if says.refuses else usual)


def _bedrock_end(says: Says) -> dict[str, Any]:
    usage = {
        "inputTokens": says.usage[0],
        "outputTokens": says.usage[1],
        "totalTokens": sum(says.usage),
    }
    return {"usage": usage, "metrics": {"latencyMs": 1}}


def _bedrock_body(says: Says, _model: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": _bedrock_blocks(says)}
    end = _bedrock_end(says)
    return {"output": {"message": message}, "stopReason": _bedrock_stop(says), **end}


def bedrock_events(says: Says) -> list[tuple[str, dict[str, Any]]]:
    """Return the events of a stream, by their types. Only calls have a start."""
    events: list[tuple[str, dict[str, Any]]] = [("messageStart", {"role": "assistant"})]
    for index, block in enumerate(_bedrock_blocks(says)):
        if "toolUse" in block:
            call = dict(block["toolUse"])
            deltas = [{"toolUse": {"input": piece}} for piece in _slices(_json(call.pop("input")))]
            start = {"start": {"toolUse": call}, "contentBlockIndex": index}
            events.append(("contentBlockStart", start))
        elif "text" in block:
            deltas = [{"text": piece} for piece in words(block["text"])]
        else:
            thought = block["reasoningContent"]["reasoningText"]
            pieces = [{"text": piece} for piece in words(thought["text"])]
            pieces.append({"signature": thought["signature"]})
            deltas = [{"reasoningContent": piece} for piece in pieces]
        for delta in deltas:
            events.append(("contentBlockDelta", {"delta": delta, "contentBlockIndex": index}))
        events.append(("contentBlockStop", {"contentBlockIndex": index}))
    events.append(("messageStop", {"stopReason": _bedrock_stop(says)}))
    return [*events, ("metadata", _bedrock_end(says))]


def _bedrock_stream(says: Says, _model: str) -> list[bytes]:
    return [aws_event(name, event) for name, event in bedrock_events(says)]


def aws_event(name: str, payload: Any, kind: str = "event") -> bytes:
    """Return an event, or with the kind `exception` an error, as AWS puts it into a stream."""
    headers = {f":{kind}-type": name, ":content-type": "application/json", ":message-type": kind}
    encoded = b"".join(
        bytes([len(key)]) + key.encode() + struct.pack(">BH", 7, len(value)) + value.encode()
        for key, value in headers.items()
    )
    data = _json(payload).encode()
    lengths = struct.pack(">II", 16 + len(encoded) + len(data), len(encoded))
    message = lengths + struct.pack(">I", zlib.crc32(lengths)) + encoded + data
    return message + struct.pack(">I", zlib.crc32(message))


def _slices(text: str, size: int = 7) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)] or [""]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


_BODIES: dict[Dialect, Callable[[Says, str], dict[str, Any]]] = {
    "anthropic": _anthropic_body,
    "openai": _openai_body,
    "responses": _responses_body,
    "ollama": _ollama_body,
    "google": _google_body,
    "bedrock": _bedrock_body,
}
_STREAMS: dict[Dialect, Callable[[Says, str], list[bytes]]] = {
    "anthropic": _anthropic_stream,
    "openai": _openai_stream,
    "responses": _responses_stream,
    "ollama": _ollama_stream,
    "google": _google_stream,
    "bedrock": _bedrock_stream,
}
