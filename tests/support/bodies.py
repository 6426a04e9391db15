"""What a wire format makes of a request, read back from its bytes."""

from __future__ import annotations

import json
from typing import Any

from axe_lsp.agentfile.providers import Wire
from axe_lsp.runtime.messages import Request
from axe_lsp.runtime.providers.body import encode_body
from axe_lsp.runtime.providers.http_provider import format_of
from axe_lsp.runtime.providers.terms import Terms
from axe_lsp.runtime.providers.wire import WireFormat

_WIRES: dict[str, Wire] = {"anthropic": "anthropic", "openai": "openai-chat", "ollama": "ollama"}

FORMATS: dict[str, WireFormat] = {dialect: format_of(wire) for dialect, wire in _WIRES.items()}
"""The wire formats of axe's first providers, by the provider's name."""


def encode(
    wire_format: WireFormat, request: Request, *, stream: bool = False, terms: Terms | None = None
) -> dict[str, Any]:
    """The body of a request."""
    body: dict[str, Any] = json.loads(encode_body(wire_format, request, stream, terms))
    return body
