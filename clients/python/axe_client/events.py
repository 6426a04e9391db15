"""What happens in a run and in the runs below it. docs/protocol.md tells what each member means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from axe_client.members import read

Status = Literal["completed", "failed", "timeout", "cancelled", "killed"]
Incomplete = Literal[
    "length",
    "context_window",
    "content_filter",
    "refusal",
    "paused",
    "malformed_call",
    "interrupted",
]
"""Why an answer is not whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Which run it is about. `seq` counts up from 1 without gaps in the order of events.

    An event of a kind that this version does not know is an `Event` and nothing more.
    """

    run_id: str
    root_run_id: str
    agent: str
    depth: int
    seq: int
    time: str
    parent_run_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentBegin(Event):
    """An agent begins: the one that was asked for, or one that it calls.

    `continues` is the run whose conversation goes on. `forked_from` is the run whose turns are shared, as `runId`,
    and the first `turn` that is not. `workdir` is the folder in which it works, if that is not the workspace. `side` is
    the name of a side run, for which its caller does not wait. `definition` is a digest of what the agent's file means,
    and `source` its path.
    """

    task: str
    model: str
    parent_agent: str | None = None
    sandbox: str | None = None
    description: str | None = None
    isolation: str | None = None
    continues: str | None = None
    forked_from: Mapping[str, Any] | None = None
    workdir: str | None = None
    side: str | None = None
    definition: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentResume(Event):
    """An agent goes on that had begun in a former process; `turn` is its next one.

    `saved` is what it has come to and does not do again: turns, tool calls, tokens, cost, time.
    """

    task: str
    model: str
    turn: int
    saved: Mapping[str, Any]
    parent_agent: str | None = None
    description: str | None = None
    workdir: str | None = None
    side: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentIdle(Event):
    """The model has no more calls, and the agent waits for these side runs; `turn` is its next one."""

    turn: int
    side_runs: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEnd(Event):
    """An agent has ended. The figures are its own, without those that it called.

    `cost` is in US dollars; `tree` is what was used with all that it called, if that is more.
    `incomplete` is why its last answer is not whole, None if it is. `limit` is what was used up of its budget:
    "tokens", "cost", "turns", "toolCalls" or "time". `exit_code` is that of `axe-lsp run` for a failure, if it is
    not 1. `changes` is what has become of the changes in its copy, in
    words; `unapplied` is "all" or "some" if they are not in the folder.
    """

    status: Status
    duration_ms: int
    input_tokens: int
    output_tokens: int
    turns: int
    tool_calls: int
    content_length: int
    error: str | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reason: str | None = None
    cost: float | None = None
    tree: Mapping[str, Any] | None = None
    incomplete: Incomplete | None = None
    limit: str | None = None
    exit_code: int | None = None
    changes: str | None = None
    unapplied: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPlace(Event):
    """Where the tools of an agent work that has a copy of its folder: "here", or an address such as `ssh://build1`.

    `place` is "" while none is found; `waiting` is what it waits for. `folder` is the copy there, `ref` the commit that
    keeps what is not applied, and `reason` why it is no longer where it was.
    """

    place: str
    folder: str | None = None
    ref: str | None = None
    waiting: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBegin(Event):
    """The conversation so far is being sent to the model."""

    turn: int
    messages: int
    pending_tool_calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRetry(Event):
    """The request has failed for a moment, and is sent again after a wait."""

    turn: int
    attempt: int
    max_attempts: int
    category: str
    message: str
    wait_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnWait(Event):
    """The request waits: its provider takes no more at once, or wants to be left alone for `wait_ms`."""

    turn: int
    provider: str
    wait_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextShortened(Event):
    """Old results of tools were shortened, since the request was too long for its model."""

    turn: int
    results: int
    tokens_before: int
    tokens_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionBegin(Event):
    """The model is asked for a summary, since the request was too long for it."""

    turn: int
    tokens_before: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionEnd(Event):
    """The summary has replaced so many `messages`, or `error` says why there is none."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnd(Event):
    """The model has answered. Each of `tool_calls` has an `id`, a `name` and `arguments`.

    `incomplete` is why the answer is not whole, None if it is. `sources` are the pages and files that it cites, each
    with a `url`, a `title`, or both.
    """

    turn: int
    stop_reason: str
    text: str
    tool_calls: list[Mapping[str, Any]]
    input_tokens: int
    output_tokens: int
    duration_ms: int
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost: float | None = None
    incomplete: Incomplete | None = None
    sources: Sequence[Mapping[str, str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta(Event):
    """A piece of an answer, as it is written."""

    turn: int
    delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtDelta(Event):
    """A piece of what the model thinks, which is no part of the answer."""

    turn: int
    delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolBegin(Event):
    """A tool call begins."""

    turn: int
    call_id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnd(Event):
    """A tool call has ended."""

    turn: int
    call_id: str
    name: str
    is_error: bool
    content: str
    duration_ms: int
    child_run_id: str | None = None


MessageMode = Literal["next", "after", "now"]
"""When a message is given: before the next request, when the run would end, or at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageQueued(Event):
    """The run has accepted a message, `from_` a "person" or the agent of that name."""

    message_id: str
    mode: MessageMode
    text: str
    from_: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageChanged(Event):
    """A message that waits has another text or another mode."""

    message_id: str
    text: str | None = None
    mode: MessageMode | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRemoved(Event):
    """A message that waited was taken back."""

    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesGiven(Event):
    """The request of the `turn` gives answers of side runs, by name, and messages."""

    turn: int
    side_runs: Sequence[str]
    message_ids: Sequence[str]
    text: str


KINDS: Mapping[tuple[str, str | None], type[Event]] = {
    ("axe/agent", "begin"): AgentBegin,
    ("axe/agent", "resume"): AgentResume,
    ("axe/agent", "idle"): AgentIdle,
    ("axe/agent", "end"): AgentEnd,
    ("axe/turn", "begin"): TurnBegin,
    ("axe/turn", "retry"): TurnRetry,
    ("axe/turn", "end"): TurnEnd,
    ("axe/wait", None): TurnWait,
    ("axe/place", None): AgentPlace,
    ("axe/context", "shortened"): ContextShortened,
    ("axe/context", "begin"): CompactionBegin,
    ("axe/context", "end"): CompactionEnd,
    ("axe/text", None): TextDelta,
    ("axe/thought", None): ThoughtDelta,
    ("axe/tool", "begin"): ToolBegin,
    ("axe/tool", "end"): ToolEnd,
    ("axe/message", "queued"): MessageQueued,
    ("axe/message", "changed"): MessageChanged,
    ("axe/message", "removed"): MessageRemoved,
    ("axe/message", "given"): MessagesGiven,
}
"""The class of each notification, by its method and its `kind`."""


def read_event(method: str, params: Mapping[str, Any]) -> Event:
    """Return the event that a notification tells of."""
    return read(KINDS.get((method, params.get("kind")), Event), params)
