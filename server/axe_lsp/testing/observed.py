"""The events of a run and of those below it, as a tree that expectations are compared with. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from axe_lsp.runtime.events import AgentBegin, AgentEnd, Event, ToolBegin, ToolEnd, TurnEnd
from axe_lsp.runtime.json_data import Json
from axe_lsp.runtime.usage import Usage, cost_today


class ObservedCall(Struct, eq=False):
    """A tool call: what it was given, and its result, which is cut as in events."""

    name: str
    arguments: Mapping[str, Json]
    turn: int
    is_error: bool = False
    content: str = ""
    child: str = ""


class Observed(Struct, eq=False):
    """A run: its end, its calls in the order in which they began, and its children in that order.

    `turns` and `tool_calls` are its own; `tokens` and `cost` are those of the run with its children. `answer` is
    its last text, and `output` the value that stands for it if its agent has `[output]`. `seconds` are None for a
    replayed run, which takes no time. The `cost` of such a run is that of its tokens at today's prices; it is None if
    a price is not known.
    """

    run_id: str
    agent: str
    task: str = ""
    is_side: bool = False
    status: str = ""
    error: str = ""
    answer: str = ""
    output: Json = None
    turns: int = 0
    tool_calls: int = 0
    tokens: int = 0
    cost: float | None = 0.0
    seconds: float | None = None
    calls: list[ObservedCall] = field(default_factory=list)
    children: list[Observed] = field(default_factory=list)

    def tree(self) -> Iterator[Observed]:
        """Yield the run and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.tree()

    def measure(self, name: str) -> float | None:
        """Return the measured number for a key of files of tests, None if it is not known."""
        number: float | None = getattr(self, name)
        return number


def observed(events: Iterable[Event], *, is_live: bool = False) -> list[Observed]:
    """Return the root runs of these events, in the order in which they began."""
    runs: dict[str, Observed] = {}
    roots: list[Observed] = []
    open_calls: dict[tuple[str, int, str], ObservedCall] = {}
    models: dict[str, str] = {}
    costs: dict[str, list[float | None]] = {}
    for event in events:
        ids = event.run
        run = runs.get(ids.run_id)
        if isinstance(event, AgentBegin):
            run = runs[ids.run_id] = Observed(
                ids.run_id, ids.agent, event.task, event.side is not None
            )
            models[ids.run_id] = event.model
            parent = runs.get(ids.parent_run_id or "")
            (parent.children if parent is not None else roots).append(run)
        elif run is None:
            continue
        elif isinstance(event, TurnEnd):
            run.answer = event.text
            costs.setdefault(ids.run_id, []).append(_cost(event, models[ids.run_id]))
        elif isinstance(event, ToolBegin):
            call = ObservedCall(event.name, event.arguments, event.turn)
            run.calls.append(call)
            open_calls[ids.run_id, event.turn, event.call_id] = call
        elif isinstance(event, ToolEnd):
            call = open_calls[ids.run_id, event.turn, event.call_id]
            call.is_error, call.content = event.is_error, event.content
            call.child = event.child_run_id or ""
        elif isinstance(event, AgentEnd):
            _end(run, event, costs.get(ids.run_id, []))
            run.seconds = event.duration_ms / 1000 if is_live else None
    return roots


def _cost(answer: TurnEnd, model: str) -> float | None:
    used = Usage(
        answer.input_tokens,
        answer.output_tokens,
        answer.cache_read_tokens or 0,
        answer.cache_write_tokens or 0,
    )
    return cost_today(model, used) if answer.cost is None else answer.cost


def _end(run: Observed, event: AgentEnd, costs: list[float | None]) -> None:
    used: Any = event.tree or event
    run.status, run.error = event.status, event.error or ""
    run.turns, run.tool_calls = event.turns, event.tool_calls
    run.tokens = used.input_tokens + used.output_tokens
    run.cost = used.cost
    if run.cost is None:  # Recorded answers cost nothing.
        run.cost = total([*costs, *(child.cost for child in run.children)])


def total(costs: Iterable[float | None]) -> float | None:
    """Return the sum of costs, None if one is not known."""
    found = list(costs)
    known = [each for each in found if each is not None]
    return sum(known) if len(known) == len(found) else None


def joined(runs: list[Observed]) -> Observed:
    """Return the runs of one conversation as one: the end of the last one, the calls and numbers of all."""
    last = runs[-1]
    if len(runs) == 1:
        return last
    return replace(
        last,
        task=runs[0].task,
        turns=sum(each.turns for each in runs),
        tool_calls=sum(each.tool_calls for each in runs),
        tokens=sum(each.tokens for each in runs),
        cost=total(each.cost for each in runs),
        seconds=None if last.seconds is None else sum(each.seconds or 0.0 for each in runs),
        calls=[call for each in runs for call in each.calls],
        children=[child for each in runs for child in each.children],
    )


def transcript(run: Observed, depth: int = 0) -> str:
    """Return the run in words, for a judge: equal for equal runs, so without ids and times."""
    indent = "  " * depth
    lines = [f"{indent}{run.agent} was asked: {run.task}"]
    by_id = {child.run_id: child for child in run.children}
    for call in run.calls:
        arguments = json.dumps(call.arguments, ensure_ascii=False, sort_keys=True)
        lines.append(f"{indent}{run.agent} called {call.name} {arguments}")
        if call.child in by_id:
            lines.append(transcript(by_id[call.child], depth + 1))
        outcome = "failed" if call.is_error else "returned"
        lines.append(f"{indent}{call.name} {outcome}: {call.content}")
    lines.append(f"{indent}{run.agent} {run.status or 'runs'}: {run.answer}")
    return "\n".join(lines)
