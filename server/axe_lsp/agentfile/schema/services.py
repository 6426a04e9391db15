"""Facts about services that speak the wire format of another provider: what they take back of an answer.

A service without a row is asked by the rules of its wire alone. What a refusal says about a message is
learnt in any case (`runtime/providers/restrictions.py`); a row saves the refused request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import urlsplit

from msgspec import Struct

from axe_lsp.agentfile.schema.providers import Wire

CHAT_FIELDS = frozenset(
    {
        "reasoning_content",  # DeepSeek, Kimi, Qwen, GLM, llama.cpp, LM Studio
        "reasoning",  # vLLM, OpenRouter, Groq, Cerebras
        "reasoning_details",  # OpenRouter, Vercel, Snowflake, MiniMax
        "reasoning_text",  # GitHub Copilot, with the next one
        "reasoning_opaque",
        "thinking_blocks",  # LiteLLM, for Anthropic behind it, with the next one
        "provider_specific_fields",
        "extra_content",  # Google, also in calls
        "thought_signature",  # proxies to Google, in calls
    }
)
"""The fields of an assistant message and its calls, beside `role`, `content` and `tool_calls`, that some
service of the wire `openai-chat` takes back. All others belong to an answer only, such as `channel`,
`index`, `annotations` and `provider_metadata`."""

EMPTY_FIELDS: Mapping[str, str | list[str]] = {
    "reasoning_content": "",
    "reasoning": "",
    "reasoning_details": [],
}
"""The fields that a service can require in each assistant message, with the value of a message without thoughts.

DeepSeek and Kimi themselves give an empty text for a turn without thoughts, and require it in the next
request (MoonshotAI/kimi-cli#2498, Oaklight/llm-rosetta#356).
"""


class ServiceTraits(Struct, frozen=True):
    """The features of a service.

    `name` is a pattern that is searched in the name of a provider and in the host of its address.
    `returned_fields` are the fields of `CHAT_FIELDS` that the service takes back, `required_fields` the
    fields that each assistant message must have. `call_ids` is a pattern of the ids of tool calls that
    it takes, also of its own, "" for those of the wire.
    """

    name: str
    wire: Wire = "openai-chat"
    returned_fields: frozenset[str] = CHAT_FIELDS
    required_fields: frozenset[str] = frozenset()
    call_ids: str = ""


SERVICES = (
    # "The reasoning_content in the thinking mode must be passed back to the API." (cc-switch-cli#170)
    ServiceTraits("deepseek", required_fields=frozenset({"reasoning_content"})),
    # "preserved thinking requires reasoning_content on every assistant message" (kimi-cli#2498)
    ServiceTraits(r"moonshot|kimi", required_fields=frozenset({"reasoning_content"})),
    # Further fields are `extra_forbidden`, also reasoning_content (crush#1590, litellm#30835). Thoughts are in parts of the content.
    ServiceTraits("mistral", returned_fields=frozenset(), call_ids="[a-zA-Z0-9]{9}"),
    # "property 'channel' is unsupported"; its assistant message has `reasoning`.
    ServiceTraits("groq", returned_fields=frozenset({"reasoning"})),
    ServiceTraits("openrouter", returned_fields=frozenset({"reasoning", "reasoning_details"})),
    ServiceTraits("vercel", returned_fields=frozenset({"reasoning", "reasoning_details"})),
    ServiceTraits("snowflake", returned_fields=frozenset({"reasoning_details"})),
)
"""The services of which something is known. docs/providers.md has the same table for users."""

_WIRE_ONLY = ServiceTraits("")


@lru_cache(maxsize=32)
def service_traits(wire: Wire, provider: str, base_url: str) -> ServiceTraits:
    """Return the features of a service, which its provider's name or its address tells."""
    text = f"{provider} {urlsplit(base_url).hostname or ''}".lower()
    rows = (row for row in SERVICES if row.wire == wire and re.search(row.name, text))
    return next(rows, _WIRE_ONLY)
