"""The subscribers to events of runs."""

from __future__ import annotations

import logging
from collections.abc import Callable

from axe_lsp.hosting.notifications import Notification
from axe_lsp.hosting.protocol import Warned

_log = logging.getLogger(__name__)

News = Notification | Warned
Subscriber = Callable[[News], None]
"""Takes what happens in a run, and returns at once: the server does nothing else meanwhile."""


class Subscribers:
    """The subscribers of single runs and of all."""

    def __init__(self) -> None:
        self._by_run: dict[str | None, list[Subscriber]] = {}

    def add(self, subscriber: Subscriber, run_id: str | None) -> Callable[[], None]:
        """Begin a subscription; returns what ends it."""
        self._by_run.setdefault(run_id, []).append(subscriber)

        def end() -> None:
            subscribers = self._by_run.get(run_id, [])
            if subscriber in subscribers:
                subscribers.remove(subscriber)
            if not subscribers:
                self._by_run.pop(run_id, None)

        return end

    def publish(self, run_id: str, news: News) -> None:
        """Tell everybody who wants to know about the root run of that id, once."""
        everybody = (*self._by_run.get(None, ()), *self._by_run.get(run_id, ()))
        for subscriber in dict.fromkeys(everybody):
            try:
                subscriber(news)
            except Exception:  # noqa: BLE001 - a bug in one subscriber is no matter of the others
                _log.exception("A subscriber of run %s failed", run_id)

    def forget(self, run_id: str) -> None:
        """End the subscriptions of a run that is over."""
        self._by_run.pop(run_id, None)
