"""The data of a question to a person before an agent changes something, and of its answers.

It goes from the process that makes runs to whoever can ask, so it knows nothing of how runs are made.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.json_data import JsonStruct
from axe_lsp.runtime.messages import Json


class Change(JsonStruct, frozen=True):
    """A whole file before and after; `before` is empty where there is no file yet."""

    path: str
    before: str
    after: str


class Question(JsonStruct, frozen=True):
    """A wish as a person is asked about it.

    `reason` is one line, `details` the command or the change that it is about, `change` the same
    for who can show two texts side by side. None holds anything that would make a terminal show
    something else than what is there.

    Calls of a tool with the same `subject` are answered together by `allowForRun`; `for_run` says
    in a few words what that is, for a button. Neither is there in questions about trust.
    """

    run: RunIds
    tool: str
    arguments: Mapping[str, Json]
    reason: str
    details: str
    change: Change | None = None
    subject: str | None = None
    for_run: str | None = None


TRUST = "trust"
"""Stands for the tool in the question whether an agent file may reach out of its workspace (`trust.py`).

"allow" is remembered there until the file changes, "allowForRun" is for this run.
"""

Decision = Literal["allow", "allowForRun", "deny"]
DECISIONS: tuple[Decision, ...] = ("allow", "allowForRun", "deny")


class Answer(JsonStruct, frozen=True):
    """The decision; the reason of a denial is for the model.

    `allowForRun` is for this tool with the same subject, in everything that belongs to the same
    root run: the same command in the same folder, changes of the same file, the same call.
    """

    decision: Decision
    why: str = ""


def denial(note: str) -> Answer:
    """That of a person, who may have said what to do instead."""
    return Answer("deny", f"the user said no: {note}" if note.strip() else "the user said no")


Ask = Callable[[Question], Awaitable[Answer]]
"""Asks a person. Cancelling it takes the question back."""

NOBODY = Answer(
    "deny", "it needs the user's approval, and nobody can be asked here; go on without it"
)


async def nobody(_: Question) -> Answer:
    """Stands for a person where there is none."""
    return NOBODY


def refusing(warn: Callable[[str], None], advice: str) -> Ask:
    """Nobody can be asked. When an agent first wants something, the user hears what can be done."""
    has_warned = False

    async def refuse(question: Question) -> Answer:
        nonlocal has_warned
        if question.tool == TRUST:  # The run ends, and says what can be done.
            return NOBODY
        if not has_warned:
            has_warned = True
            agent = quoted(question.run.agent)
            warn(
                f"agent {agent} wanted to use {question.tool}, which needs your approval: {advice}"
            )
        return NOBODY

    return refuse
