"""A call of a tool: a run, what it reports, and the questions that it asks.

Clients of 2026-07-28 get a question as the result of their call, and call again with the answer; the run waits
meanwhile. Older clients are asked by a request of the server.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    TextContent,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from axe_lsp.hosting.protocol import Start, Workplace
from axe_lsp.hosting.supervisor.orders import Run
from axe_lsp.hosting.supervisor.supervisor import Runs
from axe_lsp.mcp_server.agent_tools import AgentTool
from axe_lsp.mcp_server.progress_reports import Progress
from axe_lsp.runtime.children.delegation import failure_text, user_message
from axe_lsp.runtime.errors import RunError
from axe_lsp.runtime.files.user_config import usable_config
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.runs import RunRequest, new_run_id
from axe_lsp.runtime.safety.questions import (
    ASK_USER,
    DECISIONS,
    TRUST,
    Answer,
    Question,
    denial,
    no_answer,
    reply,
)
from axe_lsp.runtime.sources import sources_text
from axe_lsp.runtime.structured.arguments import fit_arguments
from axe_lsp.settings import Settings
from axe_lsp.tasks import Tasks

Context = ServerRequestContext[Any, Any]
Approve = Literal["ask", "deny", "allow"]

_INVALID_PARAMS = -32602

_LONGEST_TEXT = 100_000
"""Characters of a result as text."""

_PATIENCE = 600.0
"""Seconds for which a run waits until its client calls again with the answer to a question."""

_MOST_WAITING = 100
"""Runs that wait in this way. The one that has waited longest is stopped for a further one."""

_DENIED = Answer("deny", "axe-lsp mcp was started with --approve deny")
_UNASKABLE = Answer(
    "deny", "this MCP client can't ask its user; the server can be started with --approve allow"
)


class Calls:
    """All calls of a server. `max_parallel` runs are at work at once; further ones wait.

    One whose client has a question to answer is not at work: the client may never come back.
    """

    def __init__(
        self, approve: Approve, max_parallel: int, *, trusted: bool, allow: tuple[str, ...] = ()
    ) -> None:
        self._runs = Runs()
        self._approve = approve
        self._max_parallel = max_parallel
        self._trusted = trusted
        self._allow = allow
        self._waiting: dict[str, _Call] = {}
        self._tasks = Tasks()

    def _rules(self) -> tuple[str, ...]:
        """Return the rules of the command line and of the user's config.toml."""
        if self._approve == "deny":
            return self._allow
        return (*self._allow, *usable_config(os.environ).allow)

    async def close(self) -> None:
        """Stop all runs."""
        await self._tasks.stop(within=1.0)
        await self._runs.close()

    async def answer(
        self, tool: AgentTool, params: CallToolRequestParams, places: Any, context: Context
    ) -> CallToolResult | InputRequiredResult:
        """Call an agent, or go on with a call that has asked something. Raises MCPError."""
        if params.request_state is not None:
            call = self._take(params.request_state, tool)
            responses = params.input_responses or {}
            if _KEY not in responses and call.question is not None and not call.ended.done():
                return self._ask(call, call.question)
            call.take_answer(responses)
        else:
            arguments = fit_arguments(params.arguments or {}, tool.input)
            complaint = await asyncio.to_thread(tool.check, arguments)
            if complaint:
                return _result(f"{tool.name} error: {complaint}", is_error=True)
            call = self._begin(tool, arguments, places, context)
        try:
            return await self._news_of(call, context)
        except asyncio.CancelledError:
            self._runs.cancel(call.run.id)
            with suppress(asyncio.CancelledError, RunError):
                await asyncio.wait_for(asyncio.shield(call.ended), 1.0)
            raise

    def _begin(
        self, tool: AgentTool, arguments: Mapping[str, Any], places: Any, context: Context
    ) -> _Call:
        request = (
            RunRequest(tool.name, input=arguments)
            if tool.is_typed
            else RunRequest(tool.name, _task(arguments))
        )
        is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
        call = _Call(tool, is_modern=is_modern)
        capabilities = context.session.client_capabilities
        can_ask = capabilities is not None and capabilities.elicitation is not None

        async def ask(question: Question) -> Answer:
            if self._approve == "deny":
                return no_answer(question) if question.tool == ASK_USER else _DENIED
            if not can_ask:
                return no_answer(question) if question.tool == ASK_USER else _UNASKABLE
            if is_modern:
                return await call.ask(question)
            return await _ask_older(question, context)

        start = Start(
            new_run_id(),
            request,
            Workplace(str(tool.workspace), places=places),
            keep_days=Settings().history_keep_days,
            allow=("*",) if self._approve == "allow" else self._rules(),
            trusted=self._trusted,
        )
        call.run = self._runs.start(
            start,
            ask=ask,
            client=self,
            limit=lambda: self._max_parallel + len(self._waiting),
        )
        self._runs.subscribe(call.progress.hear, call.run.id)
        call.ended = self._tasks.start(call.run.result(), name=f"run {call.run.id}")
        return call

    async def _news_of(self, call: _Call, context: Context) -> CallToolResult | InputRequiredResult:
        """Return the result of a call, or the next question of its run."""
        enough: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        reporting = self._tasks.start_unattended(
            call.progress.tell(context.session.report_progress, enough), name="progress"
        )
        asked = asyncio.ensure_future(call.questions.get())
        try:
            await asyncio.wait({call.ended, asked}, return_when=asyncio.FIRST_COMPLETED)
            enough.set_result(None)
            await asyncio.wait({reporting})
        finally:
            reporting.cancel()
            if not asked.done():
                asked.cancel()
        if call.ended.done():
            return _outcome(call)
        question, call.answered = asked.result()
        return self._ask(call, question)

    def _ask(self, call: _Call, question: Question) -> InputRequiredResult:
        """Return the question as the result of a call, which goes on with the answer."""
        call.question = question
        state = secrets.token_urlsafe(32)
        self._waiting[state] = call
        if len(self._waiting) > _MOST_WAITING:
            self._give_up(next(iter(self._waiting)))
        self._runs.admit()
        asyncio.get_running_loop().call_later(_PATIENCE, self._give_up, state)
        request = ElicitRequest(params=_form(question))
        return InputRequiredResult(input_requests={_KEY: request}, request_state=state)

    def _take(self, state: str, tool: AgentTool) -> _Call:
        """Return the call that waits for an answer. What stands for it can't be guessed, and is good for one question."""
        call = self._waiting.get(state)
        if call is None or call.tool.name != tool.name:
            raise MCPError(
                _INVALID_PARAMS, "requestState is not one of this server, or was used before"
            )
        del self._waiting[state]
        return call

    def _give_up(self, state: str) -> None:
        """Cancel a call whose question nobody has answered."""
        call = self._waiting.pop(state, None)
        if call is not None:
            self._runs.cancel(call.run.id)


