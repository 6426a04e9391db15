"""Token counts and costs by the names that the services of OpenAI's wire formats give them.

OpenAI's own names come first. The others are those in the services' API references and in recorded answers.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from axe_lsp.runtime.messages import Json

_DETAILS = ("prompt_tokens_details", "input_tokens_details", "prompt_token_details")
"""The objects that tell the prompt's tokens apart. The last one is Mistral's older name."""

_READ = (
    "cached_tokens",  # OpenAI, in the details; Moonshot, beside them
    "prompt_cache_hit_tokens",  # DeepSeek
    "num_cached_tokens",  # Mistral
    "cache_read_input_tokens",  # LiteLLM and others that pass Anthropic's names on
    "cache_read_tokens",
)
_WRITTEN = (
    "cache_write_tokens",  # OpenAI, OpenRouter
    "cache_creation_input_tokens",  # LiteLLM, Vercel
    "cache_creation_tokens",
)

_LARGEST_AMOUNT = 2**63
"""Tokens or ticks. A larger number is none that a service means, and would use up any budget."""

_TICKS_PER_DOLLAR = 10_000_000_000
"""The unit of xAI's `cost_in_usd_ticks`."""


class TokenCounts(Struct, frozen=True):
    """The tokens of one answer: `read` and `written` are a part of `input`, those of thoughts are one of `output`."""

    input: int
    output: int
    read: int
    written: int


def token_counts(prompt: int, completion: int, usage: Mapping[str, Json]) -> TokenCounts:
    """Return the tokens of a `usage` that states `prompt` and `completion`.

    xAI and Google's OpenAI endpoint leave thoughts out of the completion, and have them in `total_tokens` alone.
    Where more tokens were cached than the prompt has, the prompt leaves them out.
    """
    details = (usage.get(name) for name in _DETAILS)
    places = [usage, *(each for each in details if isinstance(each, dict))]
    read, written = _first(_READ, places), _first(_WRITTEN, places)
    if read + written > prompt:
        prompt += read + written
    output = max(completion, _count(usage.get("total_tokens")) - prompt)
    return TokenCounts(prompt, output, read, written)


def stated_cost(usage: Mapping[str, Json]) -> float | None:
    """Return the cost of an answer in US dollars as its service states it, None if it does not."""
    cost = usage.get("cost")
    if isinstance(cost, dict):
        cost = cost.get("total_cost", cost.get("usd"))  # Perplexity; Hyper
    if _amount(cost) is None:
        cost = usage.get("estimated_cost")  # DeepInfra
    ticks = _amount(usage.get("cost_in_usd_ticks"))
    if _amount(cost) is None:
        return None if ticks is None else ticks / _TICKS_PER_DOLLAR
    dollars, details = _amount(cost), usage.get("cost_details")
    if usage.get("is_byok") is True and isinstance(details, dict):
        # OpenRouter's own fee, beside what the service behind it bills to the user's key.
        return (dollars or 0) + (_amount(details.get("upstream_inference_cost")) or 0)
    return dollars


def _first(names: tuple[str, ...], places: list[Mapping[str, Json]]) -> int:
    """Return the first count that is not zero."""
    counts = (_count(place.get(name)) for name in names for place in places)
    return next(filter(None, counts), 0)


def _count(value: Json) -> int:
    amount = _amount(value)
    return 0 if amount is None else int(amount)


def _amount(value: Json) -> float | None:
    """Return a number that can be an amount, None for another value. JSON has integers that no float holds."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= _LARGEST_AMOUNT else None
