"""What a wire format makes of a request, read back from its bytes."""

from __future__ import annotations

import json
from typing import Any

from axe_lsp.runtime.messages import Request
from axe_lsp.runtime.providers.body import encode_body
from axe_lsp.runtime.providers.terms import Terms
from axe_lsp.runtime.providers.wire import WireFormat


def encode(
    wire_format: WireFormat, request: Request, *, stream: bool = False, terms: Terms | None = None
) -> dict[str, Any]:
    """The body of a request."""
    body: dict[str, Any] = json.loads(encode_body(wire_format, request, stream, terms))
    return body
