"""A small client of LSP that hides nothing: framing, order, end of input, exit code, time.

    with RawClient.spawn([sys.executable, "-m", "axe_lsp.cli.main", "--stdio"]) as client:
        client.initialize(rootUri="file:///project")
        client.notify("textDocument/didOpen", {"textDocument": {...}})
        params = client.wait_for("textDocument/publishDiagnostics", lambda p: p["version"] == 1)
        hover = client.request("textDocument/hover", {...})
        assert client.leave() == 0

A thread reads all that the server sends, so nothing is missed that came before one asked for it.
Everything that arrived stays in `client.received`, in order. A wait that is in vain says what was
awaited, what arrived instead, and what the server wrote to standard error.
"""

from __future__ import annotations

import itertools
import json
import os
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

TIMEOUT = 60.0
"""Generous, because the machine may be busy; only a failing test waits that long."""

Json = Any
_LEFT_OUT: Any = object()


class ServerError(Exception):
    """The server answered with an error."""

    def __init__(self, error: dict[str, Json]) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: Json = error.get("data")


class RawClient:
    """One connection."""

    def __init__(
        self,
        incoming: BinaryIO,
        outgoing: BinaryIO,
        process: subprocess.Popen[bytes] | None = None,
        log: BinaryIO | None = None,
        connection: socket.socket | None = None,
        token: str | None = None,
    ) -> None:
        self.process = process
        self.token = token
        """What `initialize` presents to a server on TCP."""
        self.received: list[dict[str, Json]] = []
        """Every message from the server, in order."""
        self.ended = False
        """Whether the server has closed its side."""
        self.answer_with: dict[str, Callable[[Json], Json]] = dict(_CLIENT_ANSWERS)
        """How requests of the server are answered; others get -32601. A `Future` is answered when it is done."""
        self._incoming, self._outgoing = incoming, outgoing
        self._log, self._connection = log, connection
        self._ids = itertools.count(1)
        self._taken: set[int] = set()
        self._log_start = 0
        self._broken: str | None = None
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._may_read = threading.Event()
        self._may_read.set()
        self._reader = threading.Thread(target=self._read_all, daemon=True)
        self._reader.start()

    @classmethod
    def spawn(
        cls,
        command: Sequence[str | Path],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> RawClient:
        """Start a server and speak to it over its standard streams; `env` adds to ours."""
        log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env={**os.environ, **(env or {})},
            cwd=cwd,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        return cls(process.stdout, process.stdin, process, log)

    @classmethod
    def connect(cls, address: tuple[str, int] | str, token: str | None = None) -> RawClient:
        """Connect to a TCP address, or to the path of a Unix socket."""
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        connection = socket.socket(family, socket.SOCK_STREAM)
        connection.connect(address)
        incoming, outgoing = connection.makefile("rb"), connection.makefile("wb")
        return cls(incoming, outgoing, connection=connection, token=token)

    def __enter__(self) -> RawClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- Speaking

    def send_raw(self, data: bytes) -> None:
        with self._writing:
            self._outgoing.write(data)
            self._outgoing.flush()

    def send(self, *messages: Json) -> None:
        """Send messages as they are, all in one write."""
        self.send_raw(b"".join(framed(json.dumps(message).encode()) for message in messages))

    def notify(self, method: str, params: Json = _LEFT_OUT) -> None:
        self.send(notification(method, params))

    def start_request(self, method: str, params: Json = _LEFT_OUT) -> int:
        """Send a request without waiting; `answer` or `result` takes its id."""
        number = next(self._ids)
        self.send({"id": number, **notification(method, params)})
        return number

    def request(self, method: str, params: Json = _LEFT_OUT, timeout: float = TIMEOUT) -> Json:
        """Return the result; raises `ServerError` if the server answers with an error."""
        return self.result(self.start_request(method, params), timeout)

    def cancel(self, number: int | str) -> None:
        self.notify("$/cancelRequest", {"id": number})

    def initialize(self, **params: Json) -> Json:
        """`initialize` and `initialized`; gives the result. `params` adds to a bare minimum."""
        minimum = {"processId": None, "rootUri": None, "capabilities": {}}
        if self.token is not None:
            options = params.get("initializationOptions") or {}
            params["initializationOptions"] = {**options, "axeToken": self.token}
        result = self.request("initialize", {**minimum, **params})
        self.notify("initialized", {})
        return result

    def stop_reading(self) -> None:
        """Leave what the server sends in the pipe from now on (a message may still be read)."""
        self._may_read.clear()

    def go_on_reading(self) -> None:
        self._may_read.set()

    # --- Listening

    def answer(self, number: int | str | None, timeout: float = TIMEOUT) -> dict[str, Json]:
        """Return the whole answer to a request."""
        return self._await(
            f"an answer to request {number!r}",
            lambda message: "method" not in message and message.get("id", 0) == number,
            timeout,
        )

    def result(self, number: int | str, timeout: float = TIMEOUT) -> Json:
        answer = self.answer(number, timeout)
        if "error" in answer:
            raise ServerError(answer["error"])
        return answer["result"]

    def wait_for(
        self,
        method: str,
        predicate: Callable[[Json], bool] = lambda _: True,
        timeout: float = TIMEOUT,
    ) -> Json:
        """Return the params of the first message with `method` that fits and wasn't given out before."""
        message = self._await(
            method,
            lambda message: message.get("method") == method and predicate(message.get("params")),
            timeout,
        )
        return message.get("params")

    def wait_for_event(self, number: int, timeout: float = TIMEOUT) -> None:
        """Wait for the event of a run with that number."""
        self._await(
            f"event {number}",
            lambda message: (message.get("params") or {}).get("seq", 0) == number,
            timeout,
        )

    def notifications(self, method: str) -> list[Json]:
        """Return the params of all notifications with `method` so far, in order."""
        with self._changed:
            return [m.get("params") for m in self.received if m.get("method") == method]

    def wait_until_ended(self, timeout: float = TIMEOUT) -> None:
        """Wait until the server has closed its side."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.ended, timeout):
                raise TimeoutError(self._explain("the server to close the connection"))

    def forget(self) -> None:
        """Begin anew, as if nothing had been received, logged or answered differently."""
        with self._changed:
            self.received.clear()
            self._taken.clear()
        if self._log is not None:
            self._log_start = os.fstat(self._log.fileno()).st_size
        self.answer_with = dict(_CLIENT_ANSWERS)

    # --- Ending

    def leave(self, timeout: float = TIMEOUT) -> int | None:
        """`shutdown` and `exit`; gives the exit code of a server that was spawned."""
        self.request("shutdown", timeout=timeout)
        self.notify("exit")
        self.wait_until_ended(timeout)
        return self.exit_code(timeout) if self.process is not None else None

    def end_input(self) -> None:
        """Send nothing more."""
        if self._connection is not None:
            self._connection.shutdown(socket.SHUT_WR)
        else:
            self._outgoing.close()

    def exit_code(self, timeout: float = TIMEOUT) -> int:
        """Wait for the end of the process."""
        assert self.process is not None
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimeoutError(self._explain("the process to end")) from None

    def stderr(self) -> str:
        """Return what the server has written to standard error so far."""
        if self._log is None:
            return ""
        size = os.fstat(self._log.fileno()).st_size - self._log_start
        return os.pread(self._log.fileno(), size, self._log_start).decode(errors="replace")

    def close(self) -> None:
        """End the connection, and the process if there is one, by force if need be."""
        self._may_read.set()
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        with suppress(OSError):
            if self._connection is not None:
                self._connection.shutdown(socket.SHUT_RDWR)
        self._reader.join(TIMEOUT)
        for stream in (self._outgoing, self._incoming, self._log, self._connection):
            with suppress(OSError):
                if stream is not None:
                    stream.close()

    # --- Underneath

    def _await(
        self, what: str, fits: Callable[[dict[str, Json]], bool], timeout: float
    ) -> dict[str, Json]:
        deadline = time.monotonic() + timeout
        looked_at = 0
        with self._changed:
            while True:
                for index in range(looked_at, len(self.received)):
                    if index not in self._taken and fits(self.received[index]):
                        self._taken.add(index)
                        return self.received[index]
                looked_at = len(self.received)
                if self._broken is not None or self.ended:
                    raise ConnectionError(self._explain(what))
                if not self._changed.wait(deadline - time.monotonic()):
                    raise TimeoutError(self._explain(what))

    def _explain(self, awaited: str) -> str:
        lines = [f"waited in vain for {awaited}", "received:"]
        lines += [f"  {json.dumps(message)[:300]}" for message in self.received[-30:]]
        if self._broken is not None:
            lines.append(f"what the server sends is no message: {self._broken}")
        if self.ended:
            code = self.process.poll() if self.process is not None else None
            lines.append(f"the server has closed the connection (exit code {code})")
        return "\n".join([*lines, "its standard error:", self.stderr()[-5000:]])

    def _read_all(self) -> None:
        while (message := self._read_message()) is not None:
            with self._changed:
                self.received.append(message)
                self._changed.notify_all()
            if "method" in message and "id" in message:
                self._answer_server(message)
        with self._changed:
            self.ended = True
            self._changed.notify_all()

    def _read_message(self) -> dict[str, Json] | None:
        self._may_read.wait()
        try:
            body = self._next_message()
            if not body:
                return None
            message = json.loads(body)
            assert isinstance(message, dict)
            assert message["jsonrpc"] == "2.0", message
        except (OSError, ValueError, AssertionError) as error:
            self._broken = repr(error)
            return None
        return message

    def _next_message(self) -> bytes:
        """Return the next body, b"" at the end."""
        header = self._incoming.readline()
        if not header:
            return b""
        name, _, length = header.partition(b": ")
        assert name == b"Content-Length", header
        assert self._incoming.readline() == b"\r\n"
        return self._incoming.read(int(length))

    def _answer_server(self, request: dict[str, Json]) -> None:
        handler = self.answer_with.get(request["method"])
        answer: dict[str, Json] = {"jsonrpc": "2.0", "id": request["id"]}
        if handler is None:
            answer["error"] = {"code": -32601, "message": f"no {request['method']} here"}
            self._send_answer(answer)
            return
        try:
            result = handler(request.get("params"))
        except ServerError as error:
            self._send_answer({**answer, "error": {"code": error.code, "message": error.message}})
            return
        if isinstance(result, Future):
            result.add_done_callback(
                lambda done: self._send_answer({**answer, "result": done.result()})
            )
        elif result is not NEVER:
            self._send_answer({**answer, "result": result})

    def _send_answer(self, answer: dict[str, Json]) -> None:
        with suppress(OSError, ValueError):
            self.send(answer)


NEVER: Any = object()
"""What a handler in `answer_with` returns to leave the server without an answer."""

_CLIENT_ANSWERS: dict[str, Callable[[Json], Json]] = {
    "client/registerCapability": lambda _: None,
    "client/unregisterCapability": lambda _: None,
    "window/workDoneProgress/create": lambda _: None,
    "workspace/configuration": lambda params: [None] * len(params["items"]),
    "workspace/diagnostic/refresh": lambda _: None,
    "workspace/applyEdit": lambda _: {"applied": True},
}


def notification(method: str, params: Json = _LEFT_OUT) -> dict[str, Json]:
    message = {"jsonrpc": "2.0", "method": method}
    return message if params is _LEFT_OUT else {**message, "params": params}


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
