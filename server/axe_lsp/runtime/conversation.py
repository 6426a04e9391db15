"""A conversation with a model, without I/O: what the next step is (001-8.1 to 8.4, 8.6, 8.8).

Nothing here awaits, so a state change is never half done when a run is cancelled. The history only
grows, which is what prompt caches want: the beginning of each request equals the request before. The
exceptions are `make_room` and `sum_up`, for a conversation that its model's context has no room for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import count
from typing import TYPE_CHECKING

from msgspec.structs import replace

from axe_lsp.runtime.errors import FinalError
from axe_lsp.runtime.incomplete import CUT_OFF, explained
from axe_lsp.runtime.messages import (
    NOTHING_GIVEN,
    Given,
    Message,
    Request,
    Response,
    Tool,
    ToolCall,
    ToolResult,
)
from axe_lsp.runtime.safety.redaction import redact
from axe_lsp.runtime.shortening import (
    Shortened,
    characters_of,
    goal,
    shortened,
    tokens_in,
    tokens_of_rest,
)
from axe_lsp.runtime.sources import Source, merged_sources, redacted_sources

if TYPE_CHECKING:
    from axe_lsp.runtime.compaction import Compaction

MAX_TURNS = 50
"""A safety valve against models that never come to an end (001-8.3); not tunable (001-N6)."""

MAX_PAUSES = 10
"""The most times that a provider may pause one answer."""

MAX_CUTS = 2
"""The number of answers in a row that are cut off within a tool call, after which a run ends."""


class Conversation:
    """The state of one conversation.

    Send `request`, hand the answer to `receive`; if that returns tool calls, hand their results to
    `deliver` and send again. If the provider has only paused, `goes_on` says so, and the request is
    sent again at once. `who` is what the agent is called if it does not come to an end.
    """

    def __init__(self, request: Request, who: str = "agent") -> None:
        self.request = request
        self._who = who
        self.turns = 0
        self.tool_calls = 0
        self.pending = 0
        self.goes_on = False
        self.last = Response()
        self._task = request.messages[0]
        self._uncounted = tokens_of_rest(request)
        self._characters = characters_of(request.messages)
        self._paused: list[str] = []
        self._paused_sources: tuple[Source, ...] = ()
        self._begun: Response | None = None
        self._pauses = 0
        self._calls: tuple[ToolCall, ...] = ()
        self._cuts = 0
        self._ending = Message("assistant")
        self.broken_off = ""
        """The partial text of the last answer that will not be completed."""
        self.given_turn = 0
        """The turn whose request gives what has come, once that is decided."""
        self.given = NOTHING_GIVEN
        """What the request of that turn gives."""

    def offer(self, tools: tuple[Tool, ...]) -> None:
        """Offer other tools from now on."""
        before, self.request = self.request, replace(self.request, tools=tools)
        self._uncounted += tokens_of_rest(self.request) - tokens_of_rest(before)

    def receive(self, response: Response) -> tuple[ToolCall, ...]:
        """Take an answer; returns its calls, none when the conversation is over or has paused.

        Calls that `is_broken` are not to be executed. Calls of a model that was offered no tools are
        none: its text is the result.
        """
        self.turns += 1
        self.pending = 0
        if response.input_tokens:
            self._uncounted = response.input_tokens - tokens_in(self._characters)
        if self._begun is not None:
            response = told_apart(_joined(self._begun, response))
        if response.incomplete == "interrupted":
            response = replace(response, tool_calls=(), original=None)
        self._ending = response.message()
        self.goes_on = response.incomplete == "paused" and self._pauses < MAX_PAUSES
        if self.goes_on:
            self._pause(response)
            return ()
        self.last = replace(
            response,
            content="".join((*self._paused, response.content)),
            sources=merged_sources(self._paused_sources, response.sources),
        )
        self._paused, self._paused_sources, self._begun, self._pauses = [], (), None, 0
        self.request = replace(self.request, continuation="")
        self._calls = _marked(response) if self.request.tools else ()
        if self._calls:
            self._append(response.message(self._calls))
        return self._calls

    def _pause(self, response: Response) -> None:
        """Keep a part of an answer, which the provider continues once it has it back, or its token."""
        self._pauses += 1
        self.last = replace(response, content="".join((*self._paused, response.content)))
        if response.continuation:
            self._begun = response
            self.request = replace(self.request, continuation=response.continuation)
        else:
            self._begun = None
            self._paused.append(response.content)
            self._paused_sources = merged_sources(self._paused_sources, response.sources)
            self._append(response.message())
        self._check_turns()

    def break_off(self, text: str) -> None:
        """Take the partial text of an answer that will not be completed."""
        self.broken_off = text
        if text:
            begun = self._begun.content if self._begun is not None else ""
            said = "".join((*self._paused, begun, text))
            self.last = replace(self.last, content=said, stop_reason="", incomplete=None)

    def deliver(self, results: Sequence[ToolResult]) -> None:
        """Take the results of the calls, in the order of the calls.

        Raises AgentError when the conversation may not go on: it had all its turns, or its model
        does not get a tool call done within the output limit.
        """
        self.tool_calls += len(results)
        self.pending = len(results)
        pairs = zip(self._calls, results, strict=True)
        named = (replace(result, name=call.name) for call, result in pairs)
        self._append(Message("tool", tool_results=tuple(named)))
        self._check_turns()
        self._cuts = self._cuts + 1 if any(call.is_broken for call in self._calls) else 0
        if self._cuts >= MAX_CUTS and self.last.incomplete is not None:
            reason = explained(self.last.incomplete, self.last.incomplete_detail)
            raise FinalError(
                f"{reason} within a tool call, {MAX_CUTS} times in a row; "
                "a higher params.max_tokens gives the model room for it"
            )

    @property
    def size(self) -> int:
        """About how many tokens the request has, by what the provider has counted last."""
        return max(0, self._uncounted + tokens_in(self._characters))

    def make_room(self, limit: int) -> Shortened | None:
        """Shorten old results of tools if the request has more than `limit` tokens; tells what was done.

        None if nothing had to be done, or nothing could be.
        """
        size = self.size
        if size <= limit:
            return None
        made = shortened(self.request.messages, size - limit, size - goal(limit))
        if made is not None:
            self.request = replace(self.request, messages=made.messages)
            self._characters = characters_of(made.messages)
        return made

    def compaction(self, limit: int | None) -> Compaction | None:
        """Return how its model can sum up the conversation, None if there is nothing to sum up."""
        from axe_lsp.runtime.compaction import compaction_of

        return compaction_of(self.request, self._task, self.size, limit)

    def sum_up(self, compaction: Compaction, summary: str, side_runs: Sequence[str] = ()) -> None:
        """Replace the beginning by a summary, which names the side runs that work."""
        self.request = compaction.with_summary(self.request, summary, side_runs)
        self._uncounted = tokens_of_rest(self.request)
        self._characters = characters_of(self.request.messages)

    def ask_again(self, text: str) -> None:
        """Answer the last answer, which was the end, with one more message.

        Raises AgentError as `deliver` does.
        """
        answer = self.last.message()
        if answer.content or answer.original is not None:
            self._append(answer)
        self._append(Message("user", content=text))
        self._check_turns()

    def wake(self) -> None:
        """Go on after the last answer, which was the end. Raises AgentError as `deliver` does."""
        self._check_turns()
        if self._ending.content or self._ending.original is not None:
            self._append(self._ending)

    def give(self, turn: int, texts: Sequence[str], given: Given = NOTHING_GIVEN) -> None:
        """Add texts to the request of a turn, as user messages behind all others."""
        self.given_turn, self.given = turn, given
        if not texts:
            return
        *messages, last = self.request.messages
        if last.role == "assistant":
            self._append(Message("user", given=tuple(texts)))
            return
        changed = replace(last, given=(*last.given, *texts))
        self.request = replace(self.request, messages=(*messages, changed))
        self._characters += sum(map(len, texts))

    def _check_turns(self) -> None:
        if self.turns >= MAX_TURNS:
            raise FinalError(f"{self._who} exceeded maximum conversation turns ({MAX_TURNS})")

    def _append(self, message: Message) -> None:
        self.request = replace(self.request, messages=(*self.request.messages, message))
        self._characters += characters_of((message,))


def _joined(begun: Response, rest: Response) -> Response:
    """Join the two parts of an answer."""
    return replace(
        rest,
        content=begun.content + rest.content,
        tool_calls=(*begun.tool_calls, *rest.tool_calls),
        original=[*(begun.original or ()), *(rest.original or ())] or None,
        sources=merged_sources(begun.sources, rest.sources),
    )


def _marked(response: Response) -> tuple[ToolCall, ...]:
    """Return the calls of an answer, marked if they are not to be executed.

    An answer that was cut off was most probably cut in its last call, even if that can be read: on
    some wires the arguments of half a call are `{}`. Otherwise calls without readable arguments are
    executed without any, as axe does.
    """
    if response.incomplete not in CUT_OFF:
        return tuple(
            replace(call, is_broken=False) if call.is_broken else call
            for call in response.tool_calls
        )
    return tuple(
        replace(call, is_broken=call.is_broken or call is response.tool_calls[-1])
        for call in response.tool_calls
    )


def told_apart(response: Response, secrets: Collection[str] = ()) -> Response:
    """Return the answer, with an alias for each call whose id a call before it has, or holds a secret.

    Events name a call by its id, and some servers give all calls of an answer the same. The provider
    goes on to hear its own ids, and has the results in the order of its calls. The words of the service about the
    answer, such as its stop reason, are redacted; the text is the caller's, for whom it may be a key.
    """
    ids: set[str] = set()
    calls: list[ToolCall] = []
    for call in response.tool_calls:
        shown = redact(call.id, secrets)
        alias = shown if shown not in ids else _free(shown, ids)
        calls.append(call if alias == call.id else replace(call, alias=alias))
        ids.add(calls[-1].event_id)
    words = {name: redact(getattr(response, name), secrets) for name in _WORDS_OF_SERVICE}
    sources = redacted_sources(response.sources, lambda text: redact(text, secrets))
    return replace(response, tool_calls=tuple(calls), sources=sources, **words)


_WORDS_OF_SERVICE = ("model", "stop_reason", "native_stop_reason", "incomplete_detail", "unread")
"""The fields of an answer with words of the service that are shown."""


def _free(call_id: str, taken: Collection[str]) -> str:
    return next(new for number in count(2) if (new := f"{call_id}-{number}") not in taken)
