"""The rules by which the services of each wire refuse a conversation, for `ScriptedProvider.rules`.

From the services' documentation and refusals, and independently of `axe_lsp.runtime`. Each function
raises RefusedError with the text of the refusal.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from support.scripted_provider import Received

DEEPSEEK, MISTRAL = "deepseek", "mistral"
"""Services of the chat wire with rules of their own. It is in the name of the model."""

_NAME = r"[a-zA-Z0-9_-]{1,64}"


class RefusedError(Exception):
    """The service refuses the request."""


def refusal(received: Received) -> str:
    """Return why the service of a request refuses it, "" if it does not."""
    check = _RULES[received.dialect or ""]
    try:
        check(received.body, received.model)
    except RefusedError as refused:
        return f"{received.dialect}: {refused}"
    return ""


def _chat(body: dict[str, Any], model: str) -> None:
    ids = "[a-zA-Z0-9]{9}" if MISTRAL in model else "[a-zA-Z0-9_-]{1,40}"
    messages = [each for each in body["messages"] if each["role"] != "system"]
    taken: list[str] = []
    open_calls: list[str] = []
    last = "assistant"
    for number, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            _require(message["tool_call_id"] in open_calls, f"{number}: no such tool call")
            open_calls.remove(message["tool_call_id"])
        else:
            _require(not open_calls, f"{number}: tool calls without results: {open_calls}")
            if MISTRAL in model and last == "tool":
                _require(role != "user", "Unexpected role 'user' after role 'tool'")
            # Texts that are given follow results, and each other.
            _require(role == "user" or last in ("user", "tool"), f"{number}: {role}")
        if role == "assistant":
            _chat_answer(message, model)
            calls = message.get("tool_calls", [])
            open_calls = [call["id"] for call in calls]
            taken += open_calls
            _check_calls(open_calls, [call["function"]["name"] for call in calls], ids)
            for call in calls:
                json.loads(call["function"]["arguments"])
        last = role
    _require_unique(taken)


def _chat_answer(message: dict[str, Any], model: str) -> None:
    fields = {"role", "content", "tool_calls"}
    if MISTRAL not in model:
        fields.add("reasoning_content")
    _require(set(message) <= fields, f"Extra inputs are not permitted: {sorted(message)}")
    if DEEPSEEK in model:
        _require("reasoning_content" in message, "The `reasoning_content` must be passed back")
    # Mistral takes an empty one, which is how a message of the user can follow a result.
    is_filled = message["content"] or message.get("tool_calls") or MISTRAL in model
    _require(is_filled, "an assistant message is empty")


def _anthropic(body: dict[str, Any], _model: str) -> None:
    taken = []
    for message, following in _alternating(body["messages"], "assistant"):
        blocks = _blocks(message["content"])
        _require(bool(blocks), "a message has no content")
        for block in blocks:
            if block["type"] == "text":
                _require(block["text"].strip(), "text must contain non-whitespace text")
            if block["type"] == "thinking":
                _require(block.get("signature"), "thinking without a signature")
        if message["role"] != "assistant":
            continue
        _require(blocks[-1]["type"] != "thinking", "the final block cannot be `thinking`")
        calls = [block for block in blocks if block["type"] == "tool_use"]
        ids = [call["id"] for call in calls]
        taken += ids
        _check_calls(
            ids, [call["name"] for call in calls], "[a-zA-Z0-9_-]+", r"[a-zA-Z0-9_-]{1,128}"
        )
        _require_results(ids, (b.get("tool_use_id") for b in _first(following, len(ids))))
    _require_unique(taken)


def _bedrock(body: dict[str, Any], _model: str) -> None:
    taken = []
    for message, following in _alternating(body["messages"], "assistant"):
        _require(bool(message["content"]), "a message has no content")
        for block in message["content"]:
            _require("text" not in block or block["text"].strip(), "the text field is blank")
        if message["role"] == "assistant":
            calls = [block["toolUse"] for block in message["content"] if "toolUse" in block]
            ids = [call["toolUseId"] for call in calls]
            taken += ids
            _check_calls(ids, [call["name"] for call in calls], "[a-zA-Z0-9_-]{1,64}")
            results = (
                b.get("toolResult", {}).get("toolUseId") for b in _first(following, len(ids))
            )
            _require_results(ids, results)
    _require_unique(taken)
    _require(not taken or "toolConfig" in body, "toolConfig has to be defined")


def _google(body: dict[str, Any], _model: str) -> None:
    names = r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"
    for message, following in _alternating(body["contents"], "model"):
        parts = message["parts"]
        _require(bool(parts), "parts must not be empty")
        calls = [part for part in parts if "functionCall" in part]
        if message["role"] != "model" or not calls:
            continue
        _require(calls[0].get("thoughtSignature"), "Function call is missing a thought_signature")
        called = [part["functionCall"]["name"] for part in calls]
        _check_calls([], called, "", names)
        answers = [each.get("functionResponse", {}) for each in _first(following, len(calls))]
        _require([each.get("name") for each in answers] == called, "function responses differ")
        ids = [part["functionCall"].get("id") for part in calls]
        _require([each.get("id") for each in answers] == ids, "ids of function responses differ")


def _responses(body: dict[str, Any], _model: str) -> None:
    items = body["input"]
    calls = [item for item in items if item.get("type") == "function_call"]
    ids = [call["call_id"] for call in calls]
    _check_calls(ids, [call["name"] for call in calls], "[a-zA-Z0-9_-]{1,40}")
    _require_unique(ids)
    outputs = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    _require(Counter(ids) == Counter(outputs), f"calls {ids} and outputs {outputs} differ")
    for item, following in zip(items, [*items[1:], {}], strict=True):
        if item.get("type") == "reasoning":
            _require(item.get("encrypted_content"), "Items are not persisted")
            kinds = ("function_call", "message")
            _require(following.get("type") in kinds, "reasoning without its following item")


def _ollama(body: dict[str, Any], _model: str) -> None:
    results = 0
    for message in body["messages"]:
        if message["role"] == "tool":
            results -= 1
        else:
            _require(results == 0, "calls and results differ")
            results = len(message.get("tool_calls", []))
            for call in message.get("tool_calls", []):
                _require(isinstance(call["function"]["arguments"], dict), "arguments: no object")


_RULES: Mapping[str, Callable[[dict[str, Any], str], None]] = {
    "openai": _chat,
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "google": _google,
    "responses": _responses,
    "ollama": _ollama,
}


def _alternating(
    messages: Sequence[dict[str, Any]], assistant: str
) -> Iterable[tuple[dict[str, Any], dict[str, Any]]]:
    """Return each message with the one that follows. Users begin, and the roles alternate."""
    for number, message in enumerate(messages):
        expected = assistant if number % 2 else "user"
        _require(message["role"] == expected, f"messages.{number}: roles must alternate")
    return zip(messages, [*messages[1:], {}], strict=True)


def _first(message: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """So many of the first blocks of a message."""
    return _blocks(message.get("content", message.get("parts", [])))[:count]


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _check_calls(ids: Sequence[str], names: Sequence[str], pattern: str, name: str = _NAME) -> None:
    for call_id in ids:
        _require(re.fullmatch(pattern, call_id), f"id {call_id!r} does not match {pattern}")
    for each in names:
        _require(re.fullmatch(name, each), f"name {each!r} does not match {name}")


def _require_results(ids: Sequence[str], results: Iterable[str | None]) -> None:
    found = list(results)
    _require(sorted(ids) == sorted(map(str, found)), f"calls {ids} and results {found} differ")


def _require_unique(ids: Sequence[str]) -> None:
    _require(len(set(ids)) == len(ids), f"ids of tool calls must be unique: {ids}")


def _require(condition: object, refusal: str) -> None:
    if not condition:
        raise RefusedError(refusal)
