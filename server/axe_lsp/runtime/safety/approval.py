"""Decisions whether an agent may change something. Other modules ask the user."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import anyio
from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.messages import Json
from axe_lsp.runtime.plain_text import digest_of, escaped, escaped_lines
from axe_lsp.runtime.safety.allowances import (
    CheckedCall,
    allowing_rule,
    is_for_everything,
    names_command,
    narrowest_rule,
    near_miss,
)
from axe_lsp.runtime.safety.protected_places import ChangedFile
from axe_lsp.runtime.safety.questions import NOBODY, SAID_NO, Answer, Ask, Change, Question


class Rehearsal(Struct, frozen=True):
    """The effect of a call: `purpose` completes "the agent wants to", `details` show it exactly.

    `change` is the file that it is about, unless that is too long to be sent. `subject` is what
    "for this run" allows once more, `for_run` the same in a few words.
    """

    purpose: str
    details: str = ""
    change: Change | None = None
    subject: str = ""
    for_run: str = "this call"

    def told(self, as_shown: Callable[[str], str]) -> Rehearsal:
        """Return the same with each text as it is shown."""
        change = self.change and Change(
            as_shown(self.change.path), as_shown(self.change.before), as_shown(self.change.after)
        )
        return Rehearsal(
            as_shown(self.purpose),
            as_shown(self.details),
            change,
            as_shown(self.subject),
            self.for_run,
        )


async def nothing_in_the_way() -> str:
    """Return that a rule applies wherever it matches."""
    return ""


class ApprovalRequest(Struct, frozen=True):
    """A call that needs approval before it is executed. Its arguments contain no secrets.

    `address` is the address of the MCP server that is started, or whose tool is called, as in its agent file:
    for rules, and never shown. `call_id` is the id of the call in events. `rehearse` computes the effect of the
    call without executing it; it raises what the call would raise. If a tool `is_changed`, rules that name its
    server do not apply to it. `on_agreed` is called if the user was asked and has agreed. `file` is the file that
    the call changes, `folder` that of a command, and `obstacle` returns why no rule for single commands applies there,
    or "".
    """

    run: RunIds
    tool: str
    arguments: Mapping[str, Json]
    rehearse: Callable[[], Awaitable[Rehearsal]]
    address: str = ""
    call_id: str | None = None
    is_changed: bool = False
    side: str | None = None
    on_agreed: Callable[[], object] = bool
    file: ChangedFile | None = None
    folder: Path | None = None
    obstacle: Callable[[], Awaitable[str]] = nothing_in_the_way

    @property
    def checked(self) -> CheckedCall:
        """The call as rules see it."""
        return CheckedCall(self.tool, self.arguments, self.address, self.file, self.folder)


Approve = Callable[[ApprovalRequest], Awaitable[str]]
"""Decides: "" if the call may be executed, else the reason, which the model gets."""


async def nobody_to_ask(_: ApprovalRequest) -> str:
    """Return the decision where no user can be asked."""
    return NOBODY.why


async def allowed(_: ApprovalRequest) -> str:
    """Return the decision of a user who has agreed to everything beforehand."""
    return ""


_Subject = tuple[str, str, str | None]
"""The root run, the tool, and what its call is about."""


_AGREED_BEFORE = Answer("allow")
"""Nobody was asked: "for this run" was the answer to another question."""

_MOVED = "the file changed its place while the user was asked; call the tool again"


class Approval:
    """Decides for runs by what was allowed beforehand, and asks about the rest.

    It is an `Approve`. Questions may be open at the same time; when one of them is answered with
    "for this run", those with the same subject are taken back, and `on_allowed` hears of it.
    """

    def __init__(
        self,
        ask: Ask,
        allowances: tuple[str, ...] = (),
        *,
        on_allowed: Callable[[Question], object] = bool,
    ) -> None:
        self._ask = ask
        self.allowances = allowances
        self._on_allowed = on_allowed
        self._for_run: set[_Subject] = set()
        self._open: dict[_Subject, set[anyio.CancelScope]] = {}

    async def __call__(self, request: ApprovalRequest) -> str:
        """Decide about a request."""
        rules = self.allowances
        if request.is_changed:
            rules = tuple(each for each in rules if is_for_everything(each))
        rule, remark = allowing_rule(rules, request.checked), ""
        if rule is None:
            remark = near_miss(rules, request.checked)
        elif names_command(rule):
            remark = await request.obstacle()
        if rule is not None and not remark:
            return ""
        rehearsal = await request.rehearse()
        answer = await self.decide(_question(request, rehearsal, remark))
        if answer.decision == "deny":
            return answer.why or SAID_NO
        # A link may have been turned round while the question was open.
        if (await request.rehearse()).subject != rehearsal.subject:
            return _MOVED
        if answer is not _AGREED_BEFORE:
            request.on_agreed()
        return ""

    def allow_for_run(self, root: str, tool: str, subject: str) -> None:
        """Allow a root run once more what it was allowed in a former process."""
        self._for_run.add((root, tool, subject))

    async def decide(self, question: Question) -> Answer:
        """Ask, unless it was answered with another question."""
        if (
            question.subject is None
        ):  # Of `ask_user`, or about a protected place: never answered with another one.
            return await self._ask(question)
        subject = (question.run.root_run_id, question.tool, question.subject)
        if subject in self._for_run:  # Another question was answered meanwhile.
            return _AGREED_BEFORE
        with anyio.CancelScope() as scope:
            waiting = self._open.setdefault(subject, set())
            waiting.add(scope)
            try:
                answer = await self._ask(question)
            finally:
                waiting.discard(scope)
            return self._take(answer, subject, question)
        return _AGREED_BEFORE  # It was answered with another one.

    def _take(self, answer: Answer, subject: _Subject, question: Question) -> Answer:
        if answer.decision == "allowForRun":
            self._for_run.add(subject)
            self._on_allowed(question)
            for scope in self._open[subject]:
                scope.cancel()
        return answer


def _question(request: ApprovalRequest, rehearsal: Rehearsal, remark: str) -> Question:
    shown = rehearsal.told(escaped_lines)
    purpose = shown.purpose.replace("\n", " ")
    call = request.checked
    # The address of a server may have a password, and is never shown.
    rule = "" if request.address else narrowest_rule(call)
    if call.is_protected:
        remark = "a protected place, which is asked about each time"
    question = Question(
        run=request.run,
        tool=request.tool,
        arguments=request.arguments,
        reason=f"agent {quoted(escaped(request.run.agent))} wants to {purpose}"
        + (f" ({escaped(remark)})" if remark else ""),
        details=shown.details,
        change=shown.change,
        call_id=request.call_id,
        rule=escaped(rule) if rule and escaped(rule) == rule else None,
    )
    if call.is_protected:
        return question
    subject = digest_of(rehearsal.subject or f"{rehearsal.purpose}\n{rehearsal.details}")
    return replace(question, subject=subject, for_run=rehearsal.for_run)
