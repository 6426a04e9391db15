"""What a server accepts: where that is known beforehand, and what it has refused when it was asked.

Names of models say little about it, and new ones appear every month. So a request is sent as it is
meant, and what the server refuses by name is changed or left out, for this model from then on.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.messages import Request

Field = Literal["max_tokens", "temperature", "response_format", "cache_control", "stream_options"]


_LONG = 2
"""Answers after which a run is long."""


class Terms(Struct, frozen=True):
    """How to ask a server for a model.

    `current`: it is the provider's own, which knows all of its API. Those that stand in for it,
    proxies and compatible servers, are asked in the words of axe M7 (001-2, 001-3, 001-4). `provider`
    is the name of the service, for wires that have dialects.
    """

    current: bool = False
    refused: frozenset[Field] = frozenset()
    provider: str = ""


def accepted(request: Request, terms: Terms) -> Request:
    """The request without what may be left out and was refused."""
    if "temperature" in terms.refused:
        request = replace(request, temperature=None)
    wanted = request.response_format
    if "response_format" in terms.refused and wanted is not None:
        system = request.system + wanted.otherwise
        request = replace(request, response_format=None, system=system)
    return request


def caches(request: Request, terms: Terms) -> bool:
    """Whether to say what is worth caching.

    A stand-in is told only when a run has become long: some know nothing of caching, and writing to
    a cache costs more than it saves in a run of two turns.
    """
    turns = sum(message.role == "assistant" for message in request.messages)
    return "cache_control" not in terms.refused and (terms.current or turns >= _LONG)


def marked_messages(request: Request, terms: Terms) -> Collection[int]:
    """The messages up to which all is cached, by index: the last two that the model is sent.

    The next turn begins with what ends at the last one. The one before is where this turn finds
    what the last turn has written, however many results there are in between.
    """
    if not (request.tools and caches(request, terms)):
        return ()
    ours = [i for i, message in enumerate(request.messages) if message.role != "assistant"]
    return ours[-2:]


def refused_field(error: ProviderError, request: Request, terms: Terms) -> Field | None:
    """What of the request the error is about, if the server may be asked again without it."""
    if error.status not in (400, 422):
        return None
    sent = (field for field in _REFUSALS if _was_sent(field, request, terms))
    return next((field for field in sent if re.search(_REFUSALS[field], error.message)), None)


_REFUSALS: dict[Field, str] = {
    "max_tokens": "max_completion_tokens",
    # Not what is said of a number that is too high, which the user has to know.
    "temperature": (
        r"(?is)unsupported.*temperature"
        r"|temperature.*(unsupported|not support|not allowed|deprecated)"
    ),
    "cache_control": "cache_control",
    "stream_options": "stream_options",
    "response_format": "(?i)format|schema|output_config",
}
"""Patterns, which are compiled when a server has refused something."""


def _was_sent(field: Field, request: Request, terms: Terms) -> bool:
    if field in terms.refused:
        return False
    if field == "max_tokens":
        return bool(request.max_tokens) and not terms.current
    if field == "temperature":
        return request.temperature is not None
    if field == "response_format":
        return request.response_format is not None and request.response_format.optional
    return field == "stream_options" or caches(request, terms)


def left_out(request: Request, terms: Terms) -> list[str]:
    """What the user should know about a request as it is sent."""
    fields: list[Field] = ["temperature"]
    if request.response_format is not None and not request.response_format.otherwise:
        fields.append("response_format")
    return [
        f"the model {request.model} refuses params.{field}, so it is left out"
        for field in fields
        if field in terms.refused and getattr(request, field) is not None
    ]
