"""Recordings of runs: what was sent and what was answered. Data only; files are another matter."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Protocol

from msgspec import Struct

from axe_lsp.agentfile.schema.providers import ModelName
from axe_lsp.runtime.errors import ProviderErrorCategory
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.messages import Given, Message, Response, Tool, ToolCall, ToolResult


class Sent(Struct, frozen=True):
    """A message that a request added to the conversation: the task, or the result of a call."""

    role: str
    content: str
    call_id: str = ""
    is_error: bool = False


class RecordedError(Struct, frozen=True):
    """A request that failed."""

    category: ProviderErrorCategory
    message: str


class RecordedTurn(Struct, frozen=True):
    """A request and its answer. `sent` None means that any request will do.

    `given` None means that answers of side runs come at the end of their caller, all together.
    """

    answer: Response | RecordedError
    sent: tuple[Sent, ...] | None = None
    duration_ms: int = 0
    given: Given | None = None


class RecordedRun(Struct, frozen=True):
    """The requests and answers of one agent. `system` and `tools` None match everything."""

    agent: str
    model: str = ""
    depth: int = 0
    system: str | None = None
    tools: tuple[str, ...] | None = None
    turns: tuple[RecordedTurn, ...] = ()


class Recording(Struct, frozen=True):
    """A root run and the runs below it, in the order in which they began.

    A replay takes no time, unless the recording is `paced`: then it takes the recorded time.
    """

    runs: tuple[RecordedRun, ...]
    paced: bool = False


class RecordedTools(Protocol):
    """The tools of a recording, which stand in for those that would be executed."""

    def of_servers(self, run: RunIds, own: Collection[Tool]) -> tuple[str, ...]:
        """Return the names of the tools that a run had of MCP servers, beside its `own`."""

    def has_given(self, run: RunIds) -> bool:
        """Return whether the recording says which answers of side runs the requests of a run give."""

    def given(self, run: RunIds, turn: int) -> Given:
        """Return what the request of a turn gives."""

    def result(self, run: RunIds, turn: int, call: ToolCall) -> ToolResult:
        """Return the result of a call in a turn of a run, an error if the recording has none."""


def comparable_tools(offered: Iterable[Tool], recorded: Collection[str]) -> tuple[str, ...]:
    """Return the names of tools to compare with those of a recording.

    A tool that came with a later release, and that the agent has by a glob alone, makes no recording stale, and neither
    does one that only editors have.
    """
    return tuple(
        tool.name for tool in offered if not (tool.is_optional and tool.name not in recorded)
    )


def recorded_of(provider: object, model: ModelName) -> RecordedTools | None:
    """Return the recording from which a provider answers for a model, None if it answers from none."""
    find = getattr(provider, "recorded", None)
    recorded: RecordedTools | None = find(model) if find is not None else None
    return recorded


def news(messages: tuple[Message, ...]) -> tuple[Sent, ...]:
    """Return the messages of a request since the model's last answer."""
    last = max((i for i, each in enumerate(messages) if each.role == "assistant"), default=-1)
    return tuple(_sent(messages[last + 1 :]))


def _sent(messages: tuple[Message, ...]) -> Iterator[Sent]:
    for message in messages:
        if message.role == "user" and (message.content or not message.given):
            yield Sent("user", message.content)
        for result in message.tool_results:
            yield Sent("tool", result.content, result.call_id, result.is_error)
        for text in message.given:
            yield Sent("user", text)
