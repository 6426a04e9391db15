"""The shortening of old tool results when a conversation exceeds its model's context window.

Pure. The oldest results are shortened first, many at once and to well below the limit, so that the
provider's prompt cache, which holds the beginning of a conversation, is lost as seldom as possible.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.schema.models import known_model
from axe_lsp.agentfile.schema.providers import ModelName
from axe_lsp.runtime.messages import Message, Request, ToolResult, argument_text

_CHARACTERS_PER_TOKEN = 3
"""For code and data, which have more tokens than prose: an estimate should be too high rather than too low."""

_WELL_BELOW = 0.5
"""The part of a limit that a conversation has after it was shortened."""

_KEPT = 400
"""Characters that are kept of an old result."""

_KEPT_OF_NEWEST = 4000
"""The same of results that the model has not seen yet."""

_NOTE = (
    "more characters of this result were left out, since the conversation has become too long. "
    "Call the tool again if you need them.]"
)
"""The end of a shortened result."""

_NOTE_OF_ANSWER = (
    "more characters of answers were left out, since the conversation has become too long. "
    "check_agents shows the answers of side runs.]"
)

SIDE_RUN = '[Side run "'
"""The beginning of a text that gives the answers of side runs."""

_USUAL_ANSWER = 16_384
"""Tokens that are reserved for an answer without a limit."""


class Shortened(Struct, frozen=True):
    """A conversation of which so many `results` were shortened, and how many tokens that saves, about."""

    messages: tuple[Message, ...]
    results: int
    saved: int


def context_limit(model: ModelName, request: Request, learnt: int | None = None) -> int | None:
    """Return the tokens that a prompt may have so that there is room for an answer, None if the context window is not known.

    `learnt` is the size of the model's context if a refusal has told it, which knows best.
    """
    known = known_model(str(model))
    context = learnt or request.params.num_ctx or (known.context if known else 0)
    if not context:
        return None
    longest = min(known.max_output, _USUAL_ANSWER) if known else _USUAL_ANSWER
    # An answer never gets more than half, or a small context would have no room for a prompt.
    return max(context - (request.max_tokens or longest), context // 2)


def goal(limit: int) -> int:
    """Return the tokens that a conversation should have after it was shortened, which may have at most `limit`."""
    return int(limit * _WELL_BELOW)


def tokens_of(messages: Sequence[Message]) -> int:
    """Estimate the tokens of messages."""
    return tokens_in(characters_of(messages))


def characters_of(messages: Sequence[Message]) -> int:
    """Return how many characters messages have; those of pictures don't count."""
    return sum(map(_characters, messages))


def tokens_in(characters: int) -> int:
    """Estimate the tokens of so many characters."""
    return characters // _CHARACTERS_PER_TOKEN


def tokens_of_rest(request: Request) -> int:
    """Estimate the tokens of a request beside its messages."""
    tools = sum(len(tool.description) + len(argument_text(tool.schema)) for tool in request.tools)
    system = len(request.system) + len(request.server_instructions)
    return (system + tools) // _CHARACTERS_PER_TOKEN


def shortened(messages: Sequence[Message], least: int, wanted: int) -> Shortened | None:
    """Return the messages with tokens saved: as many as are `wanted`, from the oldest results on.

    Results that the model has not seen yet are shortened only if that does not save the `least`
    number. None if there is nothing that could be shortened.
    """
    made = [*messages]
    with_results = [index for index, each in enumerate(made) if each.tool_results or each.given]
    count = saved = 0
    for index in with_results:
        is_newest = index == with_results[-1]
        if saved >= (least if is_newest else wanted):
            continue
        kept = _KEPT_OF_NEWEST if is_newest else _KEPT
        message = made[index]
        results = tuple(_short(result, kept) for result in message.tool_results)
        given = tuple(_short_answer(text, kept) for text in message.given)
        changed = replace(message, tool_results=results, given=given)
        pairs = zip((*results, *given), (*message.tool_results, *message.given), strict=True)
        count += sum(new is not old for new, old in pairs)
        saved += tokens_of([made[index]]) - tokens_of([changed])
        made[index] = changed
    return Shortened(tuple(made), count, saved) if count else None


def _short(result: ToolResult, kept: int) -> ToolResult:
    """Return a result with its beginning and a note; itself if that would not be much shorter."""
    left_out = len(result.content) - kept
    if left_out < kept:
        return result
    note = f"[{left_out:,} {_NOTE}"
    return replace(result, content=f"{result.content[:kept]}\n{note}", images=())


def _short_answer(text: str, kept: int) -> str:
    """Return the answers of side runs that a request has given, shortened like a result. Messages of people stay."""
    left_out = len(text) - kept
    if left_out < kept or not text.startswith(SIDE_RUN):
        return text
    return f"{text[:kept]}\n[{left_out:,} {_NOTE_OF_ANSWER}"


def is_shortened(result: str) -> bool:
    """Return whether the text of a tool result has lost its end."""
    return result.endswith(_NOTE)


def _characters(message: Message) -> int:
    calls = sum(len(call.name) + len(argument_text(call.arguments)) for call in message.tool_calls)
    results = sum(len(result.content) for result in message.tool_results)
    given = sum(map(len, message.given))
    return len(message.content) + calls + results + given
