"""The events of a run, as docs/protocol.md describes them.

Each event knows the run it belongs to. `seq` counts up without gaps within a root run and is the
order in which things happened; `time` is ISO 8601 in UTC with milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import msgspec

from axe_lsp.runtime.incomplete import Incomplete
from axe_lsp.runtime.json_data import JsonStruct, written
from axe_lsp.runtime.sources import Source
from axe_lsp.runtime.usage import BudgetLimit, Usage

Status = Literal["completed", "failed", "timeout", "cancelled", "killed"]


class RunIds(JsonStruct, frozen=True):
    """The identity of a run. The root's depth is 0 and it has no parent."""

    run_id: str
    root_run_id: str
    agent: str
    depth: int = written(0)
    parent_run_id: str | None = None


Unapplied = Literal["all", "some"]
"""Of the changes in a copy."""


class Event(JsonStruct, frozen=True, kw_only=True):
    """The fields of every event. Clients see the `METHOD`, and the tag as its `kind`."""

    METHOD: ClassVar[str]

    run: RunIds
    seq: int = written(0)
    time: str = written("")


class Fork(JsonStruct, frozen=True):
    """The root run that another one was forked from, and the first turn that they do not share."""

    run_id: str
    turn: int


class AgentBegin(Event, frozen=True, kw_only=True, tag_field="kind", tag="begin"):
    """A run begins. `model` is empty when the agent could not be loaded.

    `sandbox` is what keeps the commands of an agent from writing that may only read. `description`
    is what the caller calls the task in a few words; the agent itself never hears it. `isolation` is
    "inline" for an agent that wants a process of its own and has none: the run is recorded or replayed. It is "copy"
    for one that works in a copy of its folder, its own or that of a run above.
    `continues` is the completed run whose conversation goes on; `forked_from` the run whose first turns this one has.
    `workdir` is the folder in which it works, if that is not the workspace. `side` is the name of a side run, for
    which its caller does not wait. `definition` is the digest of the agent's definition, and `source` the path of its file.
    """

    METHOD = "axe/agent"

    task: str
    model: str
    parent_agent: str | None = None
    sandbox: str | None = None
    description: str | None = None
    isolation: str | None = None
    continues: str | None = None
    forked_from: Fork | None = None
    workdir: str | None = None
    side: str | None = None
    definition: str | None = None
    source: str | None = None


class Saved(JsonStruct, frozen=True):
    """The work that a resumed run need not do again: its own turns, tool calls, tokens and time.

    `cost` is in US dollars, None if it is not known.
    """

    turns: int = written(0)
    tool_calls: int = written(0)
    input_tokens: int = written(0)
    output_tokens: int = written(0)
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost: float | None = None
    duration_ms: int = written(0)


class AgentResume(Event, frozen=True, kw_only=True, tag_field="kind", tag="resume"):
    """A run goes on that had begun in a former process; `turn` is its next one."""

    METHOD = "axe/agent"

    task: str
    model: str
    turn: int
    saved: Saved
    parent_agent: str | None = None
    description: str | None = None
    workdir: str | None = None
    side: str | None = None


class AgentIdle(Event, frozen=True, kw_only=True, tag_field="kind", tag="idle"):
    """The model has no more calls, and the run waits for its `side_runs` to end, by name.

    The next event of the run ends the wait, unless it is one of messages that wait. `turn` is the turn that comes then.
    """

    METHOD = "axe/agent"

    turn: int
    side_runs: tuple[str, ...] = written(())


class AgentEnd(Event, frozen=True, kw_only=True, tag_field="kind", tag="end"):
    """A run has ended. Tokens, turns and tool calls are the run's own, without its children's.

    What was read from the provider's cache or written to it is a part of the input. `cost` is in US
    dollars, None if it is not known; `tree` is what the run used with all that it called, None if
    that is the same. The `reason` is "budget" when the run was ended because a budget was used up: its own (then it
    is `killed`), or that of a run above (then what it had is its result). `incomplete` is why the
    last answer is not whole, None if it is. `limit` is what was used up of its own budget. A `reason` "final" says that the run would end in the same way if it
    was resumed. `exit_code` is that of `axe-lsp run` for a failure, if it is not 1. `changes` is what has become of the changes in its copy, in words, None if there are none; `unapplied` says
    whether all of them or some are not in the folder.
    """

    METHOD = "axe/agent"

    status: Status
    duration_ms: int
    input_tokens: int = written(0)
    output_tokens: int = written(0)
    turns: int = written(0)
    tool_calls: int = written(0)
    content_length: int = written(0)
    error: str | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reason: str | None = None
    cost: float | None = None
    tree: Usage | None = None
    incomplete: Incomplete | None = None
    limit: BudgetLimit | None = None
    exit_code: int | None = None
    changes: str | None = None
    unapplied: Unapplied | None = None


class AgentPlace(Event, frozen=True, kw_only=True):
    """Where the tools of an agent work that has a copy of its folder, from now on.

    `place` is "here", or the address of another machine such as `ssh://build1`; "" while none has been found.
    `folder` is the copy there, and `ref` the commit that keeps what is not applied. `waiting` is what it waits
    for, "a machine" or "a slot": meanwhile the clock stands still. `reason` is why it is no longer where it was.
    """

    METHOD = "axe/place"

    place: str
    folder: str | None = None
    ref: str | None = None
    waiting: str | None = None
    reason: str | None = None


class TurnBegin(Event, frozen=True, kw_only=True, tag_field="kind", tag="begin"):
    """A request is being sent: how many messages, how many of them results it delivers."""

    METHOD = "axe/turn"

    turn: int
    messages: int
    pending_tool_calls: int


