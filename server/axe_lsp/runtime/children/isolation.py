"""Agents that run in processes of their own when they are called (`[isolation] mode = "process"`).

Which ones, and what ties them to their tree. How a process is made is handed in as `Elsewhere`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import BudgetConfig
from axe_lsp.runtime.errors import BudgetError
from axe_lsp.runtime.events import CompactionEnd, Event, TurnEnd
from axe_lsp.runtime.journal import Journal
from axe_lsp.runtime.limits.budget import CallersBudgetError, Ledger
from axe_lsp.runtime.limits.clock import Clock
from axe_lsp.runtime.messages import Response
from axe_lsp.runtime.providers.provider import Limiters
from axe_lsp.runtime.run_log import Log
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.runs import Order, Resolve


class Stoppable(Protocol):
    """A run that is going on, here or elsewhere."""

    def stop(self) -> None:
        """End the run and everything below it, now."""


class CallerLink(Struct, frozen=True):
    """The connection of a run in another process to its tree in this one.

    `tell` takes each of its events; it is False when no more may be used. `warn` takes what everybody
    should know. In `live` stand the runs that can be stopped. `budget` is what its callers have left,
    `clock` is that of the run that called it. In the `limiters` its requests wait together with those of
    its tree. Its steps are kept in the `log` of the tree.
    """

    tell: Callable[[Event], bool]
    warn: Callable[[str], None]
    live: MutableMapping[str, Stoppable]
    budget: BudgetConfig
    clock: Clock
    limiters: Limiters
    log: Log


Elsewhere = Callable[[Order, CallerLink], Awaitable[RunResult]]
"""Makes a run in a process of its own. Raises RunError; a cancellation passes through."""


def located(order: Order, resolve: Resolve) -> Order:
    """The order together with its agent. If that can't be found, its run will say so."""
    if order.definition is not None:
        return order
    try:
        return replace(order, definition=resolve(order.ids.agent, order.caller))
    except Exception:  # noqa: BLE001 - the run meets it again, where it is guarded
        return order


def wants_process(order: Order) -> bool:
    """Whether the agent of an order wants a process of its own."""
    return order.definition is not None and order.definition.isolation.mode == "process"


def caller_link(
    journal: Journal,
    caller: Ledger,
    clock: Clock,
    warn: Callable[[str], None],
    live: MutableMapping[str, Stoppable],
    *,
    limiters: Limiters,
    log: Log,
    run_id: str,
) -> CallerLink:
    """Events are numbered here with all others of the tree, and what they used is paid for here.

    So is what the run of that id had used in a former process, which no event tells again.
    """
    ledger = Ledger(BudgetConfig(), caller)
    left, spent = ledger.left, log.spent(run_id)
    ledger.charge_below(spent.used, spent.calls)

    def tell(event: Event) -> bool:
        journal.emit(event)
        return _is_paid(event, ledger) if isinstance(event, (TurnEnd, CompactionEnd)) else True

    return CallerLink(tell, warn, live, left, clock, limiters, log)


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
