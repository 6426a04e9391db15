"""One run from its beginning to its end: the same code for the root and for every child (001-C9).

It guards the run: whatever happens inside leaves as a RunError with what was achieved until then,
and every run that began has ended when the events stop. A root whose agent can't be loaded never
begins.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import anyio
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition, BudgetConfig
from axe_lsp.agentfile.rights import Reach
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.children.isolation import (
    located,
    wants_process,
)
from axe_lsp.runtime.children.side_runs import SideRuns
from axe_lsp.runtime.conversation import Conversation
from axe_lsp.runtime.delivery import Delivery
from axe_lsp.runtime.errors import (
    BudgetError,
    ConfigError,
    ExitCode,
    FinalError,
    NoTextError,
    RunError,
)
from axe_lsp.runtime.events import AgentBegin, AgentResume, RunIds, Status
from axe_lsp.runtime.files.agent_files import base_of
from axe_lsp.runtime.files.regular_files import real_path
from axe_lsp.runtime.files.user_config import known_secrets
from axe_lsp.runtime.inbox import MessageEdit, NewMessage
from axe_lsp.runtime.incomplete import explained
from axe_lsp.runtime.limits.budget import CallersBudgetError, Ledger
from axe_lsp.runtime.limits.clock import Clock, RunScope
from axe_lsp.runtime.loop import Surroundings, converse, go_on_if_woken
from axe_lsp.runtime.mcp.remote_tools import RemoteTools
from axe_lsp.runtime.messages import Json, Response, Tool
from axe_lsp.runtime.outcome import end_event, result_of, status_of
from axe_lsp.runtime.plain_text import os_fault, shown_path
from axe_lsp.runtime.prepare import (
    Prepared,
    prepare,
    reads_much,
    sandbox_of,
    sandbox_warning,
    twins_warning,
    unsupported_warning,
)
from axe_lsp.runtime.prompt import definition_digest
from axe_lsp.runtime.recordings.recording import recorded_of
from axe_lsp.runtime.resuming.restore import first_of, prepared_after, prepared_again
from axe_lsp.runtime.retry import Retrying, retry_of
from axe_lsp.runtime.run_log import First, StoredMessage
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.runs import Order, Sender, model_of
from axe_lsp.runtime.safety.approval import ApprovalRequest
from axe_lsp.runtime.safety.questions import Answer, Question, question_of_model, question_of_server
from axe_lsp.runtime.safety.reach import Admitted
from axe_lsp.runtime.safety.redaction import redact
from axe_lsp.runtime.safety.trust import TrustRequest, may_call, senders_of, shadow_warning
from axe_lsp.runtime.services import Tree
from axe_lsp.runtime.tools.editor import EditorOfRun, changing_disk
from axe_lsp.runtime.tools.tool import RemoteCopy, Watch, Workplace
from axe_lsp.runtime.usage import BudgetLimit

if TYPE_CHECKING:
    from axe_lsp.runtime.copies.work import WorkInCopy


class AgentRun:
    """A run that is going on."""

    def __init__(
        self,
        order: Order,
        tree: Tree,
        caller: Ledger | None = None,
        callers_clock: Clock | None = None,
    ) -> None:
        self._order = order
        self._tree = tree
        self._services = tree.services
        self._caller = caller
        self._ledger = Ledger(BudgetConfig(), caller)
        self._scope = RunScope(callers_clock, order.deadline, is_beside=bool(order.side))
        self._journal = tree.journal.watched(self._scope.clock.progress)
        self._log = tree.log.of(order.ids)
        self._inbox = tree.inbox_of(order.ids)
        self._first = self._log.first
        self._has_begun = False
        self._used = self._log.saved.duration_ms / 1000
        self._started = monotonic() - self._used
        asked_ms = self._log.begun.asked_ms if self._log.begun is not None else 0
        self._time_used = max(0.0, self._used - asked_ms / 1000)
        self._reason: str | None = None
        self._limit: BudgetLimit | None = None
        self._exit_code: int | None = None
        self._conversation: Conversation | None = None
        self._retrying: Retrying | None = None
        self._output: Json = None
        self._in_copy: WorkInCopy | None = None
        self._admitted: Sequence[Reach] = ()

    async def execute(self) -> RunResult:
        """Make the run. Raises RunError; a cancellation from above passes through."""
        run_id = self._order.ids.run_id
        self._tree.live[run_id] = self
        try:
            await self._scope.run(self._work)
        except RunError as error:
            self._failed(error)
            raise
        except anyio.get_cancelled_exc_class():
            self._cut_off()
            raise
        except Exception as bug:
            failure = RunError(f"internal error: {bug!r}")
            self._failed(failure)
            raise failure from bug
        finally:
            self._tree.live.pop(run_id, None)
            self._tree.inboxes.pop(run_id, None)
        return self._end("completed")

    def stop(self) -> None:
        """End the run and everything below it, now."""
        self._scope.stop()

    async def accept_message(self, message: NewMessage) -> str:
        """Queue a message and return its id. Raises MessageRefusedError."""
        return await self._inbox.accept(message)

    async def change_message(self, edit: MessageEdit) -> bool:
        """Change or remove a message that waits. Raises MessageRefusedError."""
        return await self._inbox.change(edit)

    async def queued_messages(self) -> Sequence[StoredMessage]:
        """Return the messages that wait."""
        return self._inbox.queued

    async def _work(self) -> None:
        first = self._first
        definition = self._load(first)
        is_run = self._order.ids.depth > 0 or self._log.begun is not None
        if not is_run:  # Without trust a root is not even a run.
            await self._admit(definition)
        self._begin(model_of(self._order, definition), definition)
        if is_run:
            await self._admit(definition)
        if not self._wants_copy(definition):
            await self._work_as(definition, first)
            return
        # Imported late: hardly any agent works in a copy.
        from axe_lsp.runtime.copies.work import WorkInCopy

        self._in_copy = WorkInCopy(self._order, definition, self._tree, self._watch())
        async with self._in_copy as self._order:
            await self._work_as(definition, first)

    def _wants_copy(self, definition: AgentDefinition) -> bool:
        """Return whether it works in a copy of its own."""
        if self._order.ids.depth:
            return definition.isolation.mode == "copy"
        return self._services.machines is not None and self._services.machines.takes_root

    def _watch(self) -> Watch:
        """Return what reports the place where its tools work."""
        warn, ids = self._services.warn, self._order.ids
        return Watch(ids, self._journal.emit, self._scope.clock.stopped, warn)

    def _remote_copy(self, folder: Path) -> RemoteCopy | None:
        """Return the copy on another machine that is like the one in which it works here."""
        copied = self._order.copied
        return (
            self._tree.remote_copies.get(copied.at)
            if copied is not None and copied.has(folder)
            else None
        )

    async def _work_as(self, definition: AgentDefinition, first: First | None) -> None:
        """Do the work of an agent in its folder."""
        if first is None:
            prepared = await self._prepared(definition)
            self._report(prepared)
        else:
            prepared = self._prepared_again(first)
        self._tree.provider.check(prepared.model, prepared.prompt.folder)
        # A limit for this one run counts the sub-agents, whatever scope the file has.
        self._ledger = Ledger(
            prepared.budget,
            self._caller,
            tokens_of_tree=bool(self._order.max_tokens),
            cost_of_tree=bool(self._order.max_cost),
            # No method of the run, which would so refer to itself, and be garbage that has to be looked for.
            warn=partial(self._tree.warn, self._order.ids),
        )
        # The time of a run is for its conversation, as in axe, not for reading files.
        self._scope.start_clock(prepared.timeout, prepared.budget.max_wall_time, self._time_used)
        known = first.remote if first is not None else ()
        async with self._servers(prepared, known) as remote:
            own = tuple(each for each in prepared.request.tools if each.name not in known)
            if first is None or not prepared.request.tools:
                tools = remote.tools or self._recorded_tools(prepared)
                prepared = prepared.with_tools(tools, remote.instructions)
            if first is None and self._log.before is not None:
                prepared = prepared_after(prepared, self._log.before)
            await self._talk(prepared, remote, own)

    async def _admit(self, definition: AgentDefinition) -> None:
        """Ask for trust in what the agent reaches, before anything is read for it or sent. Raises RunError."""
        services, order = self._services, self._order
        if order.ids.depth == 0 and services.machines is not None:
            services.machines.check()  # Else the first call of an agent in a copy fails, and only its model hears why.
        asked = (order, definition, services.resolve, services.workspace)
        decided: Sequence[TrustRequest] = ()
        # A link may lead elsewhere when the user has answered.
        while (requests := await services.trust.requests(*asked)) and requests != decided:
            with self._scope.clock.stopped(), self._log.asking():
                await services.trust.decide(requests, order.ids)
            decided = requests
        file = definition.source.path if definition.source is not None else ""
        own = (each.reaches for each in decided if each.file == shown_path(file))
        self._admitted = tuple(chain.from_iterable(own))

    def _may_read(self, definition: AgentDefinition) -> Admitted:
        services = self._services
        return Admitted(self._admitted, definition, services.workspace, services.environment)

    def _servers(
        self, prepared: Prepared, known: Collection[str]
    ) -> AbstractAsyncContextManager[RemoteTools]:
        """Return the connections to the MCP servers; the names of their tools if the request has them already."""
        of_client = self._services.servers if self._order.ids.depth == 0 else ()
        is_recorded = self._services.recorded is not None
        if is_recorded or not (prepared.definition.mcp_servers or of_client):
            return nullcontext(RemoteTools())
        # Imported late: hardly any agent has servers.
        from axe_lsp.runtime.mcp.server_tools import RunAround, remote_tools

        taken = {tool.name for tool in prepared.request.tools} - {*known}
        none = RemoteTools()
        around = RunAround(
            self._order.ids,
            self._services.workspace,
            self._workplace(prepared, none),
            self._approve,
            partial(self._ask, question_of_server, none),
            self._services.note,
            self._warn,
            of_client,
        )
        return remote_tools(prepared.definition, taken, around)

    def _recorded_tools(self, prepared: Prepared) -> tuple[Tool, ...]:
        """Return the tools of servers that are not connected, since a recording has their results."""
        recorded = self._services.recorded
        if recorded is None or not prepared.definition.mcp_servers:
            return ()
        names = recorded.of_servers(self._order.ids, prepared.request.tools)
        return tuple(Tool(each, "", schema={"type": "object"}) for each in names)

    async def _approve(self, request: ApprovalRequest) -> str:
        """Ask the user; the clock is stopped meanwhile."""
        with self._scope.clock.stopped(), self._log.asking():
            return await self._services.approve(replace(request, side=self._order.side or None))

    async def _talk(self, prepared: Prepared, remote: RemoteTools, own: tuple[Tool, ...]) -> None:
        if self._tree.on_ready and self._order.ids.depth == 0:
            self._tree.on_ready(prepared)
        who = "sub-agent" if self._order.ids.depth else "agent"
        self._conversation = Conversation(prepared.request, who)
        around = self._surroundings(prepared, remote, own)
        workplace = around.workplace
        if (
            workplace.remote_copy is not None
            and workplace.watch is not None
            and self._in_copy is None
        ):
            # That of the agent which has called it.
            workplace.watch.placed(*workplace.remote_copy.place)
        # A run that continues another one, or is forked from one, has this from that one.
        if self._log.begun is None or self._first is None:
            around.log.keep_first(first_of(prepared, remote.by_name))
        try:
            async with around.side_runs.open():
                await self._converse(around, self._conversation)
        except CallersBudgetError:
            self._reason = "budget"
        else:
            if self._in_copy is not None:
                side_run = self._tree.side_runs.get(self._order.ids.run_id)
                if side_run is not None:
                    with self._scope.clock.waiting(), self._scope.clock.stopped_alone():
                        await side_run.until_handover()
                with self._scope.clock.stopped(), changing_disk(self._services.editor):
                    await self._in_copy.hand_over(around.approve, around.log, around.secrets())

    async def _converse(self, around: Surroundings, conversation: Conversation) -> None:
        prepared = around.prepared
        go_on = partial(converse, conversation, around)
        await go_on()
        goes_on = True
        while goes_on:
            if conversation.last.incomplete is not None:
                self._incomplete(conversation.last)
            if prepared.output is not None:
                from axe_lsp.runtime.structured.output import settle

                self._output = await settle(conversation, prepared.output, go_on)
            goes_on = await go_on_if_woken(conversation, around)
        self._inbox.close()
        self._check_content(conversation.last, prepared.definition)
        self._remember(prepared, conversation.last.content, around)

    def _incomplete(self, answer: Response) -> None:
        """Say that the answer is not whole. Raises NoTextError if there is nothing of it."""
        assert answer.incomplete is not None
        reason = explained(answer.incomplete, answer.incomplete_detail)
        self._services.warn(f"agent {quoted(self._order.ids.agent)}: {reason}")
        if not answer.content:
            # Imported late: hardly any run ends so.
            from axe_lsp.runtime.providers.next_steps import GARBLED_CALL

            is_garbled = answer.incomplete == "malformed_call"
            raise NoTextError(reason, hint=GARBLED_CALL if is_garbled else "")

    def _check_content(self, answer: Response, definition: AgentDefinition) -> None:
        """Warn of an answer without text, or with content that is not shown. Raises NoTextError if that is all of it.

        An agent with the keys of axe's first version ends without a word, as recorded of axe, unless its stop
        reason says that the answer should not be empty.
        """
        who = f"agent {quoted(self._order.ids.agent)}"
        if answer.unread:
            if not answer.content.strip():
                raise NoTextError(
                    f"the answer has no text, only {answer.unread}, which is not read"
                )
            self._warn(f"{who}: the answer also has {answer.unread}, which is not read")
        elif answer.contradiction:
            self._warn(
                f"{who}: the model answered nothing, twice, although its stop reason is {quoted(answer.contradiction)}"
            )
        elif not (answer.content.strip() or answer.incomplete) and definition.beyond_first_axe:
            only = " but thoughts" if answer.thoughts else ""
            self._warn(f"{who}: the model answered nothing{only}")

    async def _prepared(self, definition: AgentDefinition) -> Prepared:
        services = self._services
        order = self._order
        if self._log.before is not None:  # A message of a conversation is no input.
            order = replace(order, reads_task=False)
        read = partial(
            prepare,
            order,
            definition,
            services.resolve,
            services.workspace,
            services.environment,
            admitted=self._may_read(definition),
            asks_editor=services.editor is not None and "code" in services.editor.abilities,
        )
        if not reads_much(definition):
            return read()
        # Other runs must not wait for it.
        return await anyio.to_thread.run_sync(read, abandon_on_cancel=True)

    def _prepared_again(self, first: First) -> Prepared:
        """Return the agent as it was ready in a former process, with today's limits."""
        order, services = self._order, self._services
        if order.timeout != first.order.timeout:  # The resume has a new timeout from now on.
            self._time_used = 0
        order = replace(
            first.order,
            deadline=order.deadline,
            timeout=order.timeout,
            max_tokens=order.max_tokens,
            max_cost=order.max_cost,
        )
        return prepared_again(first, order, services.workspace, services.environment)

    def _load(self, first: First | None) -> AgentDefinition:
        if first is not None:
            return first.definition
        order = self._order
        try:
            definition = order.definition or self._services.resolve(order.ids.agent, order.caller)
        except Exception as error:
            # A child that can't be loaded is an event of its caller's run. A root that can't be loaded
            # is not a run: its name is misspelt, or its file is not finished yet.
            if order.ids.depth or self._log.begun is not None:
                self._begin(model="")
            if isinstance(error, ConfigError):
                error.step = "failed to load agent"
            raise
        return replace(definition, read_only=True) if order.read_only else definition

    def _begin(self, model: str, definition: AgentDefinition | None = None) -> None:
        self._has_begun = True
        order = self._order
        workdir = self._workdir(definition) if definition is not None else None
        if self._log.begun is not None:
            saved = self._log.saved
            self._tree.journal.emit(
                AgentResume(
                    run=order.ids,
                    task=order.task,
                    model=model,
                    turn=saved.turns + 1,
                    saved=saved,
                    parent_agent=order.parent_agent,
                    description=order.description,
                    workdir=workdir,
                    side=order.side or None,
                )
            )
            return
        origin = self._first.order if self._first is not None else order
        before = self._log.before
        self._tree.journal.emit(
            AgentBegin(
                run=order.ids,
                task=order.task,
                model=model,
                parent_agent=order.parent_agent,
                sandbox=sandbox_of(definition) if definition else None,
                description=order.description,
                isolation=self._isolation(definition),
                continues=origin.continues if before is None else before.continues,
                forked_from=origin.forked_from,
                workdir=workdir,
                side=order.side or None,
                definition=self._digest(definition),
                source=_path_of(definition),
            )
        )

    def _digest(self, definition: AgentDefinition | None) -> str | None:
        """Return the identity of the version of an agent file, None for what no file has written."""
        if definition is None or definition.source is None:
            return None
        services = self._services
        return definition_digest(definition, services.workspace, services.environment)

    def _workdir(self, definition: AgentDefinition) -> str | None:
        """Return the folder in which it works, if that is not the workspace."""
        services = self._services
        with suppress(ConfigError):  # It ends the run when the prompt is made.
            named = base_of(
                self._order.workdir or definition.workdir, services.workspace, services.environment
            )
            return shown_path(named) if named else None
        return None

    def _isolation(self, definition: AgentDefinition | None) -> str | None:
        """Return the isolation for the begin event. Only a called agent gets a copy or a process of its own."""
        is_called = self._order.ids.depth > 0
        mode = definition.isolation.mode if definition is not None and is_called else ""
        wants_copy = definition is not None and self._wants_copy(definition)
        if wants_copy or self._order.copied is not None:
            return "copy"
        has_none = self._services.elsewhere is None or self._is_far(self._order)
        return "inline" if mode == "process" and has_none else None

    def _report(self, prepared: Prepared) -> None:
        agent = self._order.ids.agent
        definition = prepared.definition
        for warning in (
            unsupported_warning(agent, definition),
            sandbox_warning(agent, definition),
            shadow_warning(agent, definition),
            twins_warning(agent, definition),
        ):
            self._tree.warn_once(warning)
        for text in prepared.warnings:
            self._warn(text)
        for text in prepared.prompt.notes:
            self._services.note(f"Warning: {text}")

    def _warn(self, text: str) -> None:
        self._tree.warn(self._order.ids, text)

    def _surroundings(
        self, prepared: Prepared, remote: RemoteTools, own: tuple[Tool, ...]
    ) -> Surroundings:
        retry = retry_of(prepared.definition.retry, self._services.environment)
        self._retrying = Retrying(self._tree.provider, retry, self._journal)
        log = self._log.without(remote.secrets | known_secrets(self._services.environment))
        config, ledger = prepared.definition.sub_agents_config, self._ledger
        side_runs = SideRuns(
            config,
            log,
            self._make_child,
            stop=self._tree.stop,
            is_used_up=lambda: ledger.is_used_up,
            registry=self._tree.side_runs,
        )
        return Surroundings(
            tree=self._tree,
            prepared=prepared,
            remote=remote,
            own=own,
            provider=self._retrying,
            journal=self._journal,
            start=self._make_child,
            workplace=self._workplace(prepared, remote),
            ledger=self._ledger,
            scope=self._scope,
            streams=self._services.streams(prepared),
            log=log,
            senders=self._senders(prepared.definition) if may_call(prepared.definition) else (),
            approve=self._approve,
            check_web=partial(self._check_web, prepared),
            inbox=self._inbox,
            side_runs=side_runs,
            delivery=Delivery(
                self._order.ids,
                log,
                self._journal,
                self._inbox,
                side_runs,
                clock=self._scope.clock,
                waits_at_end=config.at_end != "cancel",
                recorded=self._services.recorded
                or recorded_of(self._tree.provider, prepared.model),
            ),
        )

    def _senders(self, definition: AgentDefinition) -> tuple[Sender, ...]:
        """Return the files of the agents above, and its own. An agent of a type of `Task` has none."""
        return (*self._order.senders, *senders_of(self._order.ids.agent, definition))

    async def _check_web(self, prepared: Prepared, tool: str) -> str:
        """Return why the agent may not use a tool for the web, or "". The user hears what can be done."""
        services, senders = self._services, self._order.senders
        if not any(each.key == tool for each in self._admitted):
            senders = self._senders(prepared.definition)
        hosts = self._allowed_hosts(prepared)
        try:
            with self._scope.clock.stopped(), self._log.asking():
                await services.trust.decide_web(
                    tool, hosts, senders, services.workspace, self._order.ids
                )
        except ConfigError as error:
            self._tree.warn_once(str(error))
            return f"{tool} was not allowed: the user has not trusted it; go on without it"
        return ""

    def _allowed_hosts(self, prepared: Prepared) -> tuple[str, ...]:
        """Return the hosts that pages may come from: those of its file, or of its caller; none means any."""
        return prepared.definition.allowed_hosts or self._order.allowed_hosts

    def _workplace(self, prepared: Prepared, remote: RemoteTools) -> Workplace:
        remote_copy = self._remote_copy(prepared.prompt.folder)
        return Workplace(
            folder=prepared.prompt.folder,
            more_folders=tuple(map(Path, self._order.more_folders)),
            workspace=None if self._is_copied(prepared.prompt.folder) else self._services.workspace,
            environment=self._services.environment,
            allowed_hosts=self._allowed_hosts(prepared),
            read_only=prepared.definition.read_only,
            ask=partial(self._ask, question_of_model, remote),
            agents=(*self._order.above, self._order.ids.agent),
            editor=self._editor(prepared.prompt.folder),
            remote_copy=remote_copy,
            watch=self._watch() if remote_copy is not None else None,
        )

    def _editor(self, folder: Path) -> EditorOfRun | None:
        """Return the editor that has the files of a folder. It neither reads nor writes those of a copy."""
        editor = self._services.editor
        if editor is not None and self._is_copied(folder):
            editor = editor.for_code_only()
        return EditorOfRun(editor, self._order.ids) if editor is not None else None

    def _is_copied(self, folder: Path) -> bool:
        """Return whether a folder is in a copy."""
        return self._order.copied is not None and self._order.copied.has(folder)

    async def _ask(
        self,
        question_of: Callable[[RunIds, str, str, tuple[str, ...]], Question],
        remote: RemoteTools,
        asker: str,
        text: str,
        choices: tuple[str, ...],
    ) -> Answer:
        """Put a question to the person who started the tree; the clock stands still.

        `asker` is the id of the model's call, or the name of an MCP server.
        """
        secrets = known_secrets(self._services.environment) | remote.secrets
        text, *options = (redact(each, secrets) for each in (text, *choices))
        question = question_of(self._order.ids, asker, text, tuple(options))
        question = replace(question, side=self._order.side or None)
        with self._scope.clock.stopped(), self._log.asking():
            return await self._services.ask(question)

    def _remember(self, prepared: Prepared, content: str, around: Surroundings) -> None:
        """Append a successful answer to the memory. A failure to do so does not fail the run (M6)."""
        memory = prepared.prompt.memory
        if memory is None or memory.path is None:
            return
        from axe_lsp.runtime.memory import append_memory

        agent = self._order.ids.agent
        author = "" if prepared.definition.memory.scope == "agent" else agent
        secrets = around.secrets()
        task = redact(prepared.prompt.user_message, secrets)
        try:
            # A link may lead elsewhere than when the run began.
            place = real_path(memory.path)
            self._may_read(prepared.definition).check_memory(place)
            begun = self._log.begun.time if self._log.begun is not None else ""
            append_memory(place, task, redact(content, secrets), author, unless_since=begun)
        except ConfigError as error:
            self._warn(f"failed to save memory for {quoted(agent)}: {error}")
        except OSError as error:
            self._warn(f"failed to save memory for {quoted(agent)}: {os_fault(error)}")

    def _failed(self, error: RunError) -> None:
        status = status_of(error)
        if isinstance(error, BudgetError):
            self._reason, self._limit = "budget", error.limit
        elif isinstance(error, FinalError):
            self._reason = "final"
        if error.exit_code != ExitCode.AGENT:
            self._exit_code = int(error.exit_code)
        result = self._end(status, error.described(self._order.ids.agent))
        error.run_id = self._order.ids.run_id
        error.partial = result if self._conversation else None

    def _cut_off(self) -> None:
        """End a run that is cancelled from above."""
        if self._scope.clock.is_over:
            self._end("timeout")
        elif self._services.server_ends():
            self._reason = "server"
            error, ids = "the server of this run has ended", self._order.ids
            if ids.depth == 0 and self._tree.log.is_kept:
                error += f"; `axe-lsp resume {ids.run_id:.8}` continues it"
            self._end("killed", error)
        else:
            self._end("cancelled")

    def _end(self, status: Status, error: str | None = None) -> RunResult:
        """Tell that a run which has begun is over; returns what it came to."""
        self._inbox.close()
        result = self._result(status)
        if self._has_begun:
            event = end_event(self._order.ids, result, error, self._reason)
            handover = self._in_copy.handover if self._in_copy is not None else None
            self._tree.journal.emit(
                replace(
                    event,
                    limit=self._limit,
                    exit_code=self._exit_code,
                    changes=handover.outcome if handover is not None else None,
                    unapplied=handover.unapplied if handover is not None else None,
                )
            )
        return result

    def _result(self, status: Status) -> RunResult:
        duration_ms = round((monotonic() - self._started) * 1000)
        result = result_of(self._order.ids, status, duration_ms, self._conversation, self._ledger)
        attempts = self._retrying.attempts if self._retrying else 0
        in_copy = self._in_copy if self._order.ids.depth else None
        handover = in_copy.handover if in_copy is not None else None
        return replace(result, output=self._output, retry_attempts=attempts, handover=handover)

    def _is_far(self, order: Order) -> bool:
        """Return whether an agent works in a copy on another machine, to which only this process leads."""
        return order.copied is not None and order.copied.at in self._tree.remote_copies

    async def _make_child(self, order: Order) -> RunResult:
        """Make a run that this one asks for, in this process unless its agent wants its own."""
        tree, services, clock = self._tree, self._services, self._scope.clock
        first = tree.log.of(order.ids).first
        if first is not None:
            order = replace(order, definition=first.definition)
        order = located(order, services.resolve)
        with nullcontext() if order.side else clock.waiting():
            if services.elsewhere is None or not wants_process(order) or self._is_far(order):
                return await AgentRun(order, tree, self._ledger, clock).execute()
            if order.side:
                clock = Clock(anyio.CancelScope(), clock, is_beside=True)
            link = tree.caller_link(self._ledger, clock, order.ids.run_id)
            return await services.elsewhere(order, link)


def _path_of(definition: AgentDefinition | None) -> str | None:
    """Return the path of the file that an agent was read from."""
    source = definition.source if definition is not None else None
    return source.path if source is not None else None
