"""The files and terminals of the client, for the tools of runs: `fs/*` and `terminal/*`.

Where a client has no text, that on the disk counts. What it refuses to write or to run is not written or run, since
that may be a decision of its user. A client that does not answer is not asked again for the rest of the message.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from msgspec import Struct

from axe_lsp.acp.client_connection import METHOD_NOT_FOUND, Connection, RequestError
from axe_lsp.acp.update_queue import Update
from axe_lsp.acp.updates import Updates
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.tools.editor import (
    Ability,
    EditorAnswer,
    EditorRequest,
    QueryCode,
    ReadFile,
    RunCommand,
    WriteFile,
)

_Value = TypeVar("_Value")


class Timeouts(Struct, frozen=True):
    """Seconds to wait for the client: for an `answer`, and for a `decision`.

    Some clients ask their user before they write a file or make a terminal.
    """

    answer: float = 5.0
    decision: float = 60.0


class ClientEditor:
    """The client as the editor of a session. `capabilities` are those that it has declared."""

    def __init__(
        self, client: Connection, capabilities: Mapping[str, Any], timeouts: Timeouts | None = None
    ) -> None:
        self.client = client
        self.timeouts = timeouts or Timeouts()
        self.abilities = tuple(_abilities(capabilities))
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, path: str) -> asyncio.Lock:
        """Return the lock of a path, to be held while its file is written."""
        lock = self._locks.get(path)
        if lock is None:
            lock = self._locks[path] = asyncio.Lock()
        return lock


class SilentError(Exception):
    """The client has not answered. The text says so."""


class EditorOfMessage:
    """The same while one message is answered, whose calls are in `updates`. It has the files below its `folders`."""

    def __init__(
        self,
        editor: ClientEditor,
        folders: Sequence[Path],
        updates: Updates,
        warn: Callable[[str], None],
    ) -> None:
        self._editor = editor
        self._folders = folders
        self._updates = updates
        self._warn = warn
        self._silent = ""
        self._warned: set[str] = set()

    async def __call__(self, run: RunIds, request: EditorRequest) -> EditorAnswer:
        """Do something for a run. It is an `AskEditor`."""
        if self._silent:
            return EditorAnswer("failed", self._silent)
        session = self._updates.session_of(run.run_id)
        if isinstance(request, (ReadFile, WriteFile)) and not self._has(request.path):
            return EditorAnswer("failed", "the file is not in a folder of the editor")
        match request:
            case ReadFile(path):
                return await self._read(session, path)
            case WriteFile():
                async with self._editor.lock(request.path):
                    return await self._write(session, request)
            case RunCommand():
                return await self._run(session, run, request)
            case QueryCode():
                return EditorAnswer("failed", "the protocol of the editor has no such request")

    # Files.

    def _has(self, path: str) -> bool:
        return any(Path(path).is_relative_to(each) for each in self._folders)

    async def _read(self, session: str, path: str) -> EditorAnswer:
        method = "fs/read_text_file"
        try:
            result = await self._request(
                method, {"sessionId": session, "path": path}, self._editor.timeouts.answer
            )
        except SilentError as error:
            return self._failed(method, str(error), "files are read from the disk")
        except RequestError as error:
            why = _refusal(method, error)
            if not await asyncio.to_thread(os.path.exists, path):  # Nor is there on the disk.
                return EditorAnswer("failed", why)
            return self._failed(method, why, "the file is read from the disk")
        text = _member(result, "content", str)
        if text is None:
            why = f"the editor's answer to {method} has no content"
            return self._failed(method, why, "the file is read from the disk")
        return EditorAnswer(text=text)

    async def _write(self, session: str, request: WriteFile) -> EditorAnswer:
        method = "fs/write_text_file"
        if request.before is not None:
            now = await self._read(session, request.path)
            if self._silent:
                return EditorAnswer("refused", self._silent)
            if now.outcome == "done" and now.text != request.before:
                return EditorAnswer("changed", "the file has changed in the editor")
        params = {"sessionId": session, "path": request.path, "content": request.text}
        try:
            await self._request(method, params, self._editor.timeouts.decision)
        except SilentError as error:
            return EditorAnswer("unknown", str(error))
        except RequestError as error:
            return self._refused(method, error, "files are written to the disk")
        return EditorAnswer()

    # Terminals.

    async def _run(self, session: str, run: RunIds, request: RunCommand) -> EditorAnswer:
        method = "terminal/create"
        program, *arguments = request.command
        params = {
            "sessionId": session,
            "command": program,
            "args": arguments,
            "env": [{"name": name, "value": it} for name, it in request.environment.items()],
            "cwd": request.folder,
            "outputByteLimit": request.keep,
        }
        try:
            result = await self._request(
                method, params, self._editor.timeouts.decision, self._releaser(session)
            )
        except SilentError as error:
            return EditorAnswer("unknown", str(error))
        except RequestError as error:
            return self._refused(method, error, "commands run without its terminals")
        terminal = _member(result, "terminalId", str)
        if terminal is None:
            return EditorAnswer("unknown", f"the editor's answer to {method} has no terminalId")
        return await self._to_its_end({"sessionId": session, "terminalId": terminal}, run, request)

    def _releaser(self, session: str) -> Callable[[Any], None]:
        """Return a callback that releases a terminal which the client has created after the request was cancelled."""

        def release(result: Any) -> None:
            terminal = _member(result, "terminalId", str)
            if terminal is not None:
                self._release({"sessionId": session, "terminalId": terminal}, is_over=False)

        return release

    def _release(self, terminal: Update, *, is_over: bool) -> None:
        if not is_over:
            self._editor.client.order("terminal/kill", terminal)
        self._editor.client.order("terminal/release", terminal)

    async def _to_its_end(self, terminal: Update, run: RunIds, request: RunCommand) -> EditorAnswer:
        """Wait until a command has ended, or its time is over. However this ends, so does the command."""
        is_over = False
        self._updates.show_terminal(run.run_id, request.call_id, terminal["terminalId"])
        try:
            ended = await self._ended(terminal, request.limit)
            if ended is None:
                await self._request("terminal/kill", terminal, self._editor.timeouts.answer)
            is_over = True
            shown = await self._request("terminal/output", terminal, self._editor.timeouts.answer)
        except SilentError as error:
            return EditorAnswer("unknown", str(error))
        except RequestError as error:
            return EditorAnswer("unknown", f"the editor has lost a terminal: {error}")
        finally:
            self._release(terminal, is_over=is_over)
        text = _member(shown, "output", str) or ""
        is_all = not _member(shown, "truncated", bool)
        if ended is None:
            return EditorAnswer(text=text, is_all=is_all)
        code, signal = _member(ended, "exitCode", int), _member(ended, "signal", str) or ""
        if code is None and not signal:
            signal = "a signal"
        return EditorAnswer(text=text, is_all=is_all, code=code, signal=signal)

    async def _ended(self, terminal: Update, limit: float) -> Mapping[str, Any] | None:
        """Return how a command has ended; None if its time was over."""
        waiting = self._editor.client.request("terminal/wait_for_exit", terminal)
        try:
            ended = await asyncio.wait_for(waiting, limit)
        except asyncio.TimeoutError:
            return None
        return ended if isinstance(ended, Mapping) else {}

    # Both.

    async def _request(
        self, method: str, params: Update, seconds: float, late: Callable[[Any], object] = bool
    ) -> Any:
        """Return the client's result. Raises RequestError or SilentError."""
        try:
            return await asyncio.wait_for(
                self._editor.client.request(method, params, late), seconds
            )
        except asyncio.TimeoutError:
            self._silent = f"the editor did not answer {method} within {seconds:g} s"
            raise SilentError(self._silent) from None

    def _refused(self, method: str, error: RequestError, instead: str) -> EditorAnswer:
        """Return the refusal of a client; one that does not know the method has no say."""
        why = _refusal(method, error)
        if error.code == METHOD_NOT_FOUND:
            return self._failed(method, why, instead)
        return EditorAnswer("refused", why)

    def _failed(self, method: str, why: str, instead: str) -> EditorAnswer:
        """Return the answer for what the client has not done. Its user hears of that, once for each method."""
        if method not in self._warned:
            self._warned.add(method)
            self._warn(f"{why}; {instead}")
        return EditorAnswer("failed", why)


def _refusal(method: str, error: RequestError) -> str:
    return f"the editor refused {method}: {error}"


def _member(result: Any, name: str, kind: type[_Value]) -> _Value | None:
    """Return a member of a result; None if it is missing, or of another type."""
    value = result.get(name) if isinstance(result, Mapping) else None
    return value if type(value) is kind else None


def _abilities(capabilities: Mapping[str, Any]) -> Iterator[Ability]:
    files = capabilities.get("fs")
    if isinstance(files, Mapping) and files.get("readTextFile") is True:
        yield "read"
    if isinstance(files, Mapping) and files.get("writeTextFile") is True:
        yield "write"
    if capabilities.get("terminal") is True:
        yield "terminal"
