"""The services of an engine, and the state that the runs of one tree share.

A new dependency is a field of `RunServices`: the creator of an engine fills it in, and its users read it there.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import anyio
from msgspec import Struct, field

from axe_lsp.agentfile.agent_definition import BudgetConfig
from axe_lsp.agentfile.mcp_servers import McpServer
from axe_lsp.runtime.children.isolation import CallerLink, Elsewhere, Stoppable
from axe_lsp.runtime.errors import BudgetError
from axe_lsp.runtime.events import CompactionEnd, Event, EventSink, RunIds, TurnEnd
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.inbox import Inbox, MessageRefusedError, NewMessage
from axe_lsp.runtime.journal import Journal
from axe_lsp.runtime.limits.budget import CallersBudgetError, Ledger
from axe_lsp.runtime.limits.clock import Clock
from axe_lsp.runtime.messages import Response
from axe_lsp.runtime.prepare import Prepared
from axe_lsp.runtime.providers.provider import Limiters, Provider
from axe_lsp.runtime.run_log import Log
from axe_lsp.runtime.run_steps import StepSink
from axe_lsp.runtime.runs import Resolve
from axe_lsp.runtime.safety.approval import Approve, nobody_to_ask
from axe_lsp.runtime.safety.questions import Ask, nobody
from axe_lsp.runtime.safety.trust import TrustPolicy
from axe_lsp.runtime.tools.editor import Editor
from axe_lsp.runtime.tools.tool import RemoteCopy, Watch

if TYPE_CHECKING:
    from axe_lsp.runtime.children.side_runs import SideRun
    from axe_lsp.runtime.recordings.recording import RecordedTools
    from axe_lsp.runtime.tools.agreed_changes import AgreedChanges


_Snapshot = TypeVar("_Snapshot")


_AT_ONCE = 4
"""Copies that are made at the same time, or as many as there are processors."""


class Snapshots:
    """The states of folders with which the copies of a process begin. One is made at a time for each folder.

    Who asks while one is made gets the next one, together with all others who ask until that is begun. So each copy
    begins with a state of the folder that is not older than the question.
    """

    def __init__(self) -> None:
        self._folders: dict[str, _Folder] = {}
        self.making = anyio.Semaphore(max(_AT_ONCE, os.cpu_count() or 1))
        """Held while files are written: the first agents begin their work before the last ones have their copies."""

    async def of(self, folder: str, make: Callable[[], Awaitable[_Snapshot]]) -> _Snapshot:
        """Return the state of a folder, by which it is made here or for somebody else. Raises what `make` raises."""
        shared = self._folders.setdefault(folder, _Folder())
        shared.users += 1
        turn = shared.next
        try:
            async with shared.lock:
                if turn.made is None:  # If nobody could make it before.
                    if shared.next is turn:
                        shared.next = _Turn()
                    turn.made = await make()
            made: _Snapshot = turn.made
            return made
        finally:
            shared.users -= 1
            if not shared.users:
                del self._folders[folder]


class _Turn:
    """One state, and who waits for it."""

    made: Any = None


class _Folder:
    """A folder of which copies are wanted."""

    def __init__(self) -> None:
        self.lock = anyio.Lock()
        self.next = _Turn()
        self.users = 0


class Machines(Protocol):
    """Where agents in copies work: here, or on other machines."""

    @property
    def takes_root(self) -> bool:
        """Whether a root works in a copy there, too, whatever its file says."""

    def check(self) -> None:
        """Raise ConfigError if the user's choice of machines is wrong, before a run begins."""

    def __call__(self, copy: Any, watch: Watch) -> AbstractAsyncContextManager[RemoteCopy | None]:
        """Return the copy on another machine that is like a `copies.Copy` here; None if there is none. Raises ConfigError."""


OnReady = Callable[[Prepared], None]
"""Called with a root run when it is prepared and its first request is about to be sent."""


def always(_: Prepared) -> bool:
    """Return True, as `streams` of callers that show text as it arrives."""
    return True


def never(_: Prepared) -> bool:
    """Return False, as `streams` of callers that show whole answers."""
    return False


def _ignore(_: object) -> None:
    """Ignore events, warnings and notes."""


def _environment_of_process() -> Environment:
    """Return a copy, since `os.environ` decodes each of its values whenever it is asked."""
    return dict(os.environ)


_MOMENT = 0.02
"""Seconds between two looks whether the process of a run has begun."""