_KEY = "decision"
"""The question in the result of a call, and the property of its form."""


class _Call:
    """A call that is at work."""

    run: Run
    ended: asyncio.Task[RunResult]

    def __init__(self, tool: AgentTool, *, is_modern: bool) -> None:
        self.tool = tool
        self.is_modern = is_modern
        self.questions: asyncio.Queue[tuple[Question, asyncio.Future[Answer]]] = asyncio.Queue()
        self.answered: asyncio.Future[Answer] | None = None
        self.question: Question | None = None
        self.progress = Progress()

    async def ask(self, question: Question) -> Answer:
        """Have the client asked, by the result of its call."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.questions.put_nowait((question, answer))
        return await answer

    def take_answer(self, responses: Mapping[str, Any]) -> None:
        """Take the answer of the client. What is no answer is a denial."""
        response = responses.get(_KEY)
        if self.answered is not None and not self.answered.done() and self.question is not None:
            given = response if isinstance(response, ElicitResult) else None
            self.answered.set_result(_decision(self.question, given))


def _task(arguments: Mapping[str, Any]) -> str:
    task, context = str(arguments["task"]), str(arguments.get("context") or "")
    return user_message(task, context) if context.strip() else task


def _outcome(call: _Call) -> CallToolResult:
    try:
        result = call.ended.result()
    except RunError as error:
        return _result(failure_text(error, call.tool.name), call.run.id, is_error=True)
    has_sources = result.sources and call.tool.output is None
    text = f"{result.content}\n\n{sources_text(result.sources)}" if has_sources else result.content
    answer = _result(text, call.run.id)
    if call.tool.output is not None:
        is_wrapped = not call.is_modern and call.tool.output.get("type") != "object"
        answer.structured_content = {"result": result.output} if is_wrapped else result.output
    return answer


def _result(text: str, run_id: str = "", *, is_error: bool = False) -> CallToolResult:
    if len(text) > _LONGEST_TEXT:
        text = f"{text[:_LONGEST_TEXT]}\n[cut: {len(text) - _LONGEST_TEXT} more characters]"
    meta = {"axe/runId": run_id} if run_id else None
    return CallToolResult(content=[TextContent(text=text)], is_error=is_error, _meta=meta)


# Questions.


async def _ask_older(question: Question, context: Context) -> Answer:
    form = _form(question)
    try:
        result = await context.session.elicit_form(
            form.message, form.requested_schema, related_request_id=context.request_id
        )
    except MCPError as error:
        return Answer("deny", f"the user could not be asked: {error}")
    return _decision(question, result)


def _form(question: Question) -> ElicitRequestFormParams:
    """Return what the user decides about. The text is complete: the exact command, or the change."""
    details = f"{question.reason}:\n{question.details}"
    if question.tool == ASK_USER:
        field: dict[str, Any] = {"type": "string", "title": "Answer"}
        if question.choices:
            field["description"] = "One of: " + "; ".join(question.choices)
    else:
        what = f" {question.for_run}" if question.for_run else ""
        names = [
            "Allow until the agent file changes" if question.tool == TRUST else "Allow",
            f"Allow{what} for this call",
            "Deny",
        ]
        choices = [
            {"const": value, "title": name}
            for value, name in zip(DECISIONS, names, strict=True)
            if not (question.is_protected and value == "allowForRun")
        ]
        field = {"type": "string", "title": "Decision", "oneOf": choices}
    schema: dict[str, Any] = {"type": "object", "properties": {_KEY: field}, "required": [_KEY]}
    return ElicitRequestFormParams(message=details, requested_schema=schema)


def _decision(question: Question, result: ElicitResult | None) -> Answer:
    content = result.content if result is not None and result.action == "accept" else None
    given = content.get(_KEY) if content else None
    if question.tool == ASK_USER:
        return reply(given if isinstance(given, str) else "")
    for decision in DECISIONS:
        if given == decision and decision != "deny":
            return Answer(decision)
    return denial("")
