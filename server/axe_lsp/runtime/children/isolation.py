"""Agents that run in processes of their own when they are called (`[isolation] mode = "process"`).

Which ones, and what ties them to their tree. How a process is made is handed in as `Elsewhere`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import BudgetConfig
from axe_lsp.runtime.events import Event
from axe_lsp.runtime.inbox import MessageEdit, NewMessage
from axe_lsp.runtime.limits.clock import Clock
from axe_lsp.runtime.providers.provider import Limiters
from axe_lsp.runtime.run_log import Log, StoredMessage
from axe_lsp.runtime.run_result import RunResult
from axe_lsp.runtime.runs import Order, Resolve


class Stoppable(Protocol):
    """A run that is going on, here or elsewhere."""

    def stop(self) -> None:
        """End the run and everything below it, now."""

    async def accept_message(self, message: NewMessage) -> str:
        """Queue a message to the run and return its id. Raises MessageRefusedError."""

    async def change_message(self, edit: MessageEdit) -> bool:
        """Change or remove a message that waits. Raises MessageRefusedError."""

    async def queued_messages(self) -> Sequence[StoredMessage]:
        """Return the messages that wait."""


class CallerLink(Struct, frozen=True):
    """The connection of a run in another process to its tree in this one.

    `tell` takes each of its events; it is False when no more may be used. `warn` takes what everybody
    should know. In `live` stand the runs that can be stopped. `budget` is what its callers have left,
    `clock` is that of the run that called it. In the `limiters` its requests wait together with those of
    its tree. Its steps are kept in the `log` of the tree. `messages` have come before it
    could begin.
    """

    tell: Callable[[Event], bool]
    warn: Callable[[str], None]
    live: MutableMapping[str, Stoppable]
    budget: BudgetConfig
    clock: Clock
    limiters: Limiters
    log: Log
    messages: tuple[StoredMessage, ...] = ()


Elsewhere = Callable[[Order, CallerLink], Awaitable[RunResult]]
"""Makes a run in a process of its own. Raises RunError; a cancellation passes through."""


def located(order: Order, resolve: Resolve) -> Order:
    """Return the order together with its agent. If that can't be found, its run will say so."""
    if order.definition is not None:
        return order
    try:
        return replace(order, definition=resolve(order.ids.agent, order.caller))
    except Exception:  # noqa: BLE001 - the run meets it again, where it is guarded
        return order


def wants_process(order: Order) -> bool:
    """Return whether the agent of an order wants a process of its own."""
    return order.definition is not None and order.definition.isolation.mode == "process"
