"""JSON-RPC with a server over two streams. Knows nothing of agents and runs."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable
from typing import Any

METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603

OnNotification = Callable[[str, Any], None]
OnRequest = Callable[[str, Any], Awaitable[Any]]


class ServerError(Exception):
    """The server answered with an error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Connection:
    """One connection; `listen` has to run as long as it is used.

    Notifications and answers are handed on in the order in which the server sent them. What the server
    asks, `on_request` answers, each question in a task of its own; one that the server withdraws
    is cancelled.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        on_notification: OnNotification,
        on_request: OnRequest,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._on_notification = on_notification
        self._on_request = on_request
        self._numbers = itertools.count(1)
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._questions: dict[int | str, asyncio.Task[None]] = {}
        self._is_lost = False

    def request(self, method: str, params: Any = None) -> tuple[int, asyncio.Future[Any]]:
        """Send a request; gives its id, for `cancel`, and its answer, or ServerError."""
        number = next(self._numbers)
        answer = asyncio.get_running_loop().create_future()
        if self._is_lost:
            answer.set_exception(_lost())
        else:
            self._asked[number] = answer
            self._send({"id": number, "method": method, "params": params})
        return number, answer

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        if not self._is_lost:
            self._send({"method": method, "params": params})

    def cancel(self, number: int) -> None:
        """Tell the server that the answer to a request is not wanted any more."""
        if number in self._asked:
            self.notify("$/cancelRequest", {"id": number})

    async def listen(self) -> None:
        """Take what the server sends until it closes the connection; then nothing is answered."""
        try:
            while (message := await self._receive()) is not None:
                self._take(message)
        finally:
            self._is_lost = True
            for question in self._questions.values():
                question.cancel()
            for answer in self._asked.values():
                if not answer.done():
                    answer.set_exception(_lost())
            self._asked.clear()

    async def _receive(self) -> Any:
        length = 0
        try:
            while (line := await self._reader.readline()).strip():
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            return json.loads(await self._reader.readexactly(length)) if line else None
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def _take(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            self._settle(message)
        elif "id" in message:
            self._begin_to_answer(message)
        elif message["method"] == "$/cancelRequest":
            question = self._questions.get(message["params"]["id"])
            if question is not None:
                question.cancel()
        else:
            self._on_notification(message["method"], message.get("params"))

    def _settle(self, message: dict[str, Any]) -> None:
        answer = self._asked.pop(message["id"], None)
        if answer is None or answer.done():
            return
        error = message.get("error")
        if error is not None:
            answer.set_exception(ServerError(error["code"], error["message"], error.get("data")))
        else:
            answer.set_result(message.get("result"))

    def _begin_to_answer(self, message: dict[str, Any]) -> None:
        number = message["id"]
        self._questions[number] = asyncio.create_task(self._answer(message))
        self._questions[number].add_done_callback(lambda _: self._questions.pop(number))

    async def _answer(self, message: dict[str, Any]) -> None:
        answer: dict[str, Any] = {"id": message["id"]}
        try:
            answer["result"] = await self._on_request(message["method"], message.get("params"))
        except ServerError as error:
            answer["error"] = {"code": error.code, "message": error.message}
        except Exception as error:  # noqa: BLE001  # a bug of the program, which hears of it
            # The server waits for an answer in any case; the program that has the bug shall see it, and at once.
            answer["error"] = {"code": INTERNAL_ERROR, "message": repr(error)}
            context = {
                "message": f"axe-lsp gets no answer to {message['method']}",
                "exception": error,
            }
            asyncio.get_running_loop().call_exception_handler(context)
        self._send(answer)


def _lost() -> ConnectionError:
    return ConnectionError("the connection to axe-lsp is closed")
