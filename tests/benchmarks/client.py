"""A lean LSP client in one thread, which costs little and so hides little of what it measures.

    with Client(["axe-lsp", "--stdio"], folder, environment) as client:
        client.initialize(folder)
        client.open(uri, text)
        client.wait_for_diagnostics(uri, lambda found: found)

Reads while it writes, so that neither side can wait for the other for ever. How a server behaves that
is spoken to badly is the business of `support.raw_client`.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

PATIENCE = 60.0
"""Seconds without an answer after which a server counts as stuck."""

Json = Any
Diagnostics = list[dict[str, Json]]

_CHUNK = 1 << 16
_LULL = 0.3
_CAPABILITIES = {
    "general": {"positionEncodings": ["utf-8", "utf-16"]},
    "textDocument": {
        "synchronization": {"dynamicRegistration": True, "didSave": True},
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": True},
        "completion": {"completionItem": {"snippetSupport": True}},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "refactor"]}},
            "isPreferredSupport": True,
        },
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "definition": {"linkSupport": True},
    },
    "window": {"workDoneProgress": True},
    "workspace": {
        "applyEdit": True,
        "configuration": True,
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "symbol": {"resolveSupport": {"properties": ["location.range"]}},
        "workspaceEdit": {
            "documentChanges": True,
            "resourceOperations": ["create", "rename", "delete"],
        },
        "workspaceFolders": True,
    },
}


class StuckError(Exception):
    """A server that has ended, or doesn't answer."""


