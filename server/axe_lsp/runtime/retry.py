"""Requests that failed for a moment are sent again, as `[retry]` of the agent file says (axe 1.4).

It knows no wire format: a failure says of which kind it is and how long its provider wants to be
left alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import count

import anyio
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import RetryConfig
from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.events import TurnRetry
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.user_config import usable_config
from axe_lsp.runtime.journal import Journal
from axe_lsp.runtime.messages import Delta, Response
from axe_lsp.runtime.providers.adaptive_limiter import is_crowded
from axe_lsp.runtime.providers.provider import Exchange, InFront, OnDelta, Provider
from axe_lsp.runtime.providers.retry_after import jittered, last_moment, too_late
from axe_lsp.tasks import loop_time

UNASKED_REPEATS = 2
"""How often a request is sent again without a `[retry]`, as often as by the providers' own SDKs."""

DEFAULT_INITIAL_DELAY_MS = 500
DEFAULT_MAX_DELAY_MS = 30_000


_WAY_TO_REPEAT = "`[retry]` with `max_retries` in the agent file, or in config.toml for all agents, sends such a request again"


def retry_of(own: RetryConfig, environment: Environment) -> RetryConfig:
    """Return the `[retry]` that is in force for an agent: that of its file, else that of config.toml.

    A broken config.toml has none. Sending the request reports it.
    """
    return own if own != RetryConfig() else usable_config(environment).retry


class Retrying(InFront):
    """A provider in front of another one, for the requests of one run.

    `attempts` is how many requests were sent again.
    """

    def __init__(self, provider: Provider, config: RetryConfig, journal: Journal) -> None:
        super().__init__(provider)
        self._config = config
        self._journal = journal
        self.attempts = 0

    async def send(self, exchange: Exchange, on_delta: OnDelta | None) -> Response:
        """Answer a request. Raises the last error when no attempt has succeeded.

        Text that was shown can't be taken back, so an answer that breaks off is not asked
        for again. A wait that would end after the run does is not begun.
        """
        heard: list[Delta] = []

        def hear(piece: Delta) -> None:
            heard[:] = [piece]
            if on_delta is not None:
                on_delta(piece)

        listener = hear if on_delta is not None else None
        for number in count():
            try:
                return await self._provider.send(replace(exchange, attempt=number), listener)
            except ProviderError as error:
                most = self._most_repeats(error)
                if number >= most or not error.may_pass or heard:
                    self._name_retry(error)
                    raise
                wait_ms = _asked_ms(error) or delay_ms(self._config, number)
                left = last_moment(exchange.deadline) - loop_time()
                if wait_ms / 1000 >= left:
                    raise too_late(error, wait_ms / 1000, left) from None
                self._journal.emit(self._event(exchange, number + 1, most, error, wait_ms))
            with exchange.waiting():
                await anyio.sleep(wait_ms / 1000)
            self.attempts += 1
        raise AssertionError("numbers have no end")

    def _most_repeats(self, error: ProviderError) -> int:
        """Return how often a request that was refused so may be sent again.

        Without `[retry]` that is what has not reached the provider, what it asks for, or what would have been
        unnecessary if runs had taken turns; all else is one request, as in axe.
        """
        if self._config.max_retries is not None:
            return self._config.max_retries
        is_asked_for = error.retry_after is not None or error.is_unanswered
        return UNASKED_REPEATS if is_asked_for or (error.was_shared and is_crowded(error)) else 0

    def _name_retry(self, error: ProviderError) -> None:
        """Add the way to have a refused request sent again, if nobody has said whether it should be."""
        is_refusal = bool(error.status) and error.may_pass and self._config.max_retries is None
        if is_refusal and "[retry]" not in error.hint:
            error.hint = ". ".join(filter(None, (error.hint, _WAY_TO_REPEAT)))

    def _event(
        self, exchange: Exchange, number: int, most: int, error: ProviderError, wait_ms: int
    ) -> TurnRetry:
        return TurnRetry(
            run=exchange.run,
            turn=exchange.turn,
            attempt=number,
            max_attempts=most,
            category=error.category,
            message=error.message,
            wait_ms=wait_ms,
        )


def delay_ms(config: RetryConfig, number: int, chance: Callable[[], float] = random.random) -> int:
    """Return the pause before a request is sent again, for the first time (`number` 0), the second, …

    `chance` returns a number from 0 to 1: agents that failed together do not all come back together.
    """
    initial = config.initial_delay_ms or DEFAULT_INITIAL_DELAY_MS
    longest = config.max_delay_ms or DEFAULT_MAX_DELAY_MS
    if config.backoff == "fixed":
        return min(initial, longest)
    if config.backoff == "linear":
        return min(initial * (number + 1), longest)
    return min((initial << min(number, 62)) + int(chance() * initial), longest)


def _asked_ms(error: ProviderError) -> int:
    """Return the wait that the provider names, if it is not zero, plus up to a quarter of it at random.

    It is rounded up: a moment too early is too early.
    """
    return -int(-jittered(error.retry_after or 0) * 1000 // 1)
