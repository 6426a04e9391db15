"""JSON-RPC on top of pygls: messages come in, handlers are called, answers go out.

pygls keeps the table of features and commands, and offers the typed requests to the client. How a
message is dispatched, answered, cancelled and sent is decided here. What differs from pygls:

- Every request gets exactly one answer: the code that LSP gives for what went wrong, and a sentence
  for a person. Tracebacks go to the log.
- Params of methods that LSP doesn't define reach their handler as the JSON that was sent.
- A handler is called at once, in the order of the messages, on the loop's thread. What it returns is
  the answer; if that is a coroutine, as with `async def`, it runs as a task whose outcome is the
  answer.
- `$/cancelRequest` cancels that task, and does so behind `workspace/executeCommand` too. A request
  that is found cancelled when its turn comes isn't begun.
- Nothing is kept of an answered message, and no body is logged.

Knows nothing of LSP's life cycle (`axe_lsp.rpc.language_server`).
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcRequestCancelled,
)
from pygls.protocol import LanguageServerProtocol

from axe_lsp.rpc.framing import frame
from axe_lsp.rpc.lsp_json import MisfitError, read_params, read_result, to_json
from axe_lsp.serving.json_rpc import (
    Invalid,
    JsonObject,
    Message,
    MessageId,
    Notification,
    Request,
    Response,
    UnsendableError,
    id_of,
    write_message,
)
from axe_lsp.tasks import Tasks

_log = logging.getLogger(__name__)


class Dispatcher(LanguageServerProtocol):
    """One connection's messages."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.tasks = Tasks()
        """The tasks of this connection: requests that take time, and work in the background."""
        self._running: dict[MessageId, asyncio.Task[Any]] = {}
        self._withdrawn: set[MessageId] = set()
        self._awaited: dict[MessageId, tuple[str, Future[Any]]] = {}
        self._request_numbers = itertools.count(1)
        self._together: list[bytes] = []

    def expect(self, messages: Iterable[Message]) -> None:
        """Learn which of the messages that are about to be received have been cancelled since."""
        for message in messages:
            if isinstance(message, Notification) and message.method == types.CANCEL_REQUEST:
                self._withdrawn.update(_cancelled_id(message.params))

    def receive(self, message: Message) -> None:
        """Deal with one message. Doesn't raise."""
        match message:
            case Request():
                self._receive_request(message)
            case Notification(types.CANCEL_REQUEST, params):
                self._cancel(params)
            case Notification():
                self._receive_notification(message)
            case Response():
                self._receive_response(message)
            case Invalid(code, reason, message_id):
                _log.warning("invalid message: %s", reason)
                self._send_error(message_id, JsonRpcException(reason, code))

    def notify(self, method: str, params: Any | None = None) -> None:
        """Send a notification; `params` is an object of lsprotocol or plain JSON."""
        self._send(_call(method, params))

    def notify_together(self, method: str, params: bytes) -> None:
        """Send a notification with params in UTF-8, together with all others of this turn of the loop."""
        if not self._together:
            asyncio.get_running_loop().call_soon(self._write)
        body = b'{"jsonrpc":"2.0","method":"%b","params":%b}' % (method.encode(), params)
        self._together.append(frame(body))

    def send_request(
        self,
        method: str,
        params: Any | None = None,
        callback: Callable[[Any], None] | None = None,
        msg_id: MessageId | None = None,
    ) -> Future[Any]:
        """Send a request to the client.

        The future gets the result, or a `JsonRpcException`; `callback` the result alone. To cancel
        the future withdraws the request.
        """
        if msg_id is None:
            msg_id = next(self._request_numbers)
        future: Future[Any] = Future()
        self._send({"id": msg_id, **_call(method, params)})
        self._awaited[msg_id] = (method, future)
        future.add_done_callback(partial(self._forget_request, msg_id))
        if callback is not None:
            future.add_done_callback(partial(_call_back, method, callback))
        return future

    # --- Requests and notifications from the client

    def check_welcome(self, message: Request | Notification) -> None:
        """Raise `JsonRpcException` if the message may not be sent now."""

    def _receive_request(self, request: Request) -> None:
        try:
            self.check_welcome(request)
            self._check_identity(request)
            outcome = self._handle(request)
        except Exception as error:  # noqa: BLE001 - the one guard of requests
            self._send_failure(request, error)
            return
        if isinstance(outcome, asyncio.Future):
            # Its creator decides when it ends; it isn't ours to cancel.
            outcome.add_done_callback(partial(self._send_outcome, request))
        elif asyncio.iscoroutine(outcome):
            task = self.tasks.start(outcome, name=request.method)
            self._running[request.id] = task
            task.add_done_callback(partial(self._send_outcome, request))
        else:
            self._send_result(request, outcome)

    def _receive_notification(self, notification: Notification) -> None:
        try:
            self.check_welcome(notification)
            outcome = self._handle(notification)
        except JsonRpcException as error:
            # Those that begin with `$/` may be ignored without a word (LSP 3.17, "$ Notifications").
            level = logging.DEBUG if notification.method.startswith("$/") else logging.WARNING
            _log.log(level, "ignored %s: %s", notification.method, error.message)
        except Exception:  # noqa: BLE001 - the one guard of notifications
            _log.exception("%s failed", notification.method)
        else:
            if asyncio.iscoroutine(outcome):
                self.tasks.start_unattended(outcome, name=notification.method)

    def _handle(self, message: Request | Notification) -> Any:
        handler = self._get_handler(message.method)
        try:
            params = self.read_params(message.method, message.params)
        except MisfitError as error:
            raise JsonRpcInvalidParams(f"{message.method}: {error}") from error
        return handler(params)

    def read_params(self, method: str, params: Any) -> Any:
        """Return the params as the handlers of `method` want them."""
        return read_params(method, params)

    def _check_identity(self, request: Request) -> None:
        if request.id in self._withdrawn:
            raise JsonRpcRequestCancelled("cancelled before it started")
        if request.id in self._running:
            raise JsonRpcInvalidRequest(f"the request with the id {request.id!r} is still running")

    def _cancel(self, params: Any) -> None:
        for message_id in _cancelled_id(params):
            self._withdrawn.discard(message_id)
            if (task := self._running.get(message_id)) is not None:
                task.cancel()

    # --- Answers to the client

    def _send_outcome(self, request: Request, outcome: asyncio.Future[Any]) -> None:
        if self._running.get(request.id) is outcome:
            del self._running[request.id]
        if outcome.cancelled():
            self._send_error(request.id, JsonRpcRequestCancelled(f"{request.method}: cancelled"))
        elif (error := outcome.exception()) is not None:
            self._send_failure(request, error)
        else:
            self._send_result(request, outcome.result())

    def _send_result(self, request: Request, result: Any) -> None:
        try:
            self._send({"id": request.id, "result": result})
        except UnsendableError as error:
            self._send_failure(request, error)

    def _send_failure(self, request: Request, error: BaseException) -> None:
        if not isinstance(error, JsonRpcException):
            _log.error("%s failed", request.method, exc_info=error)
            error = JsonRpcInternalError(
                f"{request.method} failed because of a bug in axe-lsp ({type(error).__name__}); its log has the details"
            )
        self._send_error(request.id, error)

    def _send_error(self, message_id: MessageId | None, error: JsonRpcException) -> None:
        body: JsonObject = {"code": error.code, "message": error.message}
        try:
            data = {} if error.data is None else {"data": error.data}
            self._send({"id": message_id, "error": {**body, **data}})
        except UnsendableError:
            _log.exception("the data of an error can't be sent")
            self._send({"id": message_id, "error": body})

    def _send(self, message: JsonObject) -> None:
        self._write(frame(write_message({"jsonrpc": "2.0", **message}, to_json)))

    def _write(self, last: bytes = b"") -> None:
        """Send the collected notifications, and `last`."""
        data = b"".join((*self._together, last))
        self._together.clear()
        if self.writer is not None and data:
            self.writer.write(data)

    # --- Answers from the client

    def _receive_response(self, response: Response) -> None:
        if response.id is None or response.id not in self._awaited:
            # A request that we have withdrawn may be answered all the same (pygls #621).
            _log.debug("the client answered an unknown request")
            return
        method, future = self._awaited[response.id]
        if response.error is not None:
            future.set_exception(_client_error(response.error))
            return
        try:
            future.set_result(read_result(method, response.result))
        except MisfitError as error:
            future.set_exception(JsonRpcException(f"the client's answer to {method}: {error}"))

    def _forget_request(self, message_id: MessageId, future: Future[Any]) -> None:
        del self._awaited[message_id]
        if future.cancelled():
            self.notify(types.CANCEL_REQUEST, {"id": message_id})


def _call(method: str, params: Any) -> JsonObject:
    return {"method": method} if params is None else {"method": method, "params": params}


def _cancelled_id(params: Any) -> set[MessageId]:
    message_id = id_of(params) if isinstance(params, dict) else None
    return set() if message_id is None else {message_id}


def _call_back(method: str, callback: Callable[[Any], None], future: Future[Any]) -> None:
    if future.cancelled():
        return
    if (error := future.exception()) is not None:
        _log.warning("the client refused %s: %s", method, error)
    else:
        callback(future.result())


def _client_error(error: Any) -> JsonRpcException:
    fields = error if isinstance(error, dict) else {}
    code = fields.get("code")
    return JsonRpcException(
        str(fields.get("message") or "the client gave no reason"),
        code if isinstance(code, int) else None,
        fields.get("data"),
    )