class RunServices(Struct, frozen=True, kw_only=True):
    """The services that an engine gets from its maker.

    - `resolve(name, caller)` finds the agent that a caller means; it raises ConfigError.
    - `workspace` is where runs work whose agent and request name no working directory.
    - `trust` decides whether agents of a workspace may reach out of it.
    - `environment` is where keys and folders are looked up.
    - `emit` takes the events of all runs, each tree's with its own gapless `seq`.
    - `streams` decides for each run whether its text is asked for piece by piece.
    - `warn` takes a text that the user should see; `note` a line for a log.
    - `servers` are MCP servers of the client, for the root agent.
    - `approve` decides about calls of tools that change something.
    - `ask` puts questions of models (`ask_user`) to the person who started the run.
    - `steps` takes what a run has done, so that it can be resumed; without it no run can.
    - `server_ends` says whether runs are cancelled because the program ends for which they are executed.
    - `recorded` has the results of tools: none is executed then, and no MCP server is connected.
    - `elsewhere` makes runs of agents that want processes of their own; without it none gets one.
    - `editor` reads and writes files and runs commands for them, as far as it can.
    - `machines` says where agents in copies work; without it they work here.
    - `snapshots` finds the states of folders with which copies begin.
    - `is_recording` says whether answers are recorded: no message breaks one off then.
    """

    resolve: Resolve
    workspace: Path
    trust: TrustPolicy
    environment: Environment = field(default_factory=_environment_of_process)
    emit: EventSink = _ignore
    streams: Callable[[Prepared], bool] = never
    warn: Callable[[str], None] = _ignore
    note: Callable[[str], None] = _ignore
    approve: Approve = nobody_to_ask
    servers: tuple[McpServer, ...] = ()
    ask: Ask = nobody
    steps: StepSink | None = None
    server_ends: Callable[[], bool] = bool
    elsewhere: Elsewhere | None = None
    recorded: RecordedTools | None = None
    editor: Editor | None = None
    machines: Machines | None = None
    snapshots: Snapshots = field(default_factory=Snapshots)
    is_recording: bool = False


class Tree(Struct, frozen=True):
    """The state of a root run and all runs below it, in addition to the services of their engine.

    `live` holds the active runs by id; `warned` the warnings that were already given;
    `limiters` decide how many requests providers get at once. The `log` has what is kept of the tree.
    `inboxes` have the messages to runs, by id, and `side_runs` are the side runs that have begun or wait for their turn.
    `remote_copies` are the copies on other machines, by the folder of the copy here; `agreed_changes` what a person
    has seen of the other ones, in the same way.
    """

    services: RunServices
    provider: Provider
    journal: Journal
    limiters: Limiters
    log: Log
    live: dict[str, Stoppable]
    on_ready: OnReady | None = None
    warned: set[str] = field(default_factory=set)
    inboxes: dict[str, Inbox] = field(default_factory=dict)
    side_runs: dict[str, SideRun] = field(default_factory=dict)
    remote_copies: dict[str, RemoteCopy] = field(default_factory=dict)
    agreed_changes: dict[str, AgreedChanges] = field(default_factory=dict)

    def inbox_of(self, run: RunIds) -> Inbox:
        """Return the inbox of a run of this process, also before it begins."""
        if run.run_id not in self.inboxes:
            log, can_interrupt = self.log.of(run), not self.services.is_recording
            self.inboxes[run.run_id] = Inbox(run, log, self.journal, can_interrupt)
        return self.inboxes[run.run_id]

    def stop(self, run_id: str) -> bool:
        """Stop a run with all below it. Returns False if it has not begun."""
        run = self.live.get(run_id)
        if run is not None:
            run.stop()
        return run is not None

    async def send(self, run_id: str, message: NewMessage) -> str:
        """Send a message to a run of the tree. Raises MessageRefusedError."""
        while run_id not in self.live:
            side = self.side_runs.get(run_id)
            if side is None:
                raise MessageRefusedError("ended")
            if not side.is_starting:
                return await self.inbox_of(side.ids).accept(message)
            await anyio.sleep(_MOMENT)  # Its process begins.
        return await self.live[run_id].accept_message(message)

    def warn_once(self, text: str) -> None:
        """Warn everybody, if there is a text and it was not given before."""
        if text and text not in self.warned:
            self.warned.add(text)
            self.services.warn(text)

    def warn(self, run: RunIds, text: str) -> None:
        """Report a root's warning to everybody, a child's to a log, as in axe (M6)."""
        if run.depth:
            self.services.note(f"[sub-agent] Warning: {text}")
        else:
            self.services.warn(text)

    def caller_link(self, caller: Ledger, clock: Clock, run_id: str) -> CallerLink:
        """Return what ties a run of that id in another process to this tree, below the run of a caller.

        Events are numbered here with all others of the tree, and what they used is paid for here. So is what the run
        had used in a former process, which no event tells again.
        """
        ledger = Ledger(BudgetConfig(), caller)
        left, spent = ledger.left, self.log.spent(run_id)
        ledger.charge_below(spent.used, spent.calls)

        def tell(event: Event) -> bool:
            self.journal.emit(event)
            return _is_paid(event, ledger) if isinstance(event, (TurnEnd, CompactionEnd)) else True

        warn = self.services.warn
        side, inbox = self.side_runs.get(run_id), self.inboxes.pop(run_id, None)
        if side is not None:
            side.is_starting = True
        messages = inbox.queued if inbox is not None else ()
        return CallerLink(tell, warn, self.live, left, clock, self.limiters, self.log, messages)


def _is_paid(answer: TurnEnd | CompactionEnd, ledger: Ledger) -> bool:
    """Charge an answer to all callers; False if they can't afford another one."""
    ledger.charge(
        Response(
            input_tokens=answer.input_tokens,
            output_tokens=answer.output_tokens,
            cache_read_tokens=answer.cache_read_tokens or 0,
            cache_write_tokens=answer.cache_write_tokens or 0,
            cost=answer.cost,
        )
    )
    try:
        ledger.charge_calls(len(answer.tool_calls) if isinstance(answer, TurnEnd) else 0, 0)
    except (BudgetError, CallersBudgetError):
        return False
    return True
