"""Side runs: called agents for which their caller does not wait.

They work beside their caller, in its scope, so that none outlives it. Their answers are given at a boundary, the
moment before a request of the caller, or by one of the tools of `side_run_tools.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Iterable,
    Iterator,
    MutableMapping,
    Sequence,
)
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import SubAgentsConfig
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.children.delegation import Start, failure_text, result_of_child
from axe_lsp.runtime.errors import RunCancelledError, RunError
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.incomplete import REFUSED
from axe_lsp.runtime.messages import ToolCall, ToolOutcome, ToolResult
from axe_lsp.runtime.run_log import Gave, RunLog
from axe_lsp.runtime.runs import Order

MAX_SIDE_RUNS = 100
"""Side runs that one run may start."""

USUAL_LIMIT = 8
"""Side runs of one run that work at the same time, if its file has no `max_concurrent`."""

MAX_BLOCK = 32_000
"""Characters of an answer that are given."""

_STARTED = 'Started the side run "{name}". Its answer is given to you when it has ended. {next}'
_NEXT_STEP = {
    "wait": "Go on with other work, or end your turn: you are called again then.",
    "cancel": "Go on with other work. When you end your turn, side runs that have not ended are stopped.",
}


class SideRun:
    """One side run, by the name under which its caller knows it.

    `turn` and `call_id` are those of its start. Of its `ids` only its own is known if a former process has seen
    its end. An answer that `is_given` is not given again.
    """

    def __init__(self, name: str, ids: RunIds, turn: int, call_id: str) -> None:
        self.name = name
        self.ids = ids
        self.turn = turn
        self.call_id = call_id
        self.outcome: ToolOutcome | None = None
        self.is_given = False
        self.ended = anyio.Event()
        self.scope = anyio.CancelScope()
        self.handover_allowed = anyio.Event()
        self.is_starting = False
        """Whether a process is being started for it."""
        self.has_answer = False
        """Whether it has nothing left to do but to hand over the changes in its copy, if it has one."""
        self._release: Callable[[], None] | None = None
        self._on_change: Callable[[], object] = bool

    @property
    def run_id(self) -> str:
        """The id of its run."""
        return self.ids.run_id

    @property
    def is_working(self) -> bool:
        """Whether its answer is still to come."""
        return not self.has_answer

    @property
    def status(self) -> str:
        """The status in the words of the tools and of the blocks that are given."""
        if self.outcome is None:
            return "has ended" if self.has_answer else "running"
        if self.outcome.is_stopped:
            return "was stopped"
        return "has failed" if self.outcome.result.is_error else "has ended"

    @property
    def text(self) -> str:
        """The answer, the last text, or the error."""
        return self.outcome.result.content if self.outcome is not None else ""

    @property
    def block(self) -> str:
        """The answer as it is given."""
        title = f"[Side run {quoted(self.name)} {self.status}]"
        text = excerpt_of_answer(self.text)
        return f"{title}\n{text}" if text or self.status == "has ended" else title

    def holds(self, release: Callable[[], None], on_change: Callable[[], object]) -> None:
        """Take the slot that `release` gives back, and report each change to `on_change`."""
        self._release, self._on_change = release, on_change

    def let_go(self) -> None:
        """Give the slot back: others may work now."""
        release, self._release = self._release, None
        if release is not None:
            release()

    async def until_handover(self) -> None:
        """Wait until the caller takes the changes in the copy, which is when the answer is given."""
        self.has_answer = True
        self.let_go()
        self._on_change()
        await self.handover_allowed.wait()

    def end(self, outcome: ToolOutcome) -> None:
        """Take the outcome."""
        self.outcome, self.has_answer = outcome, True
        self.is_given = self.is_given or self.name in outcome.gave
        self.ended.set()
        self._on_change()


def excerpt_of_answer(text: str, start: int = 0) -> str:
    """Return a text from a character on, with a note about what is left out after `MAX_BLOCK` characters."""
    end = start + MAX_BLOCK
    if len(text) <= end:
        return text[start:]
    return (
        f"{text[start:end]}\n[cut: {len(text):,} characters; "
        f"check_agents with from {end} shows the rest]"
    )


class PastSideRuns:
    """The side runs of a run as its `log` knows them from former processes.

    `unfinished` are the starts of those whose ends are not known: turn and call.
    """

    def __init__(self, log: RunLog) -> None:
        self._log = log
        self._by_name: dict[str, SideRun] = {}
        self.unfinished: list[tuple[int, ToolCall]] = []

    def __iter__(self) -> Iterator[SideRun]:
        return iter(self._by_name.values())

    def find(self, name: str) -> SideRun | None:
        """Return the side run of a name."""
        return self._by_name.get(name)

    def started(self, turn: int, call: ToolCall, outcome: ToolOutcome) -> None:
        """Take a side run that a former process has started."""
        side = SideRun(outcome.side_name, RunIds(outcome.side, "", ""), turn, call.event_id)
        self._by_name[side.name] = side
        ended = self._log.side(turn, call.event_id)
        if ended is None:
            self.unfinished.append((turn, call))
        else:
            side.end(ended)

    def gave(self, names: Collection[str]) -> None:
        """Take the names of side runs whose answers were given."""
        for side in map(self.find, names):
            if side is not None:
                side.is_given = True

    def texts(self, gave: Gave) -> tuple[str, ...]:
        """Return the texts that a request has given."""
        sides = [side for side in map(self.find, gave.side_runs) if side is not None]
        self.gave(gave.side_runs)
        return (*text_of_answers(sides), *gave.texts)


def text_of_answers(sides: Iterable[SideRun]) -> tuple[str, ...]:
    """Return the text that gives the answers of side runs, none if there are none."""
    text = "\n\n".join(side.block for side in sides)
    return (text,) if text else ()


class SideRuns(PastSideRuns):
    """The side runs of one run.

    `start` makes a run, `stop` ends one that has begun and returns False of any other, and `is_used_up` says whether
    nothing is left of the budget. In the `registry` of the tree they are found by their runs.
    """

    def __init__(
        self,
        config: SubAgentsConfig,
        log: RunLog,
        start: Start,
        *,
        stop: Callable[[str], bool],
        is_used_up: Callable[[], bool],
        registry: MutableMapping[str, SideRun],
    ) -> None:
        super().__init__(log)
        self._config = config
        self._registry = registry
        self._start = start
        self._stop = stop
        self._is_used_up = is_used_up
        self._tasks: TaskGroup | None = None
        most = config.max_concurrent if config.has_side_runs else 0
        self.slots = anyio.Semaphore(most) if most else None
        """The slots of side runs and blocking calls together, None if blocking calls need none."""
        self._slots = self.slots or anyio.Semaphore(USUAL_LIMIT)
        self._change = asyncio.Event()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Let side runs work. Those that have not ended at the end are cancelled, and have ended then."""
        if not self._config.has_side_runs:
            yield
            return
        failure: Exception | None = None
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            except Exception as error:  # noqa: BLE001 - the group would wrap it
                failure = error
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure

    @property
    def working(self) -> tuple[SideRun, ...]:
        """The side runs whose answers are still to come."""
        return tuple(each for each in self if each.is_working)

    @property
    def ready(self) -> tuple[SideRun, ...]:
        """The side runs whose answers have come and were not given."""
        return tuple(each for each in self if each.has_answer and not each.is_given)

    @property
    def change(self) -> asyncio.Event:
        """The event that is set when the next side run has ended."""
        if self._change.is_set():
            self._change = asyncio.Event()
        return self._change

    def starts(self, call: ToolCall) -> bool:
        """Return whether a call of an agent starts a side run."""
        if not self._config.has_side_runs:
            return False
        return self._config.background == "always" or call.arguments.get("background") in (
            True,
            "true",
        )

    def begin(self, call: ToolCall, turn: int, order: Order, empty: str) -> ToolOutcome:
        """Start a side run, if the run may start another one."""
        assert self._tasks is not None
        former = next((each for each in self if each.run_id == order.ids.run_id), None)
        if former is None and len(self._by_name) >= MAX_SIDE_RUNS:
            text = f"{call.name} error: an agent may start at most {MAX_SIDE_RUNS} side runs"
            return ToolOutcome(ToolResult(call.id, text, is_error=True))
        name = former.name if former else f"{order.ids.agent}-{len(self._by_name) + 1}"
        side = self._by_name[name] = SideRun(name, order.ids, turn, call.event_id)
        side.is_given = former is not None and former.is_given
        self._registry[side.run_id] = side
        self._tasks.start_soon(self._make, side, call, replace(order, side=name), empty)
        text = _STARTED.format(
            name=name, next=_NEXT_STEP.get(self._config.at_end, _NEXT_STEP["wait"])
        )
        return ToolOutcome(ToolResult(call.id, text), side=order.ids.run_id, side_name=name)

    async def stop(self, side: SideRun) -> None:
        """End a side run, and wait until it has ended."""
        if not self._stop(side.run_id):
            side.scope.cancel()
        await side.ended.wait()

    async def cancel_all(self) -> None:
        """End all that work, whose answers nobody gets."""
        for side in self.working:
            side.is_given = True
        for side in self.working:
            await self.stop(side)

    async def take_over_changes(self, sides: Sequence[SideRun]) -> None:
        """Apply the changes in the copies of side runs that have ended, one after the other."""
        for side in sides:
            side.handover_allowed.set()
            await side.ended.wait()

    def _notify(self) -> None:
        self._change.set()

    async def _make(self, side: SideRun, call: ToolCall, order: Order, empty: str) -> None:
        outcome = ToolOutcome(ToolResult(call.id, ""), side.run_id, is_stopped=True)
        try:
            with side.scope:
                await self._slots.acquire()
                side.holds(self._slots.release, self._notify)
                outcome = await _outcome_of(call, order, self._start, empty)
        finally:
            side.let_go()
            self._registry.pop(side.run_id, None)
        if outcome.is_stopped and side.is_given:
            outcome = replace(outcome, gave=(side.name,))
        # What it has said because the budget of its callers was used up is not its last word.
        if not self._is_used_up():
            self._log.keep("side", side.turn, side.call_id, outcome)
        side.end(outcome)


async def _outcome_of(call: ToolCall, order: Order, start: Start, empty: str) -> ToolOutcome:
    """Make the run. Its result is an error if it has failed; the changes in its copy make it none."""
    run_id = order.ids.run_id
    try:
        child = await start(order)
    except RunCancelledError as error:
        text = error.partial.content if error.partial is not None else ""
        return ToolOutcome(ToolResult(call.id, text), run_id, is_stopped=True)
    except RunError as error:
        text = failure_text(error, order.ids.agent)
        return ToolOutcome(ToolResult(call.id, text, is_error=True), run_id)
    result = replace(result_of_child(call, child, empty), is_error=child.incomplete in REFUSED)
    return ToolOutcome(result, run_id)


async def until_first(*events: asyncio.Event) -> None:
    """Wait for the first of some events."""
    async with anyio.create_task_group() as tasks:

        async def wait(event: asyncio.Event) -> None:
            await event.wait()
            tasks.cancel_scope.cancel()

        for event in events:
            tasks.start_soon(wait, event)
