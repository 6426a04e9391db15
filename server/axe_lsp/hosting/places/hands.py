"""`axe-lsp hands`: the tools of agents whose runs are made on another machine, over standard streams.

It lasts as long as its input: when that ends, or nothing has been heard for some seconds, it ends all commands
and deletes all copies. What a killed one leaves, the next one deletes. On this machine there are

    state: axe/hands/<id>/lock           locked by the process
    state: axe/hands/<id>/<copy>/        git, index, tree: a copy
    cache: axe/hands/<project>/          the contents of a project, and its lock
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import sys
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeVar

import anyio
import anyio.abc
from msgspec import Struct

from axe_lsp.hosting.notifications import Message
from axe_lsp.hosting.places import tool_protocol
from axe_lsp.hosting.places.machine_connection import lines_of
from axe_lsp.runtime.copies.copy import remove, take_lock
from axe_lsp.runtime.copies.git import STOPPED, GitError, OwnGit, make_own
from axe_lsp.runtime.copies.mirror import Mirror, PatchError, TrackedFiles
from axe_lsp.runtime.files.folders import Environment, cache_folder, state_folder
from axe_lsp.runtime.messages import ToolCall
from axe_lsp.runtime.plain_text import os_fault, valid_text
from axe_lsp.runtime.tools.tool import Shown, ToolError, Workplace
from axe_lsp.runtime.tools.tool_table import BUILTIN_TOOLS
from axe_lsp.serving import stdio

_T = TypeVar("_T")

_NAME = re.compile(r"[0-9a-f]{8,64}")
"""Ids of copies, projects and commits: they become parts of paths and of commands."""

_MOST_KNOWN = 20
_LONGEST_SILENCE = 60.0
_GLANCE = 1.0
"""Seconds after which it is looked at: how long a silence may be is not known from the start."""


class FailedError(Exception):
    """A request that can't be done."""


async def serve(environment: Environment, source: int, target: BinaryIO) -> None:
    """Work until the input ends, or the other side is silent for too long."""
    reader, heard = stdio.open_reader(source, at_end=lambda: None), _Heard()
    server = _ToolServer(environment, partial(_send, target, threading.Lock()))
    await anyio.to_thread.run_sync(server.begin)
    try:
        async with anyio.create_task_group() as tasks:
            if sys.platform != "win32":
                for number in (signal.SIGTERM, signal.SIGHUP):
                    asyncio.get_running_loop().add_signal_handler(number, tasks.cancel_scope.cancel)
            tasks.start_soon(heard.watch, tasks.cancel_scope)
            await server.send(tool_protocol.Hello(tool_protocol.WIRE))
            with suppress(OSError, ValueError):
                await _answer(server, reader, heard, tasks)
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(server.end)


async def _answer(
    server: _ToolServer, reader: stdio.Reader, heard: _Heard, tasks: anyio.abc.TaskGroup
) -> None:
    async for line in lines_of(_pieces(reader)):
        heard.now()
        message = tool_protocol.to_server(line)
        if isinstance(message, tool_protocol.Hello):
            heard.silence = min(max(message.silence, 0.1), _LONGEST_SILENCE)
            server.keep_copies = message.keep_copies
        else:
            await server.take(message, tasks)


async def _pieces(reader: stdio.Reader) -> AsyncIterator[bytes]:
    while piece := await reader.read():
        yield piece


