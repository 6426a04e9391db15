"""A conversation with a model, without I/O: what the next step is (001-8.1 to 8.4, 8.6, 8.8).

Nothing here awaits, so a state change is never half done when a run is cancelled. The history only
grows: the beginning of each request equals the request before, which is what prompt caches want.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import count

from msgspec.structs import replace

from axe_lsp.runtime.errors import AgentError
from axe_lsp.runtime.messages import Message, Request, Response, ToolCall, ToolResult

MAX_TURNS = 50
"""A safety valve against models that never come to an end (001-8.3); not tunable (001-N6)."""


class Conversation:
    """The state of one conversation.

    Send `request`, hand the answer to `receive`; if that returns tool calls, hand their results to
    `deliver` and send again. `who` is what the agent is called if it does not come to an end.
    """

    def __init__(self, request: Request, who: str = "agent") -> None:
        self.request = request
        self._who = who
        self.turns = 0
        self.tool_calls = 0
        self.pending = 0
        self.last = Response()

    def receive(self, response: Response) -> tuple[ToolCall, ...]:
        """Take an answer; returns the calls to execute, none when the conversation is over.

        Calls of a model that was offered no tools are not executed: its text is the result.
        """
        self.turns += 1
        self.last = response
        self.pending = 0
        if not response.tool_calls or not self.request.tools:
            return ()
        self._append(
            Message(
                "assistant",
                content=response.content,
                tool_calls=response.tool_calls,
                original=response.original,
            )
        )
        return response.tool_calls

    def deliver(self, results: Sequence[ToolResult]) -> None:
        """Take the results of the calls, in the order of the calls.

        Raises AgentError when the conversation may not go on, because it had all its turns.
        """
        self.tool_calls += len(results)
        self.pending = len(results)
        names = [call.name for call in self.last.tool_calls]
        named = (replace(result, name=name) for result, name in zip(results, names, strict=True))
        self._append(Message("tool", tool_results=tuple(named)))
        self._check_turns()

    def ask_again(self, text: str) -> None:
        """Answer the last answer, which was the end, with one more message.

        Raises AgentError as `deliver` does.
        """
        last = self.last
        if last.content or last.original is not None:
            self._append(Message("assistant", content=last.content, original=last.original))
        self._append(Message("user", content=text))
        self._check_turns()

    def _check_turns(self) -> None:
        if self.turns >= MAX_TURNS:
            raise AgentError(f"{self._who} exceeded maximum conversation turns ({MAX_TURNS})")

    def _append(self, message: Message) -> None:
        self.request = replace(self.request, messages=(*self.request.messages, message))


def told_apart(response: Response) -> Response:
    """The answer, with an alias for each call that has the id of one before it.

    Events name a call by its id, and some servers give all calls of an answer the same. The provider
    goes on to hear its own ids, and has the results in the order of its calls.
    """
    ids: set[str] = set()
    calls: list[ToolCall] = []
    for call in response.tool_calls:
        calls.append(call if call.id not in ids else replace(call, alias=_free(call.id, ids)))
        ids.add(calls[-1].event_id)
    return replace(response, tool_calls=tuple(calls))


def _free(call_id: str, taken: Collection[str]) -> str:
    return next(new for number in count(2) if (new := f"{call_id}-{number}") not in taken)
