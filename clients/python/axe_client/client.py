"""A server that runs agents, and the runs that it makes for this program."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from axe_client.connection import METHOD_NOT_FOUND, Connection, ServerError
from axe_client.events import Event, MessageMode, read_event
from axe_client.members import read
from axe_client.results import (
    ChangedFile,
    LeftFile,
    RunChanges,
    RunResult,
    UndoResult,
    run_error,
)

LEAVE_SECONDS = 5.0
"""How long a server that was started may take to end before it is killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """An agent wants to change something. `details` is the exact command, or the change as a diff."""

    run_id: str
    root_run_id: str
    agent: str
    depth: int
    tool: str
    arguments: Mapping[str, Any]
    reason: str
    details: str
    parent_run_id: str | None = None


Decision = Literal["allow", "allowForRun", "deny"]
"""`allowForRun` is for the same command, file or call in everything that belongs to the run."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The `note` of a denial tells the model what to do instead."""

    decision: Decision
    note: str = ""


Approve = Callable[[Question], Awaitable[Answer]]
"""Answers a question. It is cancelled when the answer is not needed any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """A model asks something, with the tool `ask_user`. Other answers than the `choices` are possible."""

    run_id: str
    root_run_id: str
    agent: str
    depth: int
    reason: str
    question: str
    choices: Sequence[str] = ()
    parent_run_id: str | None = None


AnswerInquiry = Callable[[Inquiry], Awaitable[str | None]]
"""Gives the answer, or None for none. It is cancelled when the answer is not needed any more."""


@dataclass(frozen=True, slots=True)
class _Person:
    """Who answers what agents ask, as far as somebody does."""

    approve: Approve | None
    ask: AnswerInquiry | None

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the server is told of it."""
        able = {"approve": self.approve is not None, "ask": self.ask is not None}
        return {"experimental": {"axe": {name: True for name, can in able.items() if can}}}

    async def answer(self, method: str, params: Any) -> Any:
        """Return the result of a request of the server. Raises ServerError for what nobody answers."""
        if method == "axe/approve" and self.approve is not None:
            answer: object = await self.approve(read(Question, params))
            if not isinstance(answer, Answer) or answer.decision not in get_args(Decision):
                raise TypeError(
                    f"`approve` returned {answer!r}; an answer is Answer('allow'), 'allowForRun' or 'deny'"
                )
            return {"decision": answer.decision, "note": answer.note}
        if method == "axe/ask" and self.ask is not None:
            text: object = await self.ask(read(Inquiry, params))
            if text is not None and not isinstance(text, str):
                raise TypeError(f"`ask` returned {text!r}; an answer is a str, or None")
            return None if text is None else {"answer": text}
        raise ServerError(METHOD_NOT_FOUND, f"this client does not answer {method}")


@asynccontextmanager
async def start(
    command: Sequence[str] = ("axe-lsp", "--stdio"),
    *,
    folder: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    approve: Approve | None = None,
    ask: AnswerInquiry | None = None,
    settings: Mapping[str, Any] | None = None,
) -> AsyncIterator[Client]:
    """Start a server for the agents of a folder (the current one), and end it when the block ends.

    Without `approve` agents change nothing but what the setting `tools.allow` allows; without `ask`
    their tool `ask_user` finds nobody.
    """
    root = _root(folder)
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env=env, cwd=root
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        person = _Person(approve, ask)
        async with _session(process.stdout, process.stdin, root, person, settings) as client:
            yield client
    finally:
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(process.wait(), LEAVE_SECONDS)
        if process.returncode is None:
            process.kill()
            await process.wait()


@asynccontextmanager
async def connect(
    host: str,
    port: int,
    *,
    folder: Path | str | None = None,
    approve: Approve | None = None,
    ask: AnswerInquiry | None = None,
    settings: Mapping[str, Any] | None = None,
    token: str | None = None,
) -> AsyncIterator[Client]:
    """Connect to a server that was started with `axe-lsp --tcp`, which may have other clients too.

    The server wants its `token`. Without one here, that which a server of this user on this machine keeps
    in a file is used.
    """
    if token is None:
        token = _token_of_server(port)
    reader, writer = await asyncio.open_connection(host, port)
    root = _root(folder)
    presented = {**(settings or {}), "axeToken": token}
    async with _session(reader, writer, root, _Person(approve, ask), presented) as client:
        yield client


