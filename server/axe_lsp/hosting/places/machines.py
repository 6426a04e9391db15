"""The machines on which copies may be, and the copies there, as runs use them.

A copy on another machine is kept like the one here (`runtime/copies/mirror.py`), from which a new one begins
elsewhere when its machine is lost. So applying changes, keeping them and resuming know nothing of other machines.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import partial

import anyio
from msgspec import Struct

from axe_lsp.agentfile.text.addresses import DaskHost, SshHost
from axe_lsp.hosting.places import tool_protocol
from axe_lsp.hosting.places.dask import dask_channel, dask_workers
from axe_lsp.hosting.places.dask_worker import PRELOAD
from axe_lsp.hosting.places.machine_connection import (
    Channel,
    Connection,
    FaultError,
    LostError,
    RefusedError,
    short,
)
from axe_lsp.hosting.places.ssh import ssh_channel
from axe_lsp.runtime.copies.copy import Copy
from axe_lsp.runtime.copies.git import GitError, in_thread, pack_of, timeless_commit
from axe_lsp.runtime.copies.mirror import Mirror, PatchError
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.execution import Execution, execution
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.images import LARGEST_IMAGE
from axe_lsp.runtime.messages import Image, ToolCall
from axe_lsp.runtime.plain_text import os_fault
from axe_lsp.runtime.safety.approval import Rehearsal
from axe_lsp.runtime.tools.long_output import MAX_OUTPUT
from axe_lsp.runtime.tools.tool import Shown, ToolError, Watch, Workplace
from axe_lsp.runtime.tools.tool_table import changes_something

_PAUSE = 1.0
"""Seconds until machines that could not be reached are tried again."""

_CLOSING = 0.5
_MOST_TEXT = 2 * MAX_OUTPUT
_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

_INTERRUPTED = (
    "the connection to {place} was lost during this call: {why}. The files are as they were before it, without "
    "those that git ignores. Whether it took effect elsewhere is not known. Look before you do it again."
)

_OR_HERE = 'or choose copies on this machine with engine = "here" in config.toml'

_Host = SshHost | DaskHost


class Machines:
    """Where agents in copies work. It is a `runtime.services.Machines`; there is one in a process.

    `on` wins over config.toml, which is read for each copy.
    """

    def __init__(
        self, environment: Environment, on: str = "", silence: float = tool_protocol.SILENCE
    ) -> None:
        self._environment = environment
        self._on = on
        self._silence = silence
        self._machines: dict[_Host, _Machine] = {}

    takes_root = False

    def check(self) -> None:
        """Raise ConfigError if `[execution]` of config.toml or `on` is wrong."""
        execution(self._environment, self._on)

    @asynccontextmanager
    async def __call__(self, copy: Copy, watch: Watch) -> AsyncIterator[MirroredCopy | None]:
        """Provide the copy on another machine that is like this one; None if there is to be none. Raises ConfigError."""
        wanted = execution(self._environment, self._on)
        if wanted is None:
            yield None
            return
        placed = MirroredCopy(self, copy, wanted, watch)
        try:
            await placed.open()
            yield placed
        finally:
            with anyio.CancelScope(shield=True):
                await placed.close()

    async def reach(self, wanted: Execution, avoided: _Machine | None) -> _Machine:
        """Return a machine with a connection, counted as used. Raises FaultError."""
        until = time.monotonic() + wanted.wait
        while True:
            faults: list[tuple[_Host, FaultError]] = []
            try:
                machines = await self._among(wanted)
            except FaultError as fault:
                assert wanted.dask is not None
                machines, faults = [], [(wanted.dask.scheduler, fault)]
            for machine in sorted(machines, key=lambda each: (each is avoided, each.copies)):
                machine.copies += 1
                try:
                    with anyio.fail_after(max(until - time.monotonic(), _PAUSE)):
                        await machine.connect(wanted, self._environment, self._silence)
                except FaultError as fault:
                    faults.append((machine.host, fault))
                    await machine.leave()
                except TimeoutError:
                    faults.append((machine.host, FaultError("it does not answer", may_pass=True)))
                    await machine.leave()
                except BaseException:
                    with anyio.CancelScope(shield=True):
                        await machine.leave()
                    raise
                else:
                    return machine
            may_pass = any(fault.may_pass for _, fault in faults)
            if not may_pass or time.monotonic() + _PAUSE > until:
                raise _unreachable(faults, wanted, may_pass=may_pass)
            await anyio.sleep(_PAUSE)

    async def _among(self, wanted: Execution) -> list[_Machine]:
        """Return the machines there are. Raises FaultError."""
        hosts = wanted.hosts if wanted.dask is None else await dask_workers(wanted.dask)
        # A worker that is started again has another address.
        for each in [each for each, it in self._machines.items() if not it.copies]:
            if each not in hosts:
                del self._machines[each]
        return [self._machines.setdefault(each, _Machine(each, wanted.slots)) for each in hosts]


def _unreachable(
    faults: list[tuple[_Host, FaultError]], wanted: Execution, *, may_pass: bool
) -> FaultError:
    told = "; ".join(f"{host}: {str(fault).rstrip('.')}" for host, fault in faults)
    within = f" within {wanted.wait} s" if may_pass else ""
    first = faults[0][0]
    if isinstance(first, SshHost):
        port = f"-p {first.port} " if first.port else ""
        advice = f"Try `{' '.join(wanted.ssh)} {port}{first.destination} {wanted.axe} version`"
    elif wanted.dask is not None and first == wanted.dask.scheduler:
        advice = "Check [execution.dask] in config.toml"
    else:
        advice = f"Start workers with `--preload {PRELOAD}`"
    return FaultError(
        f"no machine for its copy can be reached{within}: {told}. {advice}, {_OR_HERE}"
    )


class _Machine:
    """A machine, with its connection as long as a copy is there."""

    def __init__(self, host: _Host, slots: int) -> None:
        self.host = host
        self.slots = anyio.Semaphore(slots)
        self.copies = 0
        self.connection: Connection | None = None
        self.packing = anyio.Lock()
        self._connecting = anyio.Lock()

    async def connect(self, wanted: Execution, environment: Environment, silence: float) -> None:
        """Have a connection. Raises FaultError."""
        async with self._connecting:
            if self.connection is not None:
                if not self.connection.lost:
                    return
                await self.connection.end()
            channel: Channel
            if isinstance(self.host, SshHost):
                channel = await ssh_channel(self.host, wanted, environment)
            else:
                assert wanted.dask is not None
                channel = await dask_channel(self.host, wanted.dask)
            try:
                self.connection = await Connection.opened(channel, wanted.keep_copies, silence)
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await channel.end(0)
                raise

    async def leave(self) -> None:
        """Take note that a copy is gone; with the last one goes the connection."""
        self.copies -= 1
        if not self.copies and self.connection is not None:
            connection, self.connection = self.connection, None
            await connection.end()


class _Location(Struct, frozen=True, eq=False):
    """Where a copy is."""

    machine: _Machine
    connection: Connection
    folder: str

    @property
    def name(self) -> str:
        return str(self.machine.host)

    async def ask(self, request: tool_protocol.Request) -> tool_protocol.Reply:
        """Send a request and return its answer. Raises LostError, or ToolError for what the machine could not do."""
        try:
            return await self.connection.ask(request)
        except RefusedError as error:
            raise ToolError(f"{self.name}: {error}") from error


class MirroredCopy:
    """The copy on another machine that is like one here. It is `RemoteCopy`."""

    def __init__(self, machines: Machines, copy: Copy, wanted: Execution, watch: Watch) -> None:
        self._machines = machines
        self._copy = copy
        self._wanted = wanted
        self._watch = watch
        self._mirror: Mirror
        self._location: _Location | None = None
        self._moving = anyio.Lock()
        self._syncing = anyio.Lock()
        self._taking = anyio.Lock()
        self._lost: list[_Location] = []
        self._number = 0
        self.fault = ""

    @property
    def place(self) -> tuple[str, str]:
        return (
            (self._location.name, self._location.folder) if self._location is not None else ("", "")
        )

    async def open(self) -> None:
        """Make it. Raises ConfigError."""
        try:
            self._mirror = await in_thread(self._copy.mirror)
            await self._sit(self._watch, None, "")
        except (FaultError, RefusedError, LostError, GitError, OSError) as error:
            reason = os_fault(error) if isinstance(error, OSError) else str(error)
            self._watch.warn_of_called(reason)
            raise ConfigError(reason) from error

    async def close(self) -> None:
        """Delete it."""
        location, self._location = self._location, None
        if location is not None:
            with suppress(LostError, RefusedError), anyio.move_on_after(_CLOSING):
                await location.connection.ask(tool_protocol.Close(self._name))
            await location.machine.leave()

    async def execute(self, call: ToolCall, workplace: Workplace) -> str | Shown:
        """Execute a call there. One that may change something is sent once, whatever is lost."""
        watch = workplace.watch or self._watch
        may_change, is_command = changes_something(call.name), call.name == "run_command"
        while True:
            location, is_sent = await self._sitting(watch), False
            try:
                async with _slot(location, watch) if is_command else nullcontext():
                    is_sent = not location.connection.lost
                    request = self._request(tool_protocol.Call, call, workplace)
                    reply = await location.ask(request)
                if may_change:  # Meanwhile another command may be executed.
                    async with self._syncing:
                        await self._collect(location)
                return _shown(reply, call)
            except LostError as error:
                self._lose(location, error)
                if may_change and is_sent:
                    text = _INTERRUPTED.format(place=location.name, why=error)
                    raise ToolError(text) from error

    async def rehearse(self, call: ToolCall, workplace: Workplace) -> Rehearsal:
        """Return the change that a call would make there."""
        watch = workplace.watch or self._watch
        while True:
            location = await self._sitting(watch)
            try:
                request = self._request(tool_protocol.Rehearse, call, workplace)
                reply = await location.ask(request)
            except LostError as error:
                self._lose(location, error)
                continue
            if isinstance(reply, tool_protocol.Rehearsed):
                return _believed(location.name, call, reply)
            _shown(reply, call)
            raise ToolError(f"{location.name} has given no answer")

    @asynccontextmanager
    async def alike(self) -> AsyncIterator[None]:
        """Repeat changes of the copy here in the copy there."""
        async with self._syncing:
            location = await self._collected()
            yield
            try:
                await self._put(location)
            except LostError as error:  # The next copy begins with the files that are here.
                self._lose(location, error)

    async def _collected(self) -> _Location:
        """Return where it is, once everything has come from there. Raises ToolError."""
        while True:
            location = await self._sitting(self._watch)
            try:
                await self._collect(location)
            except LostError as error:
                self._lose(location, error)
            else:
                return location

    # Where it is.

    @property
    def _name(self) -> str:
        """Its name there: never used twice, so that a late request finds nothing."""
        return _digest(f"{self._copy.ref} {self._number}")

    async def _sitting(self, watch: Watch) -> _Location:
        """Return where it is, or a new one if that was lost. Raises ToolError."""
        async with self._moving:
            if self.fault:
                raise ToolError(self.fault)
            location = self._location
            if location is not None and not location.connection.lost:
                return location
            why = ""
            if location is not None:
                why = f"the connection to {location.name} was lost: {location.connection.lost}"
                self._lose(location, LostError(location.connection.lost))
                if self.fault:
                    raise ToolError(self.fault)
                self._location = None
                await location.machine.leave()
            try:
                return await self._sit(
                    watch, location.machine if location is not None else None, why
                )
            except (FaultError, RefusedError, LostError, GitError, PatchError, OSError) as error:
                reason = os_fault(error) if isinstance(error, OSError) else str(error)
                self.fault = f"{why}, and {reason}" if why else reason
                raise ToolError(self.fault) from error

    def _lose(self, location: _Location, why: LostError) -> None:
        """Take note that a machine is lost: once the copy moves, twice is too much."""
        if location in self._lost:
            return
        self._lost.append(location)
        if len(self._lost) > 1:
            self.fault = f"the connection to {location.name} was lost, for the second time: {why}"

    async def _sit(self, watch: Watch, avoided: _Machine | None, why: str) -> _Location:
        with watch.waiting("a machine"):
            machine = await self._machines.reach(self._wanted, avoided)
            try:
                assert machine.connection is not None
                location = await self._opened(machine, machine.connection)
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await machine.leave()
                raise
        self._location = location
        if why:
            watch.warn(f"{why}; it goes on in a new copy at {location.name}")
        watch.placed(location.name, location.folder, why)
        return location

    async def _opened(self, machine: _Machine, connection: Connection) -> _Location:
        self._number += 1
        about = self._copy.about
        async with self._taking:
            base, now, tree = await in_thread(self._commits)
        object_format = self._object_format
        project = _digest(f"{platform.node()}\n{about.top}\n{object_format}")
        await self._send_files(machine, connection, project, (base, now))
        opened = await connection.ask(
            tool_protocol.Open(
                self._name,
                project,
                base,
                now,
                tree,
                about.prefix,
                about.repository is not None,
                object_format,
                self._copy.ignored,
            )
        )
        folder = opened.folder if isinstance(opened, tool_protocol.Opened) else ""
        return _Location(machine, connection, short(folder))

    @property
    def _object_format(self) -> str:
        repository = self._copy.about.repository
        return repository.object_format if repository is not None else "sha1"

    async def _send_files(
        self, machine: _Machine, connection: Connection, project: str, commits: tuple[str, str]
    ) -> None:
        """Send the files of these commits, as far as the machine lacks them."""
        own = self._copy.about.own
        async with machine.packing:  # Copies that are made at the same time send the files once.
            theirs = connection.known_commits.get(project, ())
            if {*commits} <= {*theirs}:
                return
            known = await connection.ask(tool_protocol.Project(project))
            theirs = _ids(known.commits) if isinstance(known, tool_protocol.Known) else ()
            if not {*commits} <= {*theirs}:
                pack = await in_thread(partial(pack_of, own, commits, theirs))
                number, size = connection.next_id(), tool_protocol.PACK_PIECE
                for at in range(0, len(pack), size):
                    last = commits if at + size >= len(pack) else ()
                    piece = pack[at : at + size]
                    await connection.ask(
                        tool_protocol.Pack(project, piece, last, self._object_format, id=number)
                    )
            connection.known_commits[project] = (*commits, *theirs)

    def _commits(self) -> tuple[str, str, str]:
        """Return the commit that the copy began with, that of what it has now, and the tree of that. Blocks."""
        own, mirror = self._copy.about.own, self._mirror
        if self._number > 1:  # Else it has just been made.
            mirror.refresh()
        tree = self._copy.base_tree
        base = timeless_commit(own, tree)
        now = base if tree == mirror.state else timeless_commit(own, mirror.state, base)
        return base, now, mirror.state

    # What goes there, and what comes back.

    def _request(
        self, kind: type[tool_protocol.Call], call: ToolCall, workplace: Workplace
    ) -> tool_protocol.Call:
        folder = os.path.relpath(workplace.folder, self._copy.tree)
        rights = workplace.read_only, workplace.agents
        return kind(self._name, folder, call.name, call.arguments, *rights)

    async def _collect(self, location: _Location) -> None:
        """Bring here what has changed there. Raises LostError or ToolError."""
        try:
            patch = await location.connection.ask(tool_protocol.Collect(self._name))
        except RefusedError as error:
            raise ToolError(
                f"the changes can't be brought here from {location.name}: {error}"
            ) from error
        if not (isinstance(patch, tool_protocol.Patch) and patch.changes):
            return
        try:
            async with self._taking:
                if location is not self._location:
                    raise LostError(location.connection.lost)
                left_out = await in_thread(partial(self._mirror.take, patch.changes))
        except (PatchError, GitError, OSError) as error:
            reason = os_fault(error) if isinstance(error, OSError) else str(error)
            self.fault = f"the changes can't be brought here from {location.name}: {short(reason)}"
            raise ToolError(self.fault) from error
        if left_out:
            named = short(", ".join(left_out))
            self._watch.warn(
                f"links that lead out of the copy at {location.name} were left out: {named}"
            )

    async def _put(self, location: _Location) -> None:
        """Send there what has changed here."""
        try:
            async with self._taking:
                state, changes = await in_thread(self._mirror.changes)
                self._mirror.state = state
        except (PatchError, GitError, OSError) as error:
            raise ToolError(f"the changes can't be sent to {location.name}: {error}") from error
        if changes:
            await location.ask(tool_protocol.Put(self._name, tuple(changes)))


@asynccontextmanager
async def _slot(location: _Location, watch: Watch) -> AsyncIterator[None]:
    """Hold one of the slots of a machine, which limit its concurrent commands."""
    slots = location.machine.slots
    try:
        slots.acquire_nowait()
    except anyio.WouldBlock:
        with watch.waiting("a slot", location.name):
            await slots.acquire()
        watch.placed(location.name, location.folder)
    try:
        yield
    finally:
        slots.release()


def _believed(place: str, call: ToolCall, told: tool_protocol.Rehearsed) -> Rehearsal:
    """Return a machine's text about a call, as it is shown to the user.

    A command is shown as it is sent. An answer "for this run" holds on that machine alone, whatever the subject is
    that the machine has named.
    """
    subject = f"{place}\n{told.subject}"
    if call.name == "run_command":
        command = str(call.arguments.get("command", ""))
        return Rehearsal("run a command", command, subject=subject, for_run="this command")
    return Rehearsal(told.purpose, told.details, told.change, subject, for_run="this file")


def _shown(reply: tool_protocol.Reply, call: ToolCall) -> str | Shown:
    """Return the result of a call, as far as a tool may have it. Raises ToolError for that of one that has failed."""
    if not isinstance(reply, tool_protocol.Result):
        raise ToolError("the other machine has given no answer")
    text = reply.text[:_MOST_TEXT]
    if reply.is_error:
        raise ToolError(text)
    if call.name == "read_file" and len(reply.images) == 1 and _is_picture(reply.images[0]):
        return Shown(text, reply.images)
    return text


def _is_picture(image: Image) -> bool:
    return image.media_type in _PICTURES and len(image.data) * 3 <= (LARGEST_IMAGE + 2) * 4


def _ids(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return those that are ids of commits: they become arguments of git."""
    return tuple(
        each for each in texts if len(each) in (40, 64) and not each.strip("0123456789abcdef")
    )


def _digest(text: str) -> str:
    from hashlib import sha256

    return sha256(os.fsencode(text)).hexdigest()