class TurnRetry(Event, frozen=True, kw_only=True, tag_field="kind", tag="retry"):
    """The request has failed for a moment and is sent again after a wait.

    `attempt` counts from 1 how often it is sent again, at most `max_attempts` times.
    """

    METHOD = "axe/turn"

    turn: int
    attempt: int
    max_attempts: int
    category: str
    message: str
    wait_ms: int


class TurnWait(Event, frozen=True, kw_only=True):
    """The request waits, since its provider takes no more at once or wants to be left alone.

    `wait_ms` is for how long, None if that depends on other requests.
    """

    METHOD = "axe/wait"

    turn: int
    provider: str
    wait_ms: int | None = None


class ContextShortened(Event, frozen=True, kw_only=True, tag_field="kind", tag="shortened"):
    """Before a request, old results of tools were shortened, since it was too long for its model.

    The figures are estimates, in tokens of the whole request.
    """

    METHOD = "axe/context"

    turn: int
    results: int
    tokens_before: int
    tokens_after: int


class CompactionBegin(Event, frozen=True, kw_only=True, tag_field="kind", tag="begin"):
    """Before a request, which was too long for its model, that is asked for a summary."""

    METHOD = "axe/context"

    turn: int
    tokens_before: int


class CompactionEnd(Event, frozen=True, kw_only=True, tag_field="kind", tag="end"):
    """The summary is there, and so many `messages` were replaced by it; or `error` says why it is not.

    Then nothing was replaced. `tokens_before` and `tokens_after` are estimates for the whole request;
    the other figures are what the summary has cost.
    """

    METHOD = "axe/context"

    turn: int
    tokens_before: int
    tokens_after: int
    messages: int
    summary: str
    input_tokens: int
    output_tokens: int
    duration_ms: int
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost: float | None = None
    error: str | None = None


def place_in_words(place: str, waiting: str | None, reason: str | None) -> str:
    """Return where the tools of an agent work, in words that follow its name; "" for the usual place."""
    if waiting:
        return f"waits for {waiting}{f' at {place}' if place else ''}"
    if place == "here":
        return ""
    return f"works at {place}{f', since {reason}' if reason else ''}"


def wait_reason(wait_ms: int | None) -> str:
    """Return why a request waits, in words that follow the provider's name."""
    if wait_ms is None:
        return "takes no more requests at once: waiting for others"
    return f"asked for a pause: waiting for {wait_ms / 1000:.1f} s"


class TurnEnd(Event, frozen=True, kw_only=True, tag_field="kind", tag="end"):
    """The provider has answered. Each of `tool_calls` is `{id, name, arguments}`.

    `incomplete` is why the answer is not whole, None if it is. `sources` are the pages and files that it cites.
    """

    METHOD = "axe/turn"

    turn: int
    stop_reason: str
    text: str
    tool_calls: tuple[Mapping[str, Any], ...]
    input_tokens: int
    output_tokens: int
    duration_ms: int
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost: float | None = None
    incomplete: Incomplete | None = None
    sources: tuple[Source, ...] = ()


class TextDelta(Event, frozen=True, kw_only=True):
    """A piece of the answer, from a provider that streams."""

    METHOD = "axe/text"

    turn: int
    delta: str


class ThoughtDelta(Event, frozen=True, kw_only=True):
    """A piece of what the model thinks before its answer, from a provider that shows it."""

    METHOD = "axe/thought"

    turn: int
    delta: str


class ToolBegin(Event, frozen=True, kw_only=True, tag_field="kind", tag="begin"):
    """A tool call begins."""

    METHOD = "axe/tool"

    turn: int
    call_id: str
    name: str
    arguments: Mapping[str, Any] = written({})


class ToolEnd(Event, frozen=True, kw_only=True, tag_field="kind", tag="end"):
    """A tool call has ended. `content` is cut at `MAX_CONTENT` characters."""

    METHOD = "axe/tool"
    MAX_CONTENT: ClassVar[int] = 20_000

    turn: int
    call_id: str
    name: str
    is_error: bool
    content: str
    duration_ms: int
    child_run_id: str | None = None


MessageMode = Literal["next", "after", "now"]
"""When a message is given: before the next request, when the run would end, or at once."""


class MessageQueued(Event, frozen=True, kw_only=True, tag_field="kind", tag="queued"):
    """The run has accepted a message. It is `from_` a "person", or from the agent of that name, which calls the run."""

    METHOD = "axe/message"

    message_id: str
    mode: MessageMode
    text: str
    from_: str = msgspec.field(name="from")


class MessageChanged(Event, frozen=True, kw_only=True, tag_field="kind", tag="changed"):
    """A message that waits has another `text` or another `mode`."""

    METHOD = "axe/message"

    message_id: str
    text: str | None = None
    mode: MessageMode | None = None


class MessageRemoved(Event, frozen=True, kw_only=True, tag_field="kind", tag="removed"):
    """A message that waited was taken back."""

    METHOD = "axe/message"

    message_id: str


class MessagesGiven(Event, frozen=True, kw_only=True, tag_field="kind", tag="given"):
    """The request of the `turn` gives answers of `side_runs`, by name, and messages.

    `text` is what was given, cut at `MAX_TEXT` characters.
    """

    METHOD = "axe/message"
    MAX_TEXT: ClassVar[int] = 20_000

    turn: int
    side_runs: tuple[str, ...] = written(())
    message_ids: tuple[str, ...] = written(())
    text: str = written("")


EventSink = Callable[[Event], None]
"""Takes an event and returns at once."""
