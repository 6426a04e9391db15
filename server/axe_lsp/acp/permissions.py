"""Questions put to the person at the client: `session/request_permission` and `elicitation/create`.

Runs ask them, and an agent with `[input]` whose message does not stand for one: its input comes from a form.

What is allowed for a session is known to this process only. It ends with the session or with the process.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from axe_lsp.acp.client_connection import Connection, RequestError
from axe_lsp.acp.update_queue import Update
from axe_lsp.acp.updates import Updates
from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.runtime.safety.questions import (
    ASK_USER,
    TRUST,
    Answer,
    Question,
    denial,
    no_answer,
    reply,
)
from axe_lsp.runtime.structured.schemas import check_of, object_schema
from axe_lsp.runtime.structured.typed_input import input_meant, object_in

_log = logging.getLogger(__name__)

_Subject = tuple[str, str]
"""The tool, and what its call is about."""

_ANSWER = "answer"
"""The only property of the form for a question of a model."""

_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "string": ("minLength", "maxLength", "pattern", "format", "default", "enum"),
    "number": ("minimum", "maximum", "default"),
    "integer": ("minimum", "maximum", "default"),
    "boolean": ("default",),
}
"""The keywords of a property's schema that a form of the protocol has, by type."""

_FORMATS = ("email", "uri", "date", "date-time")


class InputNeededError(Exception):
    """The message is no input. The text says what is wrong with it; `schema` is that of the input."""

    def __init__(self, complaint: str, schema: Mapping[str, Any]) -> None:
        super().__init__(complaint)
        self.schema = schema


def require_input(definition: AgentDefinition, task: str, given: Mapping[str, Any] | None) -> None:
    """Check that an agent gets the input that it needs. Blocks. Raises InputNeededError."""
    if definition.input is None:
        return
    schema = object_schema(definition.input)
    check = check_of(schema, "input")
    if given is None and input_meant(task, schema, check) is not None:
        return
    complaint = check(given if given is not None else object_in(task) or {})
    if complaint:
        raise InputNeededError(complaint, schema)


class Permissions:
    """The decisions of a session. `has_forms` is whether the client shows forms."""

    def __init__(self, client: Connection, *, has_forms: bool) -> None:
        self._client = client
        self._has_forms = has_forms
        self._always: dict[_Subject, Answer] = {}
        self.is_cancelled = False
        """Whether the client has said instead of an answer that it cancels the message.

        It may say so before `session/cancel` arrives.
        """

    async def ask(self, question: Question, updates: Updates) -> Answer:
        """Return the answer of the person. To cancel this takes the question back."""
        if question.tool == ASK_USER:
            return await self._ask_user(question, updates)
        call = updates.call_of(question)
        subject = (question.tool, question.subject or "")
        answer = self._always.get(subject) if question.subject else None
        if answer is None:
            chosen = await self._chosen(question, updates, call.session, updates.described(call))
            answer = _ANSWERS.get(chosen, _REFUSED)
            if question.tool == TRUST:
                answer = _ANSWERS_ABOUT_TRUST.get(chosen, _REFUSED)
            elif question.subject and chosen in ("allow_always", "reject_always"):
                self._always[subject] = answer
        if question.call_id is None:
            updates.end_call(call, is_error=answer.decision == "deny")
        elif answer.decision != "deny":
            updates.begin_work(call)
        return answer

    async def fill_in(self, needed: InputNeededError, session: str) -> Mapping[str, Any] | None:
        """Return the input of an agent from a form; None without one. To cancel this takes the form back."""
        form = _form_of(needed.schema) if self._has_forms else None
        if form is None:
            return None
        return await self._filled_in(session, f"The agent takes an input: {needed}.", form)

    async def _filled_in(
        self, session: str, message: str, form: dict[str, Any]
    ) -> Mapping[str, Any] | None:
        """Return the values of the filled-in form; None if it was not filled in."""
        params = {"sessionId": session, "mode": "form", "message": message, "requestedSchema": form}
        try:
            result = await self._client.request("elicitation/create", params)
        except RequestError as error:
            _log.warning("the client did not ask its user: %s", error)
            return None
        if not isinstance(result, dict) or result.get("action") != "accept":
            return None
        content = result.get("content")
        return content if isinstance(content, dict) else None

    async def _chosen(
        self, question: Question, updates: Updates, session: str, call: Update
    ) -> str:
        """Return the option that was chosen; "" for none."""
        if "content" not in call:
            text = "\n\n".join(filter(None, (question.reason, question.details)))
            call["content"] = [{"type": "content", "content": {"type": "text", "text": text}}]
        updates.queue.flush()
        options = _OPTIONS_OF_TRUST if question.tool == TRUST else _options(question)
        updates.waits(question, is_open=True)
        try:
            result = await self._client.request(
                "session/request_permission",
                {"sessionId": session, "toolCall": call, "options": options},
            )
        except RequestError as error:
            _log.warning("the client did not ask its user: %s", error)
            return ""
        finally:
            updates.waits(question, is_open=False)
        outcome = result.get("outcome") if isinstance(result, dict) else None
        chosen = outcome.get("optionId") if isinstance(outcome, dict) else None
        if isinstance(outcome, dict) and outcome.get("outcome") == "cancelled":
            self.is_cancelled = True
        return chosen if isinstance(chosen, str) else ""

    async def _ask_user(self, question: Question, updates: Updates) -> Answer:
        if not self._has_forms:
            return no_answer(question)
        updates.queue.flush()
        message = f"{question.reason}:\n{question.details}"
        content = await self._filled_in(updates.session, message, _form(question))
        answer = content.get(_ANSWER) if content is not None else None
        return reply(answer if isinstance(answer, str) else "")


