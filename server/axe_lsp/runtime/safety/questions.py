"""The data of questions to the user (approvals and `ask_user`), and of answers.

It is sent from the process that executes runs to the process that can ask, so it knows nothing about runs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

from msgspec.structs import replace

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.json_data import JsonStruct
from axe_lsp.runtime.messages import Json
from axe_lsp.runtime.plain_text import escaped, escaped_lines


class Change(JsonStruct, frozen=True):
    """A whole file before and after; `before` is empty where there is no file yet."""

    path: str
    before: str
    after: str


class Question(JsonStruct, frozen=True):
    """An approval request as a person is asked about it.

    `reason` is one line, `details` the command or the change that it is about, `change` the same
    for who can show two texts side by side. None holds anything that would make a terminal show
    something else than what is there.

    `call_id` is that of the tool call in the events of the run; questions about trust have none.

    Calls of a tool with the same `subject` are answered together by `allowForRun`; `for_run` says
    in a few words what that is, for a button. Questions about trust have a `subject` only, those of
    `ask_user` and those about protected places neither. Only those of `ask_user` have `choices`.

    `side` is the name of the run, if it is a side run.

    `rule` is the narrowest rule of the setting `tools.allow` that allows the call, if there is one. Those for MCP
    servers have their address, which is not shown.
    """

    run: RunIds
    tool: str
    arguments: Mapping[str, Json]
    reason: str
    details: str
    change: Change | None = None
    subject: str | None = None
    for_run: str | None = None
    choices: tuple[str, ...] | None = None
    call_id: str | None = None
    rule: str | None = None
    side: str | None = None

    @property
    def is_protected(self) -> bool:
        """Whether it is about a change of a protected place, which no other answer and no `--yes` allows."""
        return self.subject is None and self.tool not in (TRUST, ASK_USER)


TRUST = "trust"
"""Stands for the tool in the question whether an agent file may reach out of its workspace (`trust.py`).

"allow" is remembered there until that changes, "allowForRun" is for this run.
"""

ASK_USER = "ask_user"
"""The tool whose question is the model's own: its text is in `details`, the answer's in `text`."""


def question_of_model(run: RunIds, call_id: str, text: str, choices: tuple[str, ...]) -> Question:
    """Return a question of `ask_user` as a person is shown it. None of its texts holds a secret."""
    return Question(
        run=run,
        tool=ASK_USER,
        arguments={},
        reason=f"agent {quoted(escaped(run.agent))} asks",
        details=escaped_lines(text),
        choices=tuple(map(escaped, choices)) or None,
        call_id=call_id,
    )


def question_of_server(run: RunIds, server: str, text: str, choices: tuple[str, ...]) -> Question:
    """Return a question of one of the agent's MCP servers, which is asked and answered as those of `ask_user` are."""
    question = question_of_model(run, "", text, choices)
    reason = f"MCP server {quoted(escaped(server))} of agent {quoted(escaped(run.agent))} asks"
    return replace(question, reason=reason, call_id=None)


Decision = Literal["allow", "allowForRun", "deny"]
DECISIONS: tuple[Decision, ...] = ("allow", "allowForRun", "deny")


class Answer(JsonStruct, frozen=True):
    """The decision; the reason of a denial is for the model. `text` answers a question of `ask_user`.

    `allowForRun` is for this tool with the same subject, in everything that belongs to the same
    root run: the same command in the same folder, changes of the same file, the same call.
    """

    decision: Decision
    why: str = ""
    text: str = ""


def reply(text: str) -> Answer:
    """Return the user's answer to a question of `ask_user`; an empty text is not an answer."""
    return Answer("allow", text=text) if text.strip() else DISMISSED


SAID_NO = "the user said no"
"""The beginning of the reason of a denial if the user has seen the question."""


def denial(note: str) -> Answer:
    """Return the user's denial, with an instruction if they gave one."""
    return Answer("deny", f"{SAID_NO}: {note}" if note.strip() else SAID_NO)


Ask = Callable[[Question], Awaitable[Answer]]
"""Asks a person. Cancelling it takes the question back."""

NOBODY = Answer(
    "deny", "it needs the user's approval, and nobody can be asked here; go on without it"
)


DISMISSED = Answer("deny", "the user dismissed the question")

NOBODY_ANSWERS = Answer(
    "deny", "nobody can be asked here; decide yourself and say what you assumed"
)


def no_answer(question: Question) -> Answer:
    """Return the answer where no user can be asked."""
    if question.is_protected:
        return protected_denial(question)
    return NOBODY_ANSWERS if question.tool == ASK_USER else NOBODY


async def nobody(question: Question) -> Answer:
    """Answer as where no person can be asked."""
    return no_answer(question)


def protected_denial(question: Question) -> Answer:
    """Return the denial of a change of a protected place where no user can be asked, with the rule that allows it."""
    remedy = (
        f"only the user, or their rule `{question.rule}`, allows it"
        if question.rule
        else ("only the user allows it")
    )
    return Answer("deny", f"it is a protected place, and {remedy}; go on without it")


MOST_WARNINGS = 10
"""Denied calls of a run of which the user hears, each with another rule."""


def refusing(
    warn: Callable[[str], None],
    advice: str,
    allow_in_words: Callable[[str], str] | None = None,
) -> Ask:
    """Return an `Ask` that refuses, since nobody can be asked, and warns with `advice` at the first question.

    It warns of each change of a protected place. With `allow_in_words`, which says how a rule is given, or "" for one
    that is not to be copied, it warns of each call that another rule would allow.
    """
    warned: set[str] = set()
    in_words = allow_in_words or "the rule `{}` allows it".format

    async def refuse(question: Question) -> Answer:
        if question.tool in (TRUST, ASK_USER):  # The run or the model says what is missing.
            return no_answer(question)
        agent, allows = quoted(question.run.agent), in_words(question.rule) if question.rule else ""
        if question.is_protected:
            topic = question.rule or question.reason
            wanted = (
                "was not allowed to change a protected place: "
                f"{allows or 'no rule allows it'} ({question.reason})"
            )
        else:
            topic = allows if allow_in_words else ""
            remedy = f"{topic}; {advice}" if topic else advice
            wanted = f"wanted to use {question.tool}, which needs your approval: {remedy}"
        if topic not in warned and len(warned) < MOST_WARNINGS:
            warned.add(topic)
            warn(f"agent {agent} {wanted}")
        return protected_denial(question) if question.is_protected else NOBODY

    return refuse
