"""Why an answer is not whole, for programs and for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Incomplete = Literal[
    "length", "context_window", "content_filter", "refusal", "paused", "malformed_call"
]

REASONS: Mapping[Incomplete, str] = {
    "length": "was cut off at the output limit",
    "context_window": "was cut off because the context window is full",
    "content_filter": "was stopped by a content filter",
    "refusal": "is a refusal by the model",
    "paused": "was paused by the provider",
    "malformed_call": "has a tool call that can't be read",
}
"""What people are told about an answer."""
