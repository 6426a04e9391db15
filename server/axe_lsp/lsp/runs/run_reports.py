"""Reports the events of a run to a client: as notifications, as progress, as lines of text."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress

from lsprotocol import types
from msgspec import Struct
from pygls.exceptions import JsonRpcException

from axe_lsp.hosting.event_text import describe
from axe_lsp.hosting.notifications import Notification
from axe_lsp.hosting.protocol import Warned
from axe_lsp.hosting.supervisor.orders import News
from axe_lsp.lsp.session import Session
from axe_lsp.runtime.json_data import plain_json

_numbers = itertools.count(1)

_MOMENT = 0.1
"""Seconds between two reports of progress; a run with many children has hundreds of events a second."""


class RunProgress:
    """`$/progress` of one run. Without a token from the client, the client is asked to create one.

    A client that answers late, or refuses, delays nothing.
    """

    def __init__(self, session: Session, title: str, cancel: Callable[[], object]) -> None:
        self._session = session
        self._title = title
        self._cancel = cancel
        self._token: int | str | None = None
        self._message = self._told = ""
        self._pause: asyncio.TimerHandle | None = None
        self._is_over = False

    def begin(self, token: int | str | None) -> None:
        """Begin with the client's token, or with one that it is asked to make."""
        if token is not None:
            self._begin(token)
        elif self._session.client.supports("window.workDoneProgress"):
            self._session.start(self._create(), name="creating a progress token")

    def report(self, message: str) -> None:
        """Report a message; of several within a moment the last."""
        self._message = message
        if self._pause is None:
            self._tell()

    def end(self) -> None:
        """Report the end, with the last message."""
        if self._token is not None and not self._is_over:
            end = types.WorkDoneProgressEnd(message=self._message or None)
            self._session.progress.end(self._token, end)
        self._is_over = True
        if self._pause is not None:
            self._pause.cancel()

    def _tell(self) -> None:
        if self._token is None or self._is_over or self._told == self._message:
            return
        self._told = self._message
        report = types.WorkDoneProgressReport(message=self._told, cancellable=True)
        self._session.progress.report(self._token, report)
        self._pause = asyncio.get_running_loop().call_later(_MOMENT, self._go_on)

    def _go_on(self) -> None:
        self._pause = None
        self._tell()

    async def _create(self) -> None:
        token = f"axe-run-{next(_numbers)}"
        params = types.WorkDoneProgressCreateParams(token)
        with suppress(JsonRpcException, asyncio.CancelledError):
            await self._session.request(types.WINDOW_WORK_DONE_PROGRESS_CREATE, params)
            if not self._is_over:
                self._begin(token)

    def _begin(self, token: int | str) -> None:
        self._token = token
        self._told = self._message
        begin = types.WorkDoneProgressBegin(
            self._title, cancellable=True, message=self._message or None
        )
        self._session.progress.begin(token, begin)
        self._session.progress.tokens[token].add_done_callback(self._on_done)

    def _on_done(self, future: Future[object]) -> None:
        if future.cancelled():
            self._cancel()


class Notifications(Struct, frozen=True, dict=True):
    """Forwards everything as the `axe/…` notifications of docs/protocol.md.

    All of one session are equal: a client that subscribes in several ways gets each event once.
    """

    session: Session

    def __call__(self, news: News) -> None:
        """Send the event as a notification."""
        if not isinstance(news, Notification):
            return
        params = plain_json(news.params)
        if params is not None:
            self.session.notify_together(news.method, params)
        else:
            self.session.notify(news.method, news.params)


def log_messages(session: Session) -> Callable[[News], None]:
    """Report a run by `window/logMessage`, for clients that know only LSP."""

    def log(news: News) -> None:
        line = describe(news) if isinstance(news, Notification) else None
        if line is not None:
            params = types.LogMessageParams(types.MessageType.Info, line)
            session.notify(types.WINDOW_LOG_MESSAGE, params)

    return log


def warnings(session: Session) -> Callable[[News], None]:
    """Show warnings about a run to the user."""

    def show(news: News) -> None:
        if isinstance(news, Warned):
            session.show_message(news.text[:1].upper() + news.text[1:])

    return show
