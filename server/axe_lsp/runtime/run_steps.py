"""The steps of runs as data. Writing them to the history imports this module and not `run_log.py`, which knows agents.

A run writes a step right before the event that reports the same, so both reach the disk together.
"""

from __future__ import annotations

from typing import Literal, Protocol

from axe_lsp.runtime.json_data import JsonStruct

StepKind = Literal[
    "order",
    "agent",
    "first",
    "room",
    "answer",
    "allow",
    "asked",
    "begun",
    "result",
    "side",
    "gave",
    "message",
    "saved",
    "left",
]
"""The kinds of steps.

| kind | written | data |
|---|---|---|
| `order`, of a root | a run begins | `hosting.protocol.Start` |
| `agent`, of a root | before the first request of a run with it; `call` is its digest | `Shared` |
| `first` | before a run's first request | `First` |
| `room` | the context was shortened or summed up | `Room` |
| `answer` | a provider has answered | `Response` |
| `allow`, of a root | a question is answered "for this run" | none; `call` names tool and subject |
| `asked` | a question is open, and again once it is not any more; `call` is its time | `Asked` |
| `begun` | before a call is executed that may change something | none |
| `result` | a call is over, or has started a side run | `ToolOutcome` |
| `side` | a side run has ended; turn and call are those of its start | `ToolOutcome` |
| `gave` | before a request that gives answers of side runs or messages | `Gave` |
| `message` | a message was accepted, changed or removed; `call` is its id | `QueuedMessage` |
| `saved` | before a tool changes a file | `resuming.saved_files.SavedFile` |
| `left` | a tool has changed a file | `resuming.saved_files.LeftFile` |
"""


class Step(JsonStruct, frozen=True):
    """One thing that a run has done. `data` is JSON without secrets; "" for none.

    `turn` counts from 1 and is 0 outside a turn. `call` is the id of a tool call in its turn's events.
    """

    root_run_id: str
    run_id: str
    kind: StepKind
    turn: int = 0
    call: str = ""
    data: str = ""


class StepSink(Protocol):
    """Takes the steps of runs to where they are kept."""

    def keep(self, step: Step) -> None:
        """Keep a step, together with the next event of its tree. Returns at once."""

    async def committed(self, root: str) -> None:
        """Wait until all steps of a tree so far are on the disk, or can't get there, but only for a moment."""
