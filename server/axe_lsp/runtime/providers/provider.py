"""The interfaces of a provider for the runtime, a service over HTTP or a recording, and of what limits its requests.

`adaptive_limiter.py` implements the latter; a process that passes requests on needs no limiter.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from axe_lsp.agentfile.schema.providers import ModelName
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.json_data import JsonStruct
from axe_lsp.runtime.messages import NOTHING_GIVEN, Delta, Given, Request, Response

OnDelta = Callable[[Delta], None]
"""Takes a piece of the answer as it arrives. The texts together are the answer's text."""


def _nobody(_provider: str, _seconds: float) -> None:
    """Ignore a wait, as `on_wait` of callers that report none."""


class Exchange(Struct, frozen=True):
    """One request on its way: who asks, whom, in which turn (from 1) and what.

    `workdir` is the run's working directory; recordings may lie below it. The run has to be ready
    at `deadline` (of the event loop's clock), and `overtime` says why its time is over, "" if it is
    not. `warn` takes what the user should know. `attempt` is how often the request was sent before.

    `size` is about how many tokens the request has, 0 if nobody has counted. `is_aside`: it is no turn
    of the conversation, such as one for a summary, and recordings leave it out.

    `on_wait` takes the name of a provider that has no room for the request, and for how many
    seconds; 0 are as long as others take. `heard` is called whenever something arrives from the
    provider. Inside `waiting` the run needs to make no progress: it is known how long that takes,
    or that others have to be ready first. `given` are the answers of side runs and the messages that the request gives.
    """

    run: RunIds
    model: ModelName
    turn: int
    request: Request
    workdir: Path
    deadline: float = math.inf
    overtime: Callable[[], str] = str
    warn: Callable[[str], object] = bool
    attempt: int = 0
    size: int = 0
    is_aside: bool = False
    on_wait: Callable[[str, float], object] = _nobody
    heard: Callable[[], object] = bool
    waiting: Callable[[], AbstractContextManager[object]] = nullcontext
    given: Given = NOTHING_GIVEN


class Provider(Protocol):
    """Answers requests."""

    def check(self, model: ModelName, workdir: Path) -> None:
        """Get ready to send; raise RunError if a request to `model` could not even be sent."""

    def window(self, model: ModelName) -> int | None:
        """Return the tokens of a model's context window, if a refusal has told them; None otherwise."""

    async def send(self, exchange: Exchange, on_delta: OnDelta | None) -> Response:
        """Answer a request. With `on_delta` the answer is streamed where that is possible.

        Raises ProviderError.
        """


class InFront:
    """A provider in front of another one, of which it changes the answers only."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    def check(self, model: ModelName, workdir: Path) -> None:
        """Check that the other one is ready."""
        self._provider.check(model, workdir)

    def window(self, model: ModelName) -> int | None:
        """Return the context window that the other one knows."""
        return self._provider.window(model)

    def recorded(self, model: ModelName) -> Any:
        """Return the recording from which the other one answers, None if it answers from none."""
        find = getattr(self._provider, "recorded", None)
        return find(model) if find is not None else None


ProviderHook = Callable[[Provider], Provider]
"""Puts a provider in front of the real one: to record, or to replay. Called once per root run."""


class Entry(Struct, frozen=True):
    """A request that waits. The `attempts` before this one let a request go before newer ones.

    `deadline` is the moment (of the event loop's clock) at which its run is over. While it waits, it
    is inside `waiting(seconds)`; 0 seconds are as long as it takes until others are ready.
    """

    attempts: int
    deadline: float
    waiting: Callable[[float], AbstractContextManager[object]]


class LimiterKey(JsonStruct, frozen=True):
    """Which limiter: that of a service and an API key, of which only a checksum is known here."""

    provider: str
    base_url: str
    key_sum: int


def limiter_key(provider: str, base_url: str, api_key: str) -> LimiterKey:
    """Return the key of a limiter. Two API keys of one service have different sums, or share a limiter by chance."""
    return LimiterKey(provider, base_url, zlib.crc32(api_key.encode()))


class Limiters(Protocol):
    """Limiters of several providers, here or in the process that this one belongs to."""

    def passage(
        self, key: LimiterKey, most: int, entry: Entry
    ) -> AbstractAsyncContextManager[None]:
        """Wait until a request may be sent, as `AdaptiveLimiter.passage`; `most` is that of the `AdaptiveLimiter`."""