_REFUSED = denial("")

_ANSWERS = {
    "allow_once": Answer("allow"),
    "allow_always": Answer("allow"),
    "reject_always": Answer("deny", "the user said no, also to further calls like this one"),
}
"""The answers by the chosen option, whose id is its kind."""

_ANSWERS_ABOUT_TRUST = {"allow_once": Answer("allowForRun"), "allow_always": Answer("allow")}


def _options(question: Question) -> list[Update]:
    if question.is_protected:
        return [_option("allow_once", "Allow"), _option("reject_once", "Deny")]
    what = question.for_run or "this call"
    return [
        _option("allow_once", "Allow"),
        _option("allow_always", f"Allow {what} in this session"),
        _option("reject_once", "Deny"),
        _option("reject_always", f"Deny {what} in this session"),
    ]


def _option(kind: str, name: str) -> Update:
    return {"optionId": kind, "name": name, "kind": kind}


_OPTIONS_OF_TRUST = [
    _option("allow_once", "Allow for this message"),
    _option("allow_always", "Allow until the agent file changes"),
    _option("reject_once", "Deny"),
]


def _form(question: Question) -> dict[str, Any]:
    answer: dict[str, Any] = {"type": "string", "title": "Answer"}
    if question.choices:
        answer["description"] = "One of: " + "; ".join(question.choices)
    return {"type": "object", "properties": {_ANSWER: answer}, "required": [_ANSWER]}


# -- forms for inputs


def _form_of(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the form for an object; None if a member that is required has no place in a form."""
    properties = {
        name: field
        for name, each in schema.get("properties", {}).items()
        if (field := _field(each)) is not None
    }
    required = list(schema.get("required", ()))
    if not properties or not properties.keys() >= {*required}:
        return None
    return {"type": "object", "properties": properties, "required": required}


def _field(schema: Any) -> dict[str, Any] | None:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    if not isinstance(kind, str) or kind not in _MEMBERS:
        return None
    members = {name: schema[name] for name in _MEMBERS[kind] if name in schema}
    if members.get("format") not in (None, *_FORMATS):
        del members["format"]
    if not all(isinstance(each, str) for each in members.get("enum", ())):
        return None
    shown = {name: schema[name] for name in ("title", "description") if name in schema}
    return {"type": kind, **shown, **members}