class _Heard:
    """When the other side was heard."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self.silence = tool_protocol.SILENCE

    def now(self) -> None:
        self._last = time.monotonic()

    async def watch(self, scope: anyio.CancelScope) -> None:
        """End everything once it has been silent for too long."""
        while True:
            left = self._last + self.silence - time.monotonic()
            if left <= 0:
                scope.cancel()
            await anyio.sleep(min(left, _GLANCE))


def _send(target: BinaryIO, lock: threading.Lock, message: Message) -> None:
    with lock:
        target.write(tool_protocol.encode(message) + b"\n")
        target.flush()


class _Copy(Struct):
    """A copy that is open."""

    home: Path
    mirror: Mirror
    lock: anyio.Lock


class _ToolServer:
    """The copies of one process, and what is going on in them."""

    def __init__(self, environment: Environment, write: Callable[[Message], None]) -> None:
        self._environment = environment
        self._write = write
        self._folder = state_folder(environment) / "hands" / uuid.uuid4().hex
        self._projects = cache_folder(environment) / "hands"
        self._lock: int | None = None
        self._held: dict[str, int] = {}
        self._packs: dict[int, BinaryIO] = {}
        self._copies: dict[str, _Copy] = {}
        self._going: dict[int, anyio.CancelScope] = {}
        self._stopped = threading.Event()
        self.keep_copies = 0

    # Its life.

    def begin(self) -> None:
        """Delete what dead processes have left. Blocks."""
        self._folder.mkdir(parents=True, mode=0o700)
        self._lock = take_lock(self._folder / "lock")
        for each in self._folder.parent.iterdir():
            if each != self._folder and (lock := take_lock(each / "lock")) is not None:
                remove(each)
                os.close(lock)

    def end(self) -> None:
        """Delete all copies, and the projects that are kept no longer. Blocks."""
        self._stopped.set()
        remove(self._folder)
        if self._lock is not None:
            os.close(self._lock)
        for descriptor in self._held.values():
            os.close(descriptor)
        now = time.time()
        for each in self._projects.iterdir() if self._projects.is_dir() else ():
            with suppress(OSError):
                if now - (each / "used").stat().st_mtime >= self.keep_copies:
                    lock = take_lock(each / "lock")
                    if lock is not None:
                        remove(each)
                        os.close(lock)

    async def send(self, message: Message) -> None:
        """Send a message. Raises OSError if nobody reads it."""
        await anyio.to_thread.run_sync(self._write, message, abandon_on_cancel=True)

    # What it is asked for.

    async def take(self, message: tool_protocol.ToServer, tasks: anyio.abc.TaskGroup) -> None:
        """Do what a message asks for. Raises OSError if nobody reads what it says."""
        match message:
            case tool_protocol.Ping():
                await self.send(tool_protocol.Pong())
            case tool_protocol.Cancel():
                if scope := self._going.get(message.id):
                    scope.cancel()
            case tool_protocol.Pack():  # One after the other.
                await self._answer(message)
            case tool_protocol.Request():
                tasks.start_soon(self._answer, message)

    async def _answer(self, request: tool_protocol.Request) -> None:
        reply: Message = tool_protocol.Failed(request.id, "cancelled")
        with anyio.CancelScope() as scope:
            self._going[request.id] = scope
            try:
                reply = await self._done(request)
            except (FailedError, GitError, PatchError) as error:
                reply = tool_protocol.Failed(request.id, str(error))
            except OSError as error:
                reply = tool_protocol.Failed(request.id, os_fault(error))
            except Exception as bug:  # noqa: BLE001 - the other requests go on
                reply = tool_protocol.Failed(request.id, f"internal error: {bug!r}")
            finally:
                del self._going[request.id]
        with suppress(OSError):  # Then the input ends as well.
            await self.send(reply)

    async def _done(self, request: tool_protocol.Request) -> Message:
        match request:
            case tool_protocol.Rehearse():
                return await self._rehearse(request)
            case tool_protocol.Call():
                return await self._call(request)
            case tool_protocol.Project():
                known = await self._in_thread(partial(self._known, request.project))
                return tool_protocol.Known(request.id, known)
            case tool_protocol.Pack():
                await self._in_thread(partial(self._unpack, request))
            case tool_protocol.Open():
                return tool_protocol.Opened(
                    request.id, await self._in_thread(partial(self._open, request))
                )
            case tool_protocol.Collect():
                copy = self._copy(request.copy)
                async with copy.lock:
                    state, changes = await self._in_thread(copy.mirror.changes)
                    copy.mirror.state = state
                return tool_protocol.Patch(request.id, tuple(changes))
            case tool_protocol.Put():
                copy = self._copy(request.copy)
                async with copy.lock:
                    await self._in_thread(partial(copy.mirror.take, request.changes))
            case tool_protocol.Close():
                copy = self._copy(request.copy)
                del self._copies[request.copy]
                await self._in_thread(partial(remove, copy.home))
        return tool_protocol.Done(request.id)

    async def _in_thread(self, work: Callable[[], _T]) -> _T:
        def stoppable() -> _T:
            STOPPED.set(self._stopped)
            return work()

        return await anyio.to_thread.run_sync(stoppable)

    # Tools.

    async def _call(self, call: tool_protocol.Call) -> Message:
        tool = BUILTIN_TOOLS[self._tool(call)]
        if tool.writes and call.read_only:
            raise FailedError("this agent may look at files but not write them")
        try:
            found = await tool.execute(_tool_call(call), self._workplace(call))
        except ToolError as error:
            return tool_protocol.Result(call.id, valid_text(str(error)), is_error=True)
        shown = Shown(found, ()) if isinstance(found, str) else found
        return tool_protocol.Result(call.id, valid_text(shown.text), shown.images)

    async def _rehearse(self, call: tool_protocol.Rehearse) -> Message:
        rehearse = BUILTIN_TOOLS[self._tool(call)].rehearse
        if rehearse is None:
            raise FailedError(f"{call.name} changes nothing")
        try:
            found = await rehearse(_tool_call(call), self._workplace(call))
        except ToolError as error:
            return tool_protocol.Result(call.id, valid_text(str(error)), is_error=True)
        return tool_protocol.Rehearsed(
            call.id,
            valid_text(found.purpose),
            valid_text(found.details),
            found.change,
            valid_text(found.subject),
        )

    def _tool(self, call: tool_protocol.Call) -> str:
        if call.name not in BUILTIN_TOOLS or BUILTIN_TOOLS[call.name].is_here:
            raise FailedError(f"{call.name} can't be executed on this side")
        return call.name

    def _workplace(self, call: tool_protocol.Call) -> Workplace:
        top = self._copy(call.copy).home / "tree"
        folder = Path(os.path.normpath(top / call.folder))
        if not folder.is_relative_to(top):
            raise FailedError("the folder is outside of the copy")
        return Workplace(folder, self._environment, read_only=call.read_only, agents=call.agents)

    def _copy(self, copy: str) -> _Copy:
        if copy not in self._copies:
            raise FailedError("there is no such copy")
        return self._copies[copy]

    # Copies.

    def _project(self, project: str) -> Path:
        """Return the folder of a project, which is there as long as this process is."""
        folder = self._projects / _named(project)
        if project not in self._held:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = take_lock(folder / "lock", is_shared=True)
            if lock is None:
                raise FailedError("another process is about to delete the project; try again")
            self._held[project] = lock
        (folder / "used").touch()
        return folder

    def _known(self, project: str) -> tuple[str, ...]:
        file = self._project(project) / "bases"
        listed = file.read_text("ascii", "replace").split() if file.exists() else []
        newest = dict.fromkeys(reversed([each for each in listed if _NAME.fullmatch(each)]))
        return tuple(newest)[:_MOST_KNOWN]

    def _unpack(self, piece: tool_protocol.Pack) -> None:
        file = self._folder / f"{piece.id}.pack"
        if piece.id not in self._packs:
            self._packs[piece.id] = file.open("w+b")
        pack, is_whole = self._packs[piece.id], bool(piece.commits)
        try:
            pack.write(piece.data)
            if is_whole:
                pack.seek(0)
                own = self._own(
                    self._folder / f"{piece.id}.git", piece.project, piece.object_format
                )
                own("index-pack", "--fix-thin", "--stdin", stdin=pack.read())
        except BaseException:
            is_whole = True  # The others are not sent.
            raise
        finally:
            if is_whole:
                del self._packs[piece.id]
                file.unlink()
                with suppress(OSError):  # What a full disk has not taken.
                    pack.close()
        if is_whole:
            with (self._project(piece.project) / "bases").open("a") as bases:
                bases.write("".join(f"{_named(each)}\n" for each in piece.commits))

    def _own(self, git: Path, project: str, object_format: str) -> OwnGit:
        """Return a git folder of ours with the contents of a project."""
        objects = self._project(project) / "objects"
        objects.mkdir(exist_ok=True)
        own = make_own(git, None, self._environment, object_format)
        return OwnGit(own.folder, str(objects), own.environment)

    def _open(self, request: tool_protocol.Open) -> str:
        home = self._folder / _named(request.copy)
        home.mkdir()
        now = _named(request.now)
        tree, index = home / "tree", home / "index"
        tree.mkdir()
        own = self._own(home / "git", request.project, request.object_format)
        (home / "git" / "info" / "exclude").write_text(request.ignored, "utf-8")
        own("read-tree", "--reset", "-u", now, tree=tree, index=index)
        if request.is_repository:
            _make_repository(tree / ".git", own, request)
            shutil.copy2(index, tree / ".git" / "index")
        folder = Path(os.path.normpath(tree / request.prefix))
        if not folder.is_relative_to(tree):
            raise FailedError("the folder is outside of the copy")
        folder.mkdir(parents=True, exist_ok=True)
        mirror = Mirror(TrackedFiles(own, tree, index, _named(request.tree)))
        self._copies[request.copy] = _Copy(home, mirror, anyio.Lock())
        return str(folder)


def _named(text: str) -> str:
    """Return the same text, which may become a part of a path or of a command. Raises FailedError."""
    if not _NAME.fullmatch(text):
        raise FailedError("this is not the name of a copy, a project or a commit")
    return text


def _make_repository(git: Path, own: OwnGit, request: tool_protocol.Open) -> None:
    """Make a repository for the agent's own git commands: one commit, and a detached HEAD."""
    for each in ("refs", "objects/info"):
        (git / each).mkdir(parents=True)
    (git / "HEAD").write_text(f"{_named(request.base)}\n")
    (git / "objects" / "info" / "alternates").write_text(f"{own.objects}\n")
    (git / "config").write_bytes((Path(own.folder) / "config").read_bytes())


def _tool_call(call: tool_protocol.Call) -> ToolCall:
    return ToolCall(str(call.id), call.name, call.arguments)


def main(environment: Mapping[str, str]) -> int:
    """Serve standard input and output; returns the exit code."""
    source, sink = stdio.claim()
    anyio.run(serve, environment, source, os.fdopen(sink, "wb"))
    sys.stderr.flush()
    os._exit(0)  # The thread that waits for the end of the input may still do so.
