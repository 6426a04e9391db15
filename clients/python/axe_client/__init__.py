"""Runs axe agents from Python, and follows what they do as it happens.

    async with axe_client.start() as client, client.run("reviewer", "Review the change") as run:
        async for event in run:
            print(event)
        print((await run.result()).content)

Needs the program `axe-lsp`, or the address of a server, and nothing but the standard library.
"""

from axe_client.client import (
    Answer,
    AnswerInquiry,
    Approve,
    Client,
    Decision,
    Inquiry,
    Question,
    Run,
    connect,
    start,
)
from axe_client.connection import ServerError
from axe_client.events import (
    AgentBegin,
    AgentEnd,
    AgentIdle,
    AgentPlace,
    AgentResume,
    CompactionBegin,
    CompactionEnd,
    ContextShortened,
    Event,
    Incomplete,
    MessageChanged,
    MessageMode,
    MessageQueued,
    MessageRemoved,
    MessagesGiven,
    TextDelta,
    ThoughtDelta,
    ToolBegin,
    ToolEnd,
    TurnBegin,
    TurnEnd,
    TurnRetry,
    TurnWait,
)
from axe_client.results import (
    ChangedFile,
    LeftFile,
    RunCancelledError,
    RunChanges,
    RunFailedError,
    RunResult,
    UndoResult,
)

__all__ = [
    "AgentBegin",
    "AgentEnd",
    "AgentIdle",
    "AgentPlace",
    "AgentResume",
    "Answer",
    "AnswerInquiry",
    "Approve",
    "ChangedFile",
    "Client",
    "CompactionBegin",
    "CompactionEnd",
    "ContextShortened",
    "Decision",
    "Event",
    "Incomplete",
    "Inquiry",
    "LeftFile",
    "MessageChanged",
    "MessageMode",
    "MessageQueued",
    "MessageRemoved",
    "MessagesGiven",
    "Question",
    "Run",
    "RunCancelledError",
    "RunChanges",
    "RunFailedError",
    "RunResult",
    "ServerError",
    "TextDelta",
    "ThoughtDelta",
    "ToolBegin",
    "ToolEnd",
    "TurnBegin",
    "TurnEnd",
    "TurnRetry",
    "TurnWait",
    "UndoResult",
    "connect",
    "start",
]
