"""The process that makes runs, started by the supervisor.

It reads orders from its standard input and writes what happens to its standard output, a message a
line. It ends when it is told to leave, and also when its supervisor dies, since nobody is left to run for:
then as soon as what has happened is written down, so that its runs are found to have been killed, as they are.
A guard sees to that even if it spins. Runs that outlive their server go on without one, and the next server adopts
the host over its socket.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from functools import cache, partial
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from axe_lsp import tuning
from axe_lsp.hosting import protocol
from axe_lsp.hosting.host.survival import Survival
from axe_lsp.hosting.notifications import Message, Notification
from axe_lsp.hosting.relay import ProcessAbove, known_of
from axe_lsp.hosting.run_messages import answer_of
from axe_lsp.hosting.thread_queue import ThreadQueue
from axe_lsp.hosting.watchdog import start_watchdog
from axe_lsp.runtime.errors import RunCancelledError, RunError
from axe_lsp.runtime.limits.budget import Ledger
from axe_lsp.runtime.processes import continue_without_parent, forbid_inspection
from axe_lsp.serving import stdio
from axe_lsp.tasks import Tasks

if TYPE_CHECKING:
    from axe_lsp.hosting.executors.listener import Listener
    from axe_lsp.hosting.host.engine_factory import EngineFactory
    from axe_lsp.runtime.children.isolation import Stoppable
    from axe_lsp.runtime.engine import Engine

_log = logging.getLogger(__name__)

_LAST_SECONDS = 2.0
"""How long runs have to end when the host is told to leave; then the process ends without them."""

_LEAVE = tuple(protocol.encode(protocol.Leave(ends)).rstrip() for ends in (False, True))

_END = b""
"""The end of the output, which is not a line."""

_UNHURRIED = Notification, protocol.Stepped
"""Messages that may wait for others. A step comes together with its event."""

_SOON = 0.1
"""Seconds after the first request of a run, which does not wait for the socket of this process."""

_TOGETHER = 0.005
"""Seconds within which events come together. Nobody can see that, and all else goes at once."""


def main() -> None:
    """Make runs until told to leave."""
    forbid_inspection()  # Before the supervisor hears that this process is ready for keys.
    continue_without_parent()
    tuning.host_begins()
    # No process that a run starts can read orders, or keep a pipe open.
    orders, news = stdio.claim()
    guard = start_watchdog(_LAST_SECONDS, lifeline=orders)
    logging.basicConfig(stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    asyncio.run(_serve(orders, news, guard))


def _take_environment(variables: Mapping[str, str]) -> None:
    """Make the environment that was sent the one of this process."""
    os.environ.clear()
    for name, value in variables.items():
        os.environ[os.fsdecode(name.encode("latin-1"))] = os.fsdecode(value.encode("latin-1"))


async def _serve(orders: int, news: int, guard: int | None) -> None:
    outbox = Outbox()
    outbox.open(partial(_write_all, news))
    host = Host(outbox, guard)
    loop = asyncio.get_running_loop()
    threading.Thread(target=_read, args=(orders, host, loop), daemon=True).start()
    outbox.send(protocol.Ready(os.getpid()))
    await host.over.wait()
    await host.close()


def _read(orders: int, host: Host, loop: asyncio.AbstractEventLoop) -> None:
    """Read in a thread, which is how a pipe can be read on every system.

    The thread also sees to it that the process ends, should the event loop hang, unless a run outlives the server.
    """
    last = b""
    with open(orders, "rb", closefd=False) as lines:
        for line in lines:
            if line.endswith(b"\n"):  # Else the supervisor has died while it wrote.
                last = line.removesuffix(b"\n")
                loop.call_soon_threadsafe(host.hear, last)
    if last not in _LEAVE:
        if host.survival.is_needed:
            loop.call_soon_threadsafe(host.lose_server)
            return
        host.abandon()
        os._exit(1)
    loop.call_soon_threadsafe(host.over.set)
    threading.Event().wait(_LAST_SECONDS)
    os._exit(1)


def _write_all(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


class Outbox:
    """Writes messages in a thread of its own: a supervisor that is slow to read holds up no run."""

    def __init__(self) -> None:
        self._lines: ThreadQueue[bytes] = ThreadQueue(_TOGETHER)
        self._thread: threading.Thread | None = None

    def open(self, write: Callable[[bytes], None], *first: Message) -> None:
        """Write all messages, the `first` ones before those that were sent by now."""
        beginning = b"".join(map(protocol.encode, first))
        self._thread = threading.Thread(target=self._write, args=(write, beginning), daemon=True)
        self._thread.start()

    def send(self, message: Message) -> None:
        """Write `message` after all that were sent before."""
        self._lines.put(protocol.encode(message), urgent=not isinstance(message, _UNHURRIED))

    def end(self) -> None:
        """Write nothing that is sent from now on."""
        self._lines.put(_END, urgent=True)

    def close(self) -> None:
        """Wait until everything is written."""
        self.end()
        if self._thread is not None:
            self._thread.join()

    def _write(self, write: Callable[[bytes], None], beginning: bytes) -> None:
        try:
            write(beginning)
            more = True
            while more:
                lines = self._lines.take()
                more = lines[-1] != _END
                write(b"".join(lines))
        except (OSError, RuntimeError) as error:  # RuntimeError: the event loop is closed.
            _log.info("The supervisor has gone (%s)", error)


class Host:
    """The orders that this process carries out. One that fails is no matter of the others."""

    def __init__(self, outbox: Outbox, guard: int | None = None) -> None:
        self._outbox = outbox
        self._above = ProcessAbove(self._send)
        self.over = asyncio.Event()
        """Set when the process is to end."""
        self.survival = Survival(guard, _LAST_SECONDS, self._end_with_server)
        self._ending: set[str] = set()
        self._orders: dict[str, asyncio.Task[Message]] = {}
        self._engines: dict[str, Engine] = {}
        self._callers: dict[str, Ledger] = {}
        self._factory: EngineFactory | None = None
        self._active: dict[str, protocol.ActiveRun] = {}
        self._listener: Listener | None = None
        self._tasks = Tasks()

    def hear(self, line: bytes) -> None:
        """Do what a line from the supervisor says."""
        match protocol.read_to_host(line):
            case protocol.Environment(variables):
                _take_environment(variables)
            case protocol.Start() as start:
                self.survival.begin(start)
                self._carry_out(start.run_id, self._run(start))
            case protocol.StartChild() as start:
                self._carry_out(start.order.ids.run_id, self._run_child(start))
            case protocol.UsedUp(run_id):
                self._callers[run_id].use_up()
            case protocol.Preview() as order:
                self._carry_out(order.run_id, self._preview(order))
            case message:
                self._hear(message)

    def hear_adopter(self, line: bytes) -> None:
        """Do what a line from the supervisor says that has adopted this host. Raises ValueError."""
        message = protocol.read_from_adopter(line)
        self._hear(message)
        if isinstance(message, protocol.Leave):
            self.over.set()

    def _hear(self, message: protocol.FromAdopter) -> None:
        match message:
            case protocol.Cancel(run_id):
                self.cancel(run_id)
            case protocol.MessageRequest() | protocol.Ping() as request:
                self._answer_request(request)
            case protocol.Leave(server_ends):  # The rest is done when the input ends.
                if self._factory is not None:
                    self._factory.server_ends = server_ends
            case answer:
                self._above.hear(answer)

    def _send(self, message: Message) -> None:
        if not self.survival.is_alone:
            self._outbox.send(message)

    def lose_server(self) -> None:
        """Go on with the runs that outlive the server, and end the others with it."""
        if self.survival.is_alone or self.over.is_set():
            return
        self.survival.lose_server()
        self._outbox.end()
        self._above.lose_editor()
        _write_nothing()
        for run_id in list(self._orders):
            if run_id not in self.survival:
                self._end_with_server(run_id)
        self._end_without_orders()

    async def adopt(self, write: Callable[[bytes], None]) -> bool:
        """Take another server in place of the lost one, which gets all messages from now on. False if none is missing."""
        if not self.survival.is_alone or self.over.is_set():
            return False
        self.survival.find_server()
        self._outbox = outbox = Outbox()
        self._above.ask_again()
        starts = [each for each in self.survival.starts if each.run_id not in self._ending]
        if self._factory is not None:
            await self._factory.written(each.run_id for each in starts)
        outbox.open(write, protocol.Adopted(tuple(starts)))
        return True

    def _end_with_server(self, run_id: str) -> None:
        """End a run as the end of its server does."""
        self._ending.add(run_id)
        if self._factory is not None:
            self._factory.left_alone.add(run_id)
        self._orders[run_id].cancel()  # Not as a person stops a run, which does not go on.
        asyncio.get_running_loop().call_later(_LAST_SECONDS, self._insist)

    def _insist(self) -> None:
        """End the process if only runs are left that do not react."""
        if self._orders and self._ending.issuperset(self._orders):
            self.abandon()
            os._exit(1)

    def _end_without_orders(self) -> None:
        if self.survival.is_server_lost and not self._orders:
            self.over.set()

    async def close(self) -> None:
        """Cancel all orders and wait until they have ended."""
        orders = list(self._orders.values())
        for order in orders:
            order.cancel()
        await asyncio.gather(*orders, return_exceptions=True)
        if self._listener is not None:
            await self._listener.give_answers()
        if self._factory is not None:
            await self._factory.close()
        self._outbox.close()
        if self._listener is not None:
            await self._listener.close()

    def abandon(self) -> None:
        """Write down what has happened by now, and nothing of how the runs end. Called in a thread."""
        if self._listener is not None:
            self._listener.remove()
        if self._factory is not None:
            self._factory.abandon()

    def _carry_out(self, run_id: str, work: Coroutine[Any, Any, Message]) -> None:
        self._send(protocol.Taken(run_id))
        order = asyncio.get_running_loop().create_task(work, name=run_id)
        self._orders[run_id] = order
        order.add_done_callback(self._answer)

    def _answer(self, order: asyncio.Task[Message]) -> None:
        run_id = order.get_name()
        del self._orders[run_id]
        self._send(_outcome(order))
        self._ending.discard(run_id)
        self.survival.end(run_id)
        self._end_without_orders()

    def cancel(self, run_id: str) -> None:
        """End a run where it is: in its engine, or on its way there."""
        in_engine = any(engine.cancel(run_id) for engine in self._engines.values())
        if not in_engine and run_id in self._orders:
            self._orders[run_id].cancel()

    def _answer_request(self, request: protocol.MessageRequest | protocol.Ping) -> None:
        if isinstance(request, protocol.Ping):
            self._send(protocol.Pong(request.number))
        else:
            self._tasks.start_unattended(self._send_answer(request), "message to a run")

    async def _send_answer(self, request: protocol.MessageRequest) -> None:
        self._send(await self.answer_message(request))

    async def answer_message(self, request: protocol.MessageRequest) -> protocol.MessageAnswer:
        """Execute a request about the messages of a run."""

        def find(run_id: str) -> Stoppable | None:
            runs = (engine.find(run_id) for engine in self._engines.values())
            return next((run for run in runs if run is not None), None)

        return await answer_of(request, find, lambda: request.root_run_id in self._orders)

    def active_runs(self) -> tuple[protocol.ActiveRun, ...]:
        """Return the root runs of this host."""
        is_alone = self.survival.is_alone
        return tuple(
            replace(each, is_on_its_own=True) if is_alone and run_id in self.survival else each
            for run_id, each in self._active.items()
        )

    async def end_of(self, run_id: str) -> protocol.Finished | protocol.Failed | protocol.NoRun:
        """Wait for the end of a root run."""
        order = self._orders.get(run_id)
        if order is None:
            return protocol.NoRun(run_id)
        await asyncio.wait({order})
        outcome = _outcome(order)
        if isinstance(outcome, protocol.Finished | protocol.Failed):
            return outcome
        return protocol.NoRun(run_id)

    def _listen_soon(self, _: object) -> None:
        """Let other processes find this one, a moment after the first request of a run."""
        if self._listener is None:
            asyncio.get_running_loop().call_later(
                _SOON, lambda: self._tasks.start_unattended(self._listen(), "socket")
            )

    async def _listen(self) -> None:
        listener = await asyncio.to_thread(import_module, "axe_lsp.hosting.executors.listener")
        self._listener = self._listener or listener.Listener(self, self)
        await self._listener.open(os.environ)

    async def _run(self, start: protocol.Start) -> Message:
        factory = await self._engine_factory()
        try:
            engine, known = await factory.engine_for(start)
            async with self._engine(start.run_id, engine):
                self._active[start.run_id] = _active_run(start, factory.now())
                ready = self._listen_soon
                return protocol.Finished(
                    await engine.run(start.request, start.run_id, ready, known)
                )
        finally:
            self._active.pop(start.run_id, None)
            await factory.let_go(start)

    async def _run_child(self, start: protocol.StartChild) -> Message:
        now = asyncio.get_running_loop().time()
        order = replace(start.order, deadline=now + start.order.deadline)
        run_id = order.ids.run_id
        caller = self._callers[run_id] = Ledger(start.budget)
        factory = await self._engine_factory(is_below=True)
        async with self._engine(run_id, factory.engine_for_child(start)) as engine:
            try:
                result = await engine.run_child(order, caller, known_of(start))
                return protocol.Finished(result)
            except RunError as error:
                # Its caller is in another process and can't see what was being done.
                return protocol.failure_of(run_id, error, error.described(order.ids.agent))

    @asynccontextmanager
    async def _engine(self, run_id: str, engine: Engine) -> AsyncIterator[Engine]:
        async with engine:
            self._engines[run_id] = engine
            try:
                yield engine
            finally:
                del self._engines[run_id]

    async def _engine_factory(self, *, is_below: bool = False) -> EngineFactory:
        engine_factory = await asyncio.to_thread(_import_engine_factory)
        self._factory = self._factory or engine_factory.EngineFactory(
            self._send, self._above, is_below=is_below
        )
        return self._factory

    async def _preview(self, order: protocol.Preview) -> Message:
        engine_factory = await asyncio.to_thread(_import_engine_factory)
        return protocol.Previewed(
            order.run_id, await asyncio.to_thread(engine_factory.preview, order)
        )


def _write_nothing() -> None:
    """Send what is written to standard output or error nowhere: the other end of the pipe has gone."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nothing, number)
    os.close(nothing)


@cache
def _import_engine_factory() -> ModuleType:
    """Import the engine factory, in a thread and late: the process is ready at once and answers meanwhile."""
    from axe_lsp.hosting.host import (
        engine_factory,
    )

    tuning.host_is_complete()
    return engine_factory


def _active_run(start: protocol.Start, began: str) -> protocol.ActiveRun:
    request, workspace = start.request, start.workplace.workspace
    return protocol.ActiveRun(start.run_id, request.agent, began, workspace, request.task or "")


def _outcome(order: asyncio.Task[Message]) -> Message:
    """Return the answer to an order, in any case."""
    run_id = order.get_name()
    if order.cancelled():
        return protocol.failure_of(run_id, RunCancelledError())
    error = order.exception()
    if error is None:
        return order.result()
    if isinstance(error, RunError):
        return protocol.failure_of(run_id, error)
    _log.error("Order %s failed", run_id, exc_info=error)
    return protocol.failure_of(run_id, RunError(f"internal error: {error!r}"))
