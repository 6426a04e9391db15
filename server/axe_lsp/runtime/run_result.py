"""The result of one run of one agent, as plain data. Errors carry it, too, so it imports no agents."""

from __future__ import annotations

from axe_lsp.runtime.events import Status, Unapplied
from axe_lsp.runtime.incomplete import Incomplete
from axe_lsp.runtime.json_data import Json, JsonStruct, written
from axe_lsp.runtime.sources import Source
from axe_lsp.runtime.usage import BudgetUse, Usage


class Handover(JsonStruct, frozen=True):
    """The state of the changes in the copy of an agent, for its caller.

    `unapplied` says whether all of them or some are not in the folder: then they are kept in a commit.
    """

    text: str
    is_error: bool = written(False)
    unapplied: Unapplied | None = None

    @property
    def outcome(self) -> str:
        """The same text for a person."""
        return self.text.removeprefix("Error: ")


class RunResult(JsonStruct, frozen=True):
    """The result of a run. Tokens, turns and tool calls are its own, without its children's.

    What was read from the provider's cache or written to it is a part of the input.

    `model` is what the provider said it used; empty if it said nothing. `cost` is in US dollars, None
    if it is not known; `tree` is what was used with all that the run called, None if that is the
    same. `refused` is whether the answer reads as if the model would not do what it was told. `retry_attempts` is how
    many requests were sent again because they had failed for a moment.
    `incomplete` is why the last answer is not whole, None if it is.
    `output` is the value of `content` where the agent's `[output]` says what that must be. `handover` is
    for an agent that was called, has worked in a copy, and has changed something. `sources` are the pages and
    files that the last answer cites.
    """

    run_id: str
    agent: str
    status: Status
    model: str
    content: str
    stop_reason: str
    input_tokens: int
    output_tokens: int
    turns: int
    tool_calls: int
    duration_ms: int
    retry_attempts: int = written(0)
    output: Json = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    budget: BudgetUse | None = None
    refused: bool = written(False)
    cost: float | None = None
    tree: Usage | None = None
    incomplete: Incomplete | None = None
    handover: Handover | None = None
    sources: tuple[Source, ...] = ()
