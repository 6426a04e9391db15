"""The reasons why an answer is not whole, for programs and for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast

Incomplete = Literal[
    "length",
    "context_window",
    "content_filter",
    "refusal",
    "paused",
    "malformed_call",
    "interrupted",
]

CUT_OFF: frozenset[Incomplete] = frozenset({"length", "context_window"})
"""Answers that end in the middle of what the model was about to say."""

REFUSED: frozenset[Incomplete] = frozenset({"refusal", "content_filter"})
"""Answers that the model or a filter has refused. Their partial text is not a result."""

CONTRADICTORY = frozenset(
    {
        *("tool_calls", "function_call", "tool_use"),  # which promise a call
        *("load", "unload"),  # Ollama, of a request that was taken for one without messages
        *("network_error", "error"),  # of the service behind OpenRouter, as Z.ai has it
    }
)
"""Stop reasons that contradict an answer with neither text nor calls."""

_WORDS: Mapping[Incomplete, str] = {
    "length": "the answer was cut off at the output limit",
    "context_window": "the answer was cut off because the context window is full",
    "content_filter": "the answer was stopped by a content filter",
    "refusal": "the model refused",
    "paused": "the provider paused the answer too often",
    "malformed_call": "the answer has a tool call that can't be read",
    "interrupted": "the answer was broken off by a message",
}


def explained(incomplete: Incomplete, detail: str = "") -> str:
    """Return the message for people about an answer; `detail` comes from the provider."""
    words = _WORDS[incomplete]
    return f"{words} ({detail})" if detail else words


def in_words(incomplete: str | None) -> str:
    """Return the same from an event, "" of an answer that is whole.

    An event may come from a later version, which knows more reasons than this one.
    """
    if not incomplete:
        return ""
    return _WORDS.get(cast(Incomplete, incomplete), f"the answer is incomplete ({incomplete})")