class Client:
    """One server, started and spoken to."""

    def __init__(
        self, command: Sequence[str | Path], folder: Path, environment: Mapping[str, str]
    ) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            bufsize=0,
            cwd=folder,
            env=environment,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        self._buffer = bytearray()
        self._folder = folder
        self._numbers = itertools.count(1)
        self.patience = PATIENCE
        self.settings: Json = None
        """What the user has set below `axe`."""

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the server by force, in case it is stuck."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            if stream is not None:
                stream.close()

    # -- what an editor says

    def initialize(self) -> Json:
        """Return the request alone, with which the measuring of starts ends."""
        folder = {"uri": self._folder.as_uri(), "name": self._folder.name}
        return self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": folder["uri"],
                "workspaceFolders": [folder],
                "capabilities": _CAPABILITIES,
            },
        )

    def begin(self) -> None:
        """`initialize` and `initialized`."""
        self.initialize()
        self.notify("initialized", {})

    def open(self, uri: str, text: str) -> None:
        """A document was opened."""
        item = {"uri": uri, "languageId": "toml", "version": next(self._numbers), "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, change: Json) -> int:
        """Change a document and return its version."""
        version = next(self._numbers)
        params = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]}
        self.notify("textDocument/didChange", params)
        return version

    def close_document(self, uri: str) -> None:
        """A document was closed."""
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def notify(self, method: str, params: Json) -> None:
        """Send a notification."""
        self.send(message(method, params))

    def request(self, method: str, params: Json) -> Json:
        """Send a request and wait for its result."""
        number = self.send_request(method, params)
        answer = self.wait(lambda each: "method" not in each and each.get("id") == number, method)
        if "error" in answer:
            raise StuckError(f"{method}: {answer['error']}")
        return answer["result"]

    def send_request(self, method: str, params: Json) -> int:
        """Send a request without waiting for its result; returns its number."""
        number = next(self._numbers)
        self.send(message(method, params, id=number))
        return number

    # -- what it hears

    def wait_for_diagnostics(self, uri: str, fits: Callable[[Diagnostics], object]) -> Diagnostics:
        """Wait until diagnostics of a document fit."""

        def is_it(each: Json) -> bool:
            if each.get("method") != "textDocument/publishDiagnostics":
                return False
            params = each["params"]
            return params["uri"] == uri and bool(fits(params["diagnostics"]))

        found: Diagnostics = self.wait(is_it, f"diagnostics of {uri}")["params"]["diagnostics"]
        return found

    def wait_for_version(self, uri: str, version: int) -> Diagnostics:
        """Wait until diagnostics of that version of a document are there."""

        def is_it(each: Json) -> bool:
            params = each.get("params") or {}
            return params.get("uri") == uri and params.get("version") == version

        received = self.wait(is_it, f"diagnostics of version {version} of {uri}")
        found: Diagnostics = received["params"]["diagnostics"]
        return found

    def wait(self, fits: Callable[[Json], bool], what: str) -> Json:
        """Return the first message from now on that fits; what comes before it is dropped."""
        deadline = time.monotonic() + self.patience
        while True:
            received = self._next_message()
            if received is None:
                self._read(deadline, what)
            elif not self._serve(received) and fits(received):
                return received

    def listen(self, seconds: float) -> None:
        """Read what comes for a while, and drop it."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            received = self._next_message()
            if received is not None:
                self._serve(received)
            elif select.select([self._from], [], [], left)[0]:
                self._read(end, "anything")

    def wait_until_idle(self) -> None:
        """Wait until the server has nothing to do any more, whatever it did in the background."""
        before, now = -1, self._processor_time
        while now != before:
            time.sleep(_LULL)
            before, now = now, self._processor_time

    @property
    def pid(self) -> int:
        """The process of the server."""
        return self._process.pid

    @property
    def memory(self) -> float:
        """The resident memory of the server, in MB."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    @property
    def processor_ms(self) -> float:
        """The processor time that the server has taken, in milliseconds."""
        # As `clock_getcpuclockid` makes the clock of a process, which Python does not have.
        return time.clock_gettime(~self._process.pid << 3 | 2) * 1000

    # -- underneath

    @property
    def _processor_time(self) -> int:
        """In ticks of the system's clock."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    def send(self, data: bytes) -> None:
        """Write messages as they are."""
        rest = memoryview(data)
        deadline = time.monotonic() + self.patience
        while rest:
            try:
                rest = rest[os.write(self._to, rest) :]
            except BlockingIOError:
                self._take_turns(deadline)
            except BrokenPipeError as error:
                raise StuckError(self._explain("it to read")) from error

    def _take_turns(self, deadline: float) -> None:
        """Wait until the server reads or writes."""
        left = deadline - time.monotonic()
        readable, writable, _ = select.select([self._from], [self._to], [], max(0, left))
        if readable:
            self._buffer += os.read(self._from, _CHUNK)
        elif not writable:
            raise StuckError(self._explain("it to read"))

    def _read(self, deadline: float, what: str) -> None:
        left = deadline - time.monotonic()
        readable, _, _ = select.select([self._from], [], [], max(0, left))
        data = os.read(self._from, _CHUNK) if readable else b""
        if not data:
            raise StuckError(self._explain(what))
        self._buffer += data

    def _next_message(self) -> Json | None:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        header = bytes(self._buffer[:end]).lower()
        length = int(header.partition(b"content-length:")[2].split(b"\r\n")[0])
        start = end + 4
        if len(self._buffer) < start + length:
            return None
        body = bytes(self._buffer[start : start + length])
        del self._buffer[: start + length]
        return json.loads(body)

    def _serve(self, received: Json) -> bool:
        """Return whether it was a request, which is answered: registrations, progress, settings, folders."""
        if "method" not in received or "id" not in received:
            return False
        self._answer(received)
        return True

    def _answer(self, request: Json) -> None:
        result: Json = None
        if request["method"] == "workspace/configuration":
            result = [self.settings] * len(request["params"]["items"])
        elif request["method"] == "workspace/workspaceFolders":
            result = [{"uri": self._folder.as_uri(), "name": self._folder.name}]
        self.send(framed({"jsonrpc": "2.0", "id": request["id"], "result": result}))

    def _explain(self, what: str) -> str:
        self._log.seek(0)
        log = self._log.read()[-2000:].decode(errors="replace")
        return f"waited {self.patience:g} s for {what} (exit code {self._process.poll()})\n{log}"


def message(method: str, params: Json, **members: Json) -> bytes:
    """Return a call, framed."""
    return framed({"jsonrpc": "2.0", **members, "method": method, "params": params})


def framed(content: Json) -> bytes:
    """Return a message with its header."""
    body = json.dumps(content, separators=(",", ":")).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
