"""JSON-RPC with one client, a message a line (ACP, "Transports"): requests of both sides, and their ends.

It knows no method. A line that is no message is answered, and the next one is read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from axe_lsp.serving.json_rpc import (
    Invalid,
    JsonObject,
    MessageId,
    Notification,
    Request,
    Response,
    plain_json,
    read_message,
)
from axe_lsp.tasks import Tasks

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800
INVALID_REQUEST = -32600
AUTH_REQUIRED = -32000
NOT_FOUND = -32002

_LONGEST_LINE = 64 * 1024 * 1024
"""Bytes. A client that sends more without a line end is heard again from the next line on."""

_MOST_WAITING = 1_000
"""Requests that have not been answered. None of them needs anything that comes after it."""

_SETTLING = 0.5
"""Seconds that a client has to answer requests that were taken back."""

_log = logging.getLogger(__name__)

_Params = TypeVar("_Params", bound=Struct)


class RequestError(Exception):
    """The error with which a request is answered. `data` is for programs."""

    def __init__(self, code: int, message: str, data: JsonObject | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


_CANCELLED = RequestError(REQUEST_CANCELLED, "the request was cancelled")


class Reply(Struct, frozen=True):
    """A result, and what is done once it has been sent."""

    result: Any
    then: Callable[[], object]


class Cancelling:
    """The reaction if the client cancels a long request: `act`, after which it ends by itself; else its task is cancelled."""

    def __init__(self) -> None:
        self.act: Callable[[], object] | None = None


Handler = Callable[[Any], Awaitable[Any]]
"""Answers a request with plain JSON or a Reply. Raises RequestError."""

LongHandler = Callable[[Any, Cancelling], Awaitable[Any]]
"""The same for a request that takes long."""


def read_params(kind: type[_Params], params: Any) -> _Params:
    """Return the params of a message. Raises RequestError, which names the member that is wrong."""
    try:
        return msgspec.convert({} if params is None else params, kind)
    except msgspec.ValidationError as error:
        raise RequestError(INVALID_PARAMS, f"invalid params: {error}") from None


class Connection:
    """The connection with a client, whose bytes are fed in.

    Requests are answered one after the other, in their order, but for those of `long` methods: while one of these is
    at work, the next request is answered.
    """

    def __init__(
        self,
        write: Callable[[bytes], None],
        handlers: Mapping[str, Handler],
        listeners: Mapping[str, Callable[[Any], object]],
        long: Mapping[str, LongHandler] | None = None,
    ) -> None:
        self._write = write
        self._handlers = handlers
        self._listeners = {**listeners, "$/cancel_request": self._on_cancel}
        self._long = long or {}
        self._rest = bytearray()
        self._is_skipping = False
        self._tasks = Tasks()
        self._incoming: asyncio.Queue[Request] = asyncio.Queue()
        self._answering: dict[MessageId, tuple[Cancelling, asyncio.Task[None]]] = {}
        self._has_room = asyncio.Event()
        self._waiting: dict[MessageId, Request] = {}
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._asked_so_far = 0
        self._unsettled: set[asyncio.Future[Any]] = set()
        self._tasks.start_unattended(self._answer_all(), name="requests of the client")

    def feed(self, data: bytes) -> None:
        """Take bytes from the client."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._rest += line
            complete, self._rest = bytes(self._rest), bytearray()
            if self._is_skipping:
                self._is_skipping = False
            elif complete.strip():
                self._receive(complete)
        if not self._is_skipping:
            self._rest += rest
        if len(self._rest) > _LONGEST_LINE:
            self._rest.clear()
            self._is_skipping = True
            self._refuse(Invalid(-32700, f"a line is longer than {_LONGEST_LINE} bytes"))

    async def room(self) -> None:
        """Wait until a client that sends faster than it is answered may send more."""
        while self._incoming.qsize() > _MOST_WAITING:
            self._has_room.clear()
            await self._has_room.wait()

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    async def request(
        self, method: str, params: JsonObject, late: Callable[[Any], object] = bool
    ) -> Any:
        """Return the client's result. Raises RequestError.

        To cancel this takes the request back; `late` gets a result that comes all the same.
        """
        number, answer = self._ask(method, params)
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            if not answer.done():
                self._settle_later(answer, late)
                self.notify("$/cancel_request", {"requestId": number})
            raise

    def order(self, method: str, params: JsonObject) -> None:
        """Send a request whose answer nobody needs."""
        self._settle_later(self._ask(method, params)[1], bool)

    def answer_waiting(self, is_it: Callable[[str, Any], bool], result: Any) -> None:
        """Answer the requests whose turn has not come, of which `is_it` is true by their method and params."""
        for request in [each for each in self._waiting.values() if is_it(each.method, each.params)]:
            del self._waiting[request.id]
            self._send({"id": request.id, "result": result})

    async def settle(self) -> None:
        """Wait until the client has answered all requests that nobody waits for, as far as it does."""
        deadline = asyncio.get_running_loop().time() + _SETTLING
        while self._unsettled:  # An answer may lead to another request.
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                return
            await asyncio.wait({*self._unsettled}, timeout=left)

    def _ask(self, method: str, params: JsonObject) -> tuple[int, asyncio.Future[Any]]:
        self._asked_so_far += 1
        number = self._asked_so_far
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        self._send({"id": number, "method": method, "params": params})
        return number, answer

    def _settle_later(self, answer: asyncio.Future[Any], late: Callable[[Any], object]) -> None:
        self._unsettled.add(answer)

        def settled(answer: asyncio.Future[Any]) -> None:
            self._unsettled.discard(answer)
            if not answer.cancelled() and answer.exception() is None:
                late(answer.result())

        answer.add_done_callback(settled)

    async def close(self, within: float) -> None:
        """Answer nothing more."""
        await self._tasks.stop(within)

    # What comes in.

    def _receive(self, line: bytes) -> None:
        match read_message(line):
            case Request() as request:
                self._waiting[request.id] = request
                self._incoming.put_nowait(request)
            case Notification(method, params):
                self._hear(method, params)
            case Response() as response:
                self._take(response)
            case Invalid() as invalid:
                self._refuse(invalid)

    def _hear(self, method: str, params: Any) -> None:
        listener = self._listeners.get(method)
        if listener is None:
            _log.info("notification %s is not known", method)
            return
        try:
            listener(params)
        except RequestError as error:
            _log.warning("%s: %s", method, error)

    def _take(self, response: Response) -> None:
        answer = self._asked.pop(response.id, None) if isinstance(response.id, int) else None
        if answer is None or answer.done():
            return
        if response.error is None:
            answer.set_result(response.result)
            return
        error = response.error if isinstance(response.error, dict) else {}
        code, text = error.get("code"), str(error.get("message", "no reason given"))
        answer.set_exception(RequestError(code if type(code) is int else INTERNAL_ERROR, text))

    def _on_cancel(self, params: Any) -> None:
        cancelled = params.get("requestId") if isinstance(params, dict) else None
        if not isinstance(cancelled, (int, str)):
            return
        request = self._waiting.pop(cancelled, None)
        if request is not None:
            self._send_error(cancelled, _CANCELLED)
        elif cancelled in self._answering:
            cancelling, answering = self._answering[cancelled]
            if cancelling.act is None:
                answering.cancel()
            else:
                cancelling.act()

    # What goes out.

    async def _answer_all(self) -> None:
        while True:
            request = await self._incoming.get()
            self._has_room.set()
            if self._waiting.get(request.id) is not request:
                continue  # It was cancelled before its turn came.
            cancelling = Cancelling()
            answer = self._answer(request, cancelling)
            answering = self._tasks.start_unattended(answer, name=request.method)
            self._answering[request.id] = (cancelling, answering)
            answering.add_done_callback(partial(self._answered, request.id))
            if request.method not in self._long:
                await asyncio.wait({answering})

    async def _answer(self, request: Request, cancelling: Cancelling) -> None:
        if self._waiting.pop(request.id, None) is None:
            return  # It was cancelled a moment ago.
        long = self._long.get(request.method)
        handler = self._handlers.get(request.method, _unknown(request.method))
        then: Callable[[], object] = bool
        try:
            if long is not None:
                result = await long(request.params, cancelling)
            else:
                result = await handler(request.params)
        except RequestError as error:
            self._send_error(request.id, error)
            return
        except Exception as error:
            fault = f"{request.method} failed: {type(error).__name__}"
            self._send_error(request.id, RequestError(INTERNAL_ERROR, fault))
            raise
        if isinstance(result, Reply):
            result, then = result.result, result.then
        self._send({"id": request.id, "result": result})
        then()

    def _answered(self, request: MessageId, answering: asyncio.Task[None]) -> None:
        self._answering.pop(request, None)  # A client may use an id twice.
        if answering.cancelled():  # Perhaps before it had begun.
            self._send_error(request, _CANCELLED)

    def _refuse(self, invalid: Invalid) -> None:
        self._send_error(invalid.id, RequestError(invalid.code, invalid.reason))

    def _send_error(self, id_: MessageId | None, error: RequestError) -> None:
        members: JsonObject = {"code": error.code, "message": str(error)}
        if error.data is not None:
            members["data"] = error.data
        self._send({"id": id_, "error": members})

    def _send(self, message: JsonObject) -> None:
        self._write(plain_json({"jsonrpc": "2.0", **message}) + b"\n")


def _unknown(method: str) -> Handler:
    async def answer(_: Any) -> Any:
        raise RequestError(METHOD_NOT_FOUND, f"method {method} is not known")

    return answer