def _root(folder: Path | str | None) -> Path:
    return Path(folder or ".").resolve()


def _token_of_server(port: int) -> str:
    """Read the token of this user's server at a port. Raises ConnectionError if there is no such server."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    path = Path(state, "axe", f"tcp-{port}.token")
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise ConnectionError(
            f"no token of a server on port {port} in {path}: {error.strerror}; "
            "start `axe-lsp --tcp` as this user, or give connect() the token"
        ) from error


@asynccontextmanager
async def _session(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    folder: Path,
    person: _Person,
    settings: Mapping[str, Any] | None,
) -> AsyncIterator[Client]:
    """Provide a client that has introduced itself, and takes its leave in the end."""
    client = Client(reader, writer, person)
    listening = asyncio.create_task(client.connection.listen())
    try:
        params = {
            "processId": None,
            "rootUri": folder.as_uri(),
            "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name}],
            "capabilities": person.capabilities,
            "initializationOptions": settings,
        }
        await client.request("initialize", params)
        client.connection.notify("initialized", {})
        yield client
        with suppress(ConnectionError):  # It may have left before.
            await client.request("shutdown")
            client.connection.notify("exit")
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        listening.cancel()
        await asyncio.wait([listening])


class Client:
    """A connection to a server; made by `start` and `connect`."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, person: _Person
    ) -> None:
        self.connection = Connection(reader, writer, self._hear, person.answer)
        self._runs: dict[str, Run] = {}
        self._beginning: Run | None = None
        self._one_begins = asyncio.Lock()

    async def request(self, method: str, params: Any = None) -> Any:
        """Whatever docs/protocol.md describes, such as `axe/agents`, `axe/preview`, `axe/stop`, `axe/runs`."""
        _, answer = self.connection.request(method, params)
        return await answer

    @asynccontextmanager
    async def run(
        self,
        agent: str,
        task: str | None = None,
        *,
        input: Mapping[str, Any] | None = None,  # noqa: A002 - so the protocol calls it
        model: str | None = None,
        skill: str | None = None,
        workdir: str | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[Run]:
        """Run an agent, by name; with a task, or with an `input` if it has one.

        A run that is still going on when the block ends is cancelled. `timeout` is in seconds.
        """
        params = {
            "agent": agent,
            "task": task,
            "input": input,
            "model": model,
            "skill": skill,
            "workdir": workdir,
            "timeoutMs": _milliseconds(timeout),
        }
        async with self._begun("axe/run", params) as run:
            yield run

    @asynccontextmanager
    async def resume(
        self, run_id: str, *, timeout: float | None = None, max_tokens: int | None = None
    ) -> AsyncIterator[Run]:
        """Go on with a root run that ended before it was completed; else as `run`.

        `timeout` counts from now on; `max_tokens` is the limit of the whole run, with what it has used.
        """
        params = {
            "runId": run_id,
            "timeoutMs": _milliseconds(timeout),
            "maxTokens": max_tokens,
        }
        async with self._begun("axe/resume", params) as run:
            yield run

    @asynccontextmanager
    async def reply(
        self,
        run_id: str,
        task: str,
        *,
        session: bool = False,
        agent: str | None = None,
        model: str | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[Run]:
        """Send a further message in the conversation of a completed root run. It is a new run; else as `run`.

        In a `session` the agent file is read again, the run need not be completed, and another `agent` may answer.
        """
        params = {
            "continue": run_id,
            "task": task,
            "session": session or None,
            "agent": agent,
            "model": model,
            "timeoutMs": _milliseconds(timeout),
        }
        async with self._begun("axe/run", params) as run:
            yield run

    @asynccontextmanager
    async def fork(
        self,
        run_id: str,
        turn: int,
        *,
        model: str | None = None,
        timeout: float | None = None,
        max_tokens: int | None = None,
    ) -> AsyncIterator[Run]:
        """Make a new run that shares the turns of a root run before `turn`, with another model if wanted; else as `run`."""
        params = {
            "runId": run_id,
            "fromTurn": turn,
            "model": model,
            "timeoutMs": _milliseconds(timeout),
            "maxTokens": max_tokens,
        }
        async with self._begun("axe/resume", params) as run:
            yield run

    async def changes(self, run_id: str) -> RunChanges:
        """Return the files that `write_file` and `edit_file` have changed in a run that has ended."""
        result = await self.request("axe/undo", {"runId": run_id})
        files = [read(ChangedFile, each) for each in result["files"]]
        return RunChanges(files=files, has_commands=result["hasCommands"])

    async def undo(self, run_id: str, files: Sequence[ChangedFile]) -> UndoResult:
        """Put back files of `changes`, as far as they are still as they were then."""
        agreed = [
            {"path": each.path, "digest": each.digest} for each in files if each.digest is not None
        ]
        result = await self.request("axe/undo", {"runId": run_id, "agreed": agreed})
        left = [read(LeftFile, each) for each in result["left"]]
        return UndoResult(undone=result["undone"], left=left)

    @asynccontextmanager
    async def _begun(self, method: str, params: Mapping[str, Any]) -> AsyncIterator[Run]:
        # Notifications do not say which request they belong to. As only one run begins at a time,
        # the one that begins next is the one that was asked for last.
        async with self._one_begins:
            run = Run(self.connection, method, _given(params))
            self._beginning = run
            try:
                await run.begun()
            except BaseException:
                await run.end()
                raise
            finally:
                self._beginning = None
        try:
            yield run
        finally:
            await run.end()
            self._runs.pop(run.id, None)

    def _hear(self, method: str, params: Any) -> None:
        if not method.startswith("axe/"):
            return
        event = read_event(method, params)
        if self._beginning is not None and event.root_run_id not in self._runs:
            self._runs[event.root_run_id] = self._beginning
            self._beginning = None
        if event.root_run_id in self._runs:
            self._runs[event.root_run_id].tell(event)


class Run:
    """A run that is going on; made by `Client.run` and `Client.resume`.

    Iterating over it gives its events and those of all agents below it, until it is over.
    """

    def __init__(self, connection: Connection, method: str, params: Mapping[str, Any]) -> None:
        self.id = ""
        self._connection = connection
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._begun = asyncio.Event()
        self._number, self._answer = connection.request(method, params)
        self._answer.add_done_callback(lambda _: self._over())

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Yield the events, each once."""
        while (event := await self._events.get()) is not None:
            yield event
        self._events.put_nowait(None)

    async def result(self) -> RunResult:
        """Wait for the end. Raises RunFailedError or RunCancelledError."""
        try:
            return read(RunResult, await asyncio.shield(self._answer))
        except ServerError as error:
            raise run_error(error) from None

    async def send(self, text: str, *, mode: MessageMode = "next", run_id: str = "") -> str:
        """Send a message to the run, or to one below it, and return the message's id.

        It is given before the next request; with the mode "after" when the run would end, with "now" at once.
        Raises ServerError if the run takes none, whose `data` has the `reason`.
        """
        await self.begun()
        params = {"runId": run_id or self.id, "text": text, "mode": mode}
        _, answer = self._connection.request("axe/message", params)
        return str((await answer)["messageId"])

    def cancel(self) -> None:
        """End the run and everything below it, within a second."""
        self._connection.cancel(self._number)

    async def begun(self) -> None:
        """Wait until it has begun, which may take until others have ended, or could not begin."""
        await self._begun.wait()

    async def end(self) -> None:
        """Cancel it if it is still going on, and wait until it is over."""
        self.cancel()
        await asyncio.wait([self._answer])

    def tell(self, event: Event) -> None:
        """Something has happened in it."""
        self.id = event.root_run_id
        self._begun.set()
        self._events.put_nowait(event)

    def _over(self) -> None:
        self._answer.exception()  # Whoever asks for the result hears of it; nobody has to.
        self._begun.set()
        self._events.put_nowait(None)


def _given(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)
