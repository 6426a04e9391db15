"""Former turns of a conversation, in the form that the service of the next request takes.

A conversation may go on with another model: `--continue --model`, forks, sessions whose agent was edited. That
model can't read the thoughts and signatures of the first one, and its service may refuse the ids of its calls.
Models also call tools that do not exist, by names that their own service does not take back.

The form of a message depends on the messages before it alone, so that it is the same in all later requests.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.runtime.messages import Message, Request, ToolCall
from axe_lsp.runtime.plain_text import short_digest

_KEPT = "former turns"
"""The key in `Request.kept` of the rewritten messages, by the `id()` of the original message."""

_ID_LENGTH = 9
"""Characters of a new call id. Mistral takes ids of this length only."""

_LONGEST_NAME = 40
"""Characters of an unknown tool's name that stay readable in its replacement."""

_ANY = "(?s).*"
"""A pattern of the ids that a service itself has given."""


class CallRules(Struct, frozen=True):
    """The rules of a service for tool calls of former turns.

    Answers of another `origin` than this one were given by another model, or on another wire. `ids` and `names`
    are patterns of the ids and the names that are taken. The ids of the service itself are sent as they came, even
    if two are the same, unless `checks_own_ids`. With `has_ids` a call is found by its id.
    """

    origin: str
    ids: str
    names: str
    has_ids: bool = True
    checks_own_ids: bool = False


def with_former_turns(request: Request, rules: CallRules) -> Request:
    """Return the request with all messages in the form that a service takes.

    A message of another model loses its `original`. The ids of its calls become unique, and ids and names fit
    the rules; those that do already stay. A message that needs no change stays the same object, and a changed
    message is the same object in each request, so that it is encoded once.
    """
    offered = {tool.name for tool in request.tools}
    ids = _CallIds(rules)
    calls: tuple[ToolCall, ...] = ()
    messages: list[Message] = []
    for message in request.messages:
        if message.role == "assistant":
            is_own = message.origin == rules.origin
            calls = tuple(
                _rename(call, ids.next(call.id, is_own), rules, offered)
                for call in message.tool_calls
            )
            messages.append(_turn(request, message, calls, is_own))
        elif message.tool_results:
            messages.append(_results(request, message, calls))
        else:
            messages.append(message)
    is_same = all(new is old for new, old in zip(messages, request.messages, strict=True))
    return request if is_same else replace(request, messages=tuple(messages))


class _CallIds:
    """The ids of the calls of one conversation, from its beginning."""

    def __init__(self, rules: CallRules) -> None:
        self._rules = rules
        self._all: set[str] = set()
        self._changeable: set[str] = set()
        self._digests: dict[str, Iterator[str]] = {}

    def next(self, call_id: str, is_own: bool) -> str:
        """Return the id under which the next call is sent. `is_own`: the service itself has chosen `call_id`."""
        if is_own and not self._rules.checks_own_ids:
            # A service without ids of its own gets none back, and the runtime's are the same in each answer.
            new = self._fitting(call_id, _ANY, self._changeable if self._rules.has_ids else ())
        else:
            new = self._fitting(call_id, self._rules.ids, self._all)
            self._changeable.add(new)
        self._all.add(new)
        return new

    def _fitting(self, call_id: str, pattern: str, taken: Collection[str]) -> str:
        """Return `call_id` if it matches the pattern and is not taken, else a digest of it that is not taken."""
        if call_id not in taken and re.fullmatch(pattern, call_id):
            return call_id
        # Of Gemini and Ollama all turns have the same ids: to begin at the first digest each time takes n² of them.
        digests = self._digests.setdefault(call_id, _digests_of(call_id))
        return next(each for each in digests if each not in taken)


def _digests_of(call_id: str) -> Iterator[str]:
    """Yield the ids that can replace `call_id`, in a fixed order without an end."""
    for number in count():
        yield short_digest(f"{number} {call_id}")[:_ID_LENGTH]


def fitting_name(name: str, pattern: str) -> str:
    """Return the name of a tool that is not offered if it matches the pattern, else a readable, unique one that does."""
    if re.fullmatch(pattern, name):
        return name
    readable = re.sub("[^a-zA-Z0-9_-]", "_", name)[:_LONGEST_NAME]
    return f"tool_{readable}_{short_digest(name)[:8]}"


def _rename(call: ToolCall, call_id: str, rules: CallRules, offered: Collection[str]) -> ToolCall:
    name = call.name if call.name in offered else fitting_name(call.name, rules.names)
    is_same = (call_id, name) == (call.id, call.name)
    return call if is_same else replace(call, id=call_id, name=name)


def _turn(request: Request, message: Message, calls: tuple[ToolCall, ...], is_own: bool) -> Message:
    is_unchanged = all(new is old for new, old in zip(calls, message.tool_calls, strict=True))
    if is_unchanged and (is_own or message.original is None):
        return message
    original = message.original if is_own else None
    return _reuse(request, message, replace(message, tool_calls=calls, original=original))


def _results(request: Request, message: Message, calls: tuple[ToolCall, ...]) -> Message:
    """Return a message of tool results with the ids and names of `calls`, to which they belong in this order."""
    pairs = [*zip(message.tool_results, calls, strict=False)]
    if all((result.call_id, result.name) == (call.id, call.name) for result, call in pairs):
        return message
    named = (replace(result, call_id=call.id, name=call.name) for result, call in pairs)
    return _reuse(request, message, replace(message, tool_results=tuple(named)))


def _reuse(request: Request, message: Message, changed: Message) -> Message:
    """Return the equal rewritten message of an earlier request, else `changed`.

    The original message is kept alive so that its `id()` stays unique.
    """
    kept: dict[int, tuple[Message, Message]] = request.kept.setdefault(_KEPT, {})
    _, before = kept.get(id(message), (message, None))
    if before != changed:
        kept[id(message)] = message, changed
        return changed
    return before
