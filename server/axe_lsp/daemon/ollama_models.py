"""The models of the user's Ollama, if it is running.

It is asked in the background, when the user types the name of one of its models and the known list
is old. No request waits for it, and a missing answer is not reported: Ollama may not be running.
"""

from __future__ import annotations

import asyncio
import logging
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from time import monotonic
from urllib.parse import urlsplit

from axe_lsp.agentfile.schema.models import LocalModel
from axe_lsp.agentfile.schema.providers import PROVIDERS
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.user_config import load_user_config
from axe_lsp.runtime.providers.wire import WireError, address, is_http_address, parse_json
from axe_lsp.runtime.providers.wires.ollama import MODELS_PATH, decode_models
from axe_lsp.tasks import Tasks

_log = logging.getLogger(__name__)

_PATIENCE = 1.0
"""Seconds that it may take to connect, and to go on answering."""
_FRESH = 10.0
"""Seconds for which an answer, or that there was none, is believed."""
_LONGEST = 1 << 20
"""Bytes of an answer; a thousand models take a third of that."""


class Ollama:
    """The models that are known so far."""

    def __init__(self, environment: Environment, tasks: Tasks) -> None:
        self._environment = environment
        self._tasks = tasks
        self._models: tuple[LocalModel, ...] = ()
        self._asked_at = float("-inf")
        self._asking: asyncio.Task[None] | None = None

    @property
    def is_asked(self) -> bool:
        """Whether an answer is on its way."""
        return self._asking is not None and not self._asking.done()

    def models(self) -> tuple[LocalModel, ...]:
        """Return the models that are known now; if they are not fresh, others may be known later."""
        if not self.is_asked and monotonic() - self._asked_at > _FRESH:
            self._asking = self._tasks.start_unattended(self._ask(), name="asking Ollama")
        return self._models

    async def settled(self) -> None:
        """Wait until no answer is on its way."""
        if self._asking is not None:
            await asyncio.wait([self._asking])

    async def _ask(self) -> None:
        try:
            self._models = await asyncio.to_thread(installed_models, self._environment)
        finally:
            self._asked_at = monotonic()


def installed_models(environment: Environment) -> tuple[LocalModel, ...]:
    """Ask for the models; none if there is no proper answer. Blocks."""
    try:
        base_url = load_user_config(environment).base_url("ollama") or PROVIDERS["ollama"].base_url
        models = decode_models(parse_json(_get(address(base_url, MODELS_PATH))))
    except (ConfigError, WireError, HTTPException, OSError, ValueError) as error:
        # Of the error only its kind: the address may hold a password.
        _log.debug("Ollama does not say which models it has: %s", type(error).__name__)
        return ()
    return tuple(model for model in models if model.name.isprintable() and model.name)


def _get(url: str) -> bytes:
    """Return the body of an answer with status 200. Runs ask by a client of their own (http_client.py).

    That one would take longer to import than Ollama takes to answer.
    """
    if not is_http_address(url):
        raise ValueError
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    kind = HTTPSConnection if secure else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=_PATIENCE)
    try:
        connection.request("GET", parts.path)
        answer = connection.getresponse()
        if answer.status != 200:
            raise HTTPException
        return answer.read(_LONGEST)
    finally:
        connection.close()
