"""What a wire format makes of a request, read back from its bytes."""

from __future__ import annotations

import json
from typing import Any

from axe_lsp.agentfile.schema.providers import Wire
from axe_lsp.runtime.messages import Request
from axe_lsp.runtime.providers.body import encode_body
from axe_lsp.runtime.providers.http_provider import format_of
from axe_lsp.runtime.providers.restrictions import Restrictions
from axe_lsp.runtime.providers.wire import WireFormat

WIRE_OF: dict[str, Wire] = {
    "anthropic": "anthropic",
    "openai": "openai-chat",
    "responses": "openai-responses",
    "ollama": "ollama",
    "google": "gemini",
    "bedrock": "bedrock",
}

FORMATS: dict[str, WireFormat] = {dialect: format_of(wire) for dialect, wire in WIRE_OF.items()}
"""The wire formats, by the name of the provider that speaks them."""


def path_tells_streams(dialect: str) -> bool:
    """Return whether the path of a request asks for a stream, and not its body."""
    return FORMATS[dialect].path("m", True) != FORMATS[dialect].path("m", False)


def messages_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages of a request of any wire format."""
    return next(body[key] for key in ("messages", "contents", "input") if key in body)


def text_of(message: dict[str, Any]) -> str:
    """Return the text of a message, which may be in parts."""
    content = message.get("content", message.get("parts", message.get("output")))
    parts = [{"text": content}] if isinstance(content, str) else content or ()
    return "".join(part.get("text", "") for part in parts)


def tools_of(body: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the tools of a request: name, description and schema of each."""
    found = []
    for tool in body.get("toolConfig", body).get("tools", ()):
        if "toolSpec" in tool:
            spec = tool["toolSpec"]
            found.append((spec["name"], spec["description"], spec["inputSchema"]["json"]))
            continue
        for each in tool.get("functionDeclarations", [tool.get("function", tool)]):
            keys = ("parameters", "input_schema", "parametersJsonSchema")
            schema = next(each[key] for key in keys if key in each)
            found.append((each["name"], each["description"], schema))
    return found


def encode(
    wire_format: WireFormat,
    request: Request,
    *,
    stream: bool = False,
    restrictions: Restrictions | None = None,
) -> dict[str, Any]:
    """Return the body of a request."""
    body: dict[str, Any] = json.loads(encode_body(wire_format, request, stream, restrictions))
    return body
