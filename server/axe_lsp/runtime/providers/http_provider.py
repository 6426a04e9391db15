"""Requests to services over HTTP: addresses, keys, and the way between requests and bytes.

httpx is imported before the first request, so that whatever sends none starts without it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from axe_lsp.agentfile.model_name import RUNNABLE_PROVIDERS, ModelName
from axe_lsp.agentfile.text import quoted
from axe_lsp.runtime.errors import AgentError, ConfigError, NoAnswerError, ProviderError
from axe_lsp.runtime.folders import Environment
from axe_lsp.runtime.messages import Request, Response
from axe_lsp.runtime.providers import anthropic, ollama, openai
from axe_lsp.runtime.providers.provider import Exchange, OnText
from axe_lsp.runtime.providers.retry_after import retry_after
from axe_lsp.runtime.providers.wire import (
    WireError,
    WireFormat,
    address,
    is_http_address,
    parse_json,
    refusal,
    to_json,
)
from axe_lsp.runtime.redaction import redact
from axe_lsp.runtime.user_config import key_variable, load_user_config

if TYPE_CHECKING:
    from axe_lsp.runtime.providers.http_client import HttpAnswer, HttpClient

FORMATS: Mapping[str, WireFormat] = {
    "anthropic": anthropic,
    "openai": openai,
    "ollama": ollama,
}


class HttpProvider:
    """Answers requests by asking the service that the model names."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._client: HttpClient | None = None

    def check(self, model: ModelName, workdir: Path) -> None:
        """Connect. Raise RunError for a broken config.toml, an unsupported provider, no key."""
        config = load_user_config(self._environment)
        if model.provider not in FORMATS:
            supported = ", ".join(RUNNABLE_PROVIDERS)
            raise AgentError(
                f"unsupported provider {quoted(model.provider)}: "
                f"supported providers are {supported}",
                step="failed to create provider for agent",
            )
        config.require_key(model.provider)
        self._connected()  # Importing httpx takes a while, which no run should be charged for.

    async def send(self, exchange: Exchange, on_text: OnText | None) -> Response:
        """Answer a request. Raises RunError."""
        provider = exchange.model.provider
        wire_format = FORMATS[provider]
        config = load_user_config(self._environment)
        key = config.require_key(provider)
        base_url = config.base_url(provider) or wire_format.DEFAULT_BASE_URL
        _require_sendable(provider, key, base_url)
        try:
            return await self._post(
                wire_format, address(base_url, wire_format.PATH), key, exchange.request, on_text
            )
        except ProviderError as error:
            message = redact(error.message, {key})
            if provider == "ollama" and message == "connection refused":
                message += f": is Ollama running? (expected at {_shown(base_url)})"
            elif isinstance(error, NoAnswerError):
                message += f" ({provider} at {_shown(base_url)})"
            raise ProviderError(error.category, message, error.status, error.retry_after) from error

    async def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.close()

    async def _post(
        self,
        wire_format: WireFormat,
        url: str,
        key: str,
        request: Request,
        on_text: OnText | None,
    ) -> Response:
        body = _body(wire_format, request, stream=on_text is not None)
        headers = {"content-type": "application/json", **wire_format.headers(key)}
        async with self._connected().post(url, headers, body) as answer:
            if not 200 <= answer.status < 300:
                error = refusal(answer.status, await answer.read(), _about_address(answer, url))
                error.retry_after = retry_after(answer.retry_after, datetime.now(timezone.utc))
                raise error
            try:
                return await _read(wire_format, answer, on_text)
            except WireError as error:
                sent = _other_media_type(wire_format, answer, url)
                message = f"failed to parse response: {error}{sent}"
                raise ProviderError("server", message) from error

    def _connected(self) -> HttpClient:
        if self._client is None:
            from axe_lsp.runtime.providers.http_client import HttpClient  # noqa: PLC0415 - see above

            self._client = HttpClient()
        return self._client


async def _read(wire_format: WireFormat, answer: HttpAnswer, on_text: OnText | None) -> Response:
    """The answer, piece by piece if it is streamed. Who asked for a stream may get none."""
    if on_text is None or answer.media_type not in wire_format.STREAM_TYPES:
        response = wire_format.decode(parse_json(await answer.read()))
        if on_text is not None and response.content:
            on_text(response.content)
        return response
    decoder = wire_format.stream_decoder()
    async for line in answer.lines():
        delta = decoder.feed(line)
        if delta:
            on_text(delta)
    return decoder.finish()


def _body(wire_format: WireFormat, request: Request, stream: bool) -> bytes:
    try:
        return to_json(wire_format.encode(request, stream)).encode()
    except ValueError as error:  # Infinity and NaN, which TOML has and JSON has not.
        raise AgentError(f"the request can't be written as JSON: {error}") from error


def _require_sendable(provider: str, key: str, base_url: str) -> None:
    """Refuse settings that can't be used, here where the variable to correct is known."""
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            f"API key for provider {quoted(provider)} has characters that can't be sent "
            f"(check {key_variable(provider)} or config.toml)"
        )
    if not is_http_address(base_url):
        raise ConfigError(
            f"base URL {quoted(_shown(base_url))} of provider {quoted(provider)} is not an "
            f"http or https address (check AXE_{provider.upper()}_BASE_URL or config.toml)"
        )


def _about_address(answer: HttpAnswer, url: str) -> str:
    """What statuses that come from a wrong base URL leave unsaid."""
    if 300 <= answer.status < 400:
        target = f" to {_shown(answer.location)}" if answer.location else ""
        return f": {_shown(url)} redirects{target}, which is not followed (check the base URL)"
    return f": {_shown(url)} (check the base URL)" if answer.status == 404 else ""


def _other_media_type(wire_format: WireFormat, answer: HttpAnswer, url: str) -> str:
    """What was sent in place of an answer, a web page for example."""
    expected = {"", "application/json", *wire_format.STREAM_TYPES}
    return "" if answer.media_type in expected else f" ({answer.media_type} from {_shown(url)})"


def _shown(address: str) -> str:
    """An address, or what was meant to be one, without anything in it that may be secret."""
    scheme, separator, rest = address.partition("://")
    if not separator or "@" in scheme:
        scheme, separator, rest = "", "", address
    host = re.split(r"[?#]", rest.rpartition("@")[2])[0]
    return scheme + separator + re.sub(r"^([^/:\[\]]*):(?!\d*(?:/|$))[^/]*", r"\1:…", host)
