"""Requests to services over HTTP: addresses, keys, and the way between requests and bytes.

The HTTP client is imported before the first request, so that whatever sends none starts without it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cache, lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.schema.models import takes_pictures
from axe_lsp.agentfile.schema.providers import (
    PROVIDERS,
    WIRES,
    Auth,
    ModelName,
    Provider,
    Wire,
    address_variable,
)
from axe_lsp.agentfile.schema.services import CHAT_FIELDS, ServiceTraits, service_traits
from axe_lsp.agentfile.text.nearest import nearest
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.certificates import read_ahead
from axe_lsp.runtime.errors import AgentError, ConfigError, NoAnswerError, ProviderError
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.user_config import UserConfig, load_user_config
from axe_lsp.runtime.messages import Delta, Request, Response, ResponseFormat
from axe_lsp.runtime.plain_text import decode
from axe_lsp.runtime.providers.adaptive_limiter import OwnLimiters
from axe_lsp.runtime.providers.body import encode_body, forget_originals, with_readable
from axe_lsp.runtime.providers.failures import WRONG_PLACE, refusal
from axe_lsp.runtime.providers.former_turns import CallRules, with_former_turns
from axe_lsp.runtime.providers.provider import Entry, Exchange, Limiters, OnDelta, limiter_key
from axe_lsp.runtime.providers.read_answer import read_answer
from axe_lsp.runtime.providers.restrictions import (
    Field,
    Restrictions,
    accepted,
    brings_pictures,
    fields_of,
    learnt,
    left_out,
    left_out_tools,
    told_of,
    window_told,
)
from axe_lsp.runtime.providers.retry_after import last_moment
from axe_lsp.runtime.providers.wire import (
    WireError,
    WireFormat,
    address,
    is_http_address,
)
from axe_lsp.runtime.safety.redaction import redact
from axe_lsp.runtime.shared_lookups import once_a_step
from axe_lsp.runtime.usage import cost_today

if TYPE_CHECKING:
    from axe_lsp.runtime.providers.http_client import HttpAnswer, HttpClient


class Service(Struct, frozen=True):
    """Whom to ask for a model and how, as the user has configured it.

    Requests go below `base_url`, with `query` at the end of the address and with `headers`. `is_own`:
    that is the provider's own service, and none that stands in for it. `sign` makes the headers that
    sign a request, from its address, headers and body; None where the key itself is sent.
    `unsupported` is what the model is known to refuse.
    """

    provider: str
    wire: Wire
    base_url: str
    is_own: bool
    key: str
    auth: Auth
    headers: Mapping[str, str]
    query: Mapping[str, str]
    config: UserConfig
    sign: Callable[[str, Mapping[str, str], bytes], Mapping[str, str]] | None = None
    unsupported: frozenset[Field] = frozenset()

    @property
    def may_lack_responses(self) -> bool:
        """Whether the server is not the provider's own, and the configuration does not say that it has the Responses API."""
        is_stated = self.config.states_wire(self.provider)
        return WIRES[self.wire].fallback is not None and not self.is_own and not is_stated

    @property
    def restrictions(self) -> Restrictions:
        """How requests are written as long as nothing is known of the model."""
        traits = self.traits
        return Restrictions(
            self.is_own,
            self.unsupported,
            self.provider,
            self.wire,
            omitted_fields=CHAT_FIELDS - traits.returned_fields,
            required_fields=traits.required_fields,
        )

    @property
    def traits(self) -> ServiceTraits:
        """The features of the service that its wire does not tell."""
        return service_traits(self.wire, self.provider, self.base_url)

    def origin(self, model: str) -> str:
        """Return the origin of a model's answers."""
        return f"{self.wire} {self.provider}/{model}"

    def call_rules(self, model: str) -> CallRules:
        """Return the rules for tool calls of former turns."""
        wire, ids = WIRES[self.wire], self.traits.call_ids
        return CallRules(
            origin=self.origin(model),
            ids=ids or wire.call_ids,
            names=wire.tool_names,
            has_ids=wire.has_call_ids,
            checks_own_ids=bool(ids),
        )

    @property
    def wire_format(self) -> WireFormat:
        """How requests are written."""
        return format_of(self.wire)

    def news(
        self, request: Request, restrictions: Restrictions, *, is_first: bool = True
    ) -> list[str]:
        """Return the notes for the user about a request, which `is_first` or one like those before.

        MCP servers may change the tools of any request.
        """
        news = [*left_out_tools(request, restrictions)]
        if is_first:
            news += left_out(request, restrictions)
            news += self.wire_format.dropped(request, restrictions)
        return news

    def url(self, model: str, stream: bool) -> str:
        """Return where a request goes."""
        wire_format = self.wire_format
        path = wire_format.path(model, stream)
        return address(self.base_url, path, wire_format.SHAPE.any_version, self.query)

    def proof(self, url: str, headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:
        """Return the headers that show who asks."""
        if self.sign is not None:
            return self.sign(url, headers, body)
        if self.auth == "none" or not self.key:
            return {}
        is_bearer = self.auth == "bearer"  # All others are names of headers.
        return {"authorization": f"Bearer {self.key}"} if is_bearer else {self.auth: self.key}

    def explained(self, error: ProviderError, model: str) -> ProviderError:
        """Return the error with what the user needs to know, and without any key."""
        from axe_lsp.runtime.providers.next_steps import Asked, next_step

        message = redact(error.message, self.config.secrets())
        advice = " ({provider} at {address})" if isinstance(error, NoAnswerError) else ""
        for pattern, text in self.wire_format.SHAPE.advice.items():
            if re.search(pattern, message):
                advice = text
        address = _shown(self.base_url)
        advice = advice.format(provider=self.provider, model=model, address=address)
        asked = Asked(
            provider=self.provider,
            model=model,
            url=_shown(self.url(model, stream=False)),
            auth=self.auth,
            has_headers=bool(self.config.table(self.provider, "headers")),
            key_origin=self.config.key_origin(self.provider),
            base_url_origin=self.config.base_url_origin(self.provider),
        )
        explained = error.reworded(message + advice)
        explained.hint = ". ".join(filter(None, (next_step(error, asked), error.hint)))
        return explained


_REGION = "{region}"
"""Stands in an address for the region of AWS."""

_SHOWN = 80
"""Characters of what was no answer."""

_NOT_FOUND = 404

_NO_SUCH_PATH = (_NOT_FOUND, 405, 501)

_UNREADABLE_CODE = "invalid_encrypted_content"
"""The code with which OpenAI refuses reasoning that it can't decrypt."""

_UNREADABLE = (
    r"(?i)invalid .?signature.? in .?(redacted_)?thinking"  # Anthropic, also behind Bedrock and OpenRouter
    r"|thinking.* blocks in the latest assistant message cannot be modified"
    r"|corrupted thought signature"  # Gemini
    r"|items are not persisted"  # OpenAI
)
"""The words with which services refuse what a model has signed or thought.

Anthropic binds thoughts to the system prompt, the tools and all messages before them, so those behind a
shortened result or another list of tools are refused (Claude 5.1 and later: "Prefix checks on thinking
blocks" of its documentation). Marks of the cache don't count ("Preserved thinking" of LiteLLM's), so they may
move. It is a pattern, which is compiled when a request was refused.
"""

_TOLD = "warnings"
"""Where in `Request.kept` the warnings are that a run has given: it gives each of them once."""

_FORGETS = "the model {} can't read its earlier reasoning any more, so the run goes on without it"

_Place = tuple[str, Wire, ModelName, ResponseFormat | None]
"""Where something was refused: what one schema is refused for says nothing about another."""


class HttpProvider:
    """Answers requests by asking the service that the model names.

    `limiters` hold requests back; without them it has its own.
    """

    def __init__(self, environment: Environment, limiters: Limiters | None = None) -> None:
        self.limiters: Limiters = limiters or OwnLimiters()
        self._service_now = once_a_step(
            lambda model: service_of(model, load_user_config(environment))
        )
        self._client: HttpClient | None = None
        self._restrictions: dict[_Place, Restrictions] = {}
        self._windows: dict[tuple[str, ModelName], int] = {}
        self._without_responses: set[str] = set()

    def check(self, model: ModelName, workdir: Path) -> None:
        """Connect. Raise RunError for a broken config.toml, an unsupported provider, no key."""
        if self._service(model).base_url.startswith("https:"):
            read_ahead()  # While the client is imported.
        self._connected()  # Importing its client takes a while, which no run should be charged for.

    def window(self, model: ModelName) -> int | None:
        """Return the tokens of a model's context window, if its server has told them in a refusal."""
        if not self._windows:
            return None
        return self._windows.get((self._service(model).base_url, model))

    async def send(self, exchange: Exchange, on_delta: OnDelta | None) -> Response:
        """Answer a request. Raises RunError."""
        request, model = exchange.request, exchange.model
        told: set[str] = request.kept.setdefault(_TOLD, set())
        may_have_news = exchange.turn == 1 or brings_pictures(request)

        def tell(news: list[str]) -> None:
            for text in news:
                if text not in told:
                    exchange.warn(text)
                    told.add(text)

        while True:
            service = self._service(model)
            place = service.base_url, service.wire, model, request.response_format
            restrictions = self._restrictions.get(place, service.restrictions)
            news = service.news(request, restrictions, is_first=may_have_news)
            if not service.may_lack_responses:  # Else the chat wire may have what this one lacks.
                tell(news)
            encodable = with_former_turns(with_readable(request), service.call_rules(model.name))
            try:
                sent = replace(exchange, request=encodable)
                response = await self._ask(service, sent, restrictions, on_delta)
                tell([*news, *told_of(request, response, WIRES[service.wire])])
                response = replace(response, origin=service.origin(model.name))
                return _priced(response, model, service.wire)
            except ProviderError as error:
                self._learn_window(error, exchange, service)
                known = learnt(
                    error, request, restrictions, partial(_sent_fields, service, encodable)
                )
                if known is not None:
                    self._restrictions[place] = known
                    may_have_news = True
                elif service.may_lack_responses and _lacks_path(error, encodable):
                    self._without_responses.add(service.base_url)
                    exchange.warn(_asks_chat(service))
                elif _is_unreadable(error) and forget_originals(request):
                    exchange.warn(_FORGETS.format(request.model))
                else:
                    raise service.explained(
                        error, model.name
                    ) from None  # What it came from may hold the key.

    def _learn_window(self, error: ProviderError, exchange: Exchange, service: Service) -> None:
        window = window_told(error, exchange.request, exchange.size)
        if window is not None:
            self._windows[service.base_url, exchange.model] = window

    async def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.close()

    def _service(self, model: ModelName) -> Service:
        service = self._service_now(model)
        if service.may_lack_responses and service.base_url in self._without_responses:
            return replace(service, wire=WIRES[service.wire].fallback)
        return service

    async def _ask(
        self,
        service: Service,
        exchange: Exchange,
        restrictions: Restrictions,
        on_delta: OnDelta | None,
    ) -> Response:
        """Answer a request, which is sent once more if its answer is a slip.

        That is a garbled call, also one that the service reports as an error, or an empty answer that its stop
        reason contradicts. Not after text was shown to the user, since it can't be taken back.
        """
        was_shown = False

        def show(delta: Delta) -> None:
            nonlocal was_shown
            was_shown = was_shown or bool(delta.text)
            if on_delta is not None:
                on_delta(delta)

        listener = show if on_delta is not None else None
        spent = Response()
        try:
            response = await self._post(service, exchange, restrictions, listener)
            is_slip = response.incomplete == "malformed_call" or bool(response.contradiction)
            if was_shown or not is_slip:
                return response
            spent = response
        except ProviderError as error:
            if was_shown or not error.is_garbled_call:
                raise
        return _in_addition(await self._post(service, exchange, restrictions, listener), spent)

    async def _post(
        self,
        service: Service,
        exchange: Exchange,
        restrictions: Restrictions,
        on_delta: OnDelta | None,
    ) -> Response:
        request, wire_format = exchange.request, service.wire_format
        stream = on_delta is not None
        url = service.url(request.model, stream)
        body = encode_body(wire_format, accepted(request, restrictions), stream, restrictions)
        headers = {
            "content-type": "application/json",
            **wire_format.SHAPE.headers,
            **service.headers,
        }
        headers.update(service.proof(url, headers, body))
        key = limiter_key(service.provider, service.base_url, service.key)
        most = service.config.max_concurrent(service.provider)
        async with (
            self.limiters.passage(key, most, _entry(service, exchange)),
            self._connected().post(url, headers, body) as answer,
        ):
            if not 200 <= answer.status < 300:
                otherwise = _about_address(answer, url)
                error = refusal(answer.status, await answer.read(), otherwise, answer.headers)
                error.hint = _about_page(answer, url, service)
                raise error
            try:
                return await read_answer(
                    wire_format,
                    answer,
                    on_delta,
                    service.key,
                    heard=exchange.heard,
                    model=request.model,
                )
            except WireError as error:
                is_stream = stream and answer.media_type in wire_format.SHAPE.stream_types
                sent = "" if is_stream else f" ({_what_came(answer, url, service)})"
                message = f"failed to parse response: {error}{sent}"
                raise ProviderError("server", message) from error

    def _connected(self) -> HttpClient:
        if self._client is None:
            from axe_lsp.runtime.providers.http_client import HttpClient

            self._client = HttpClient()
        return self._client


def _in_addition(response: Response, spent: Response) -> Response:
    """Return the answer with the tokens of another one that was paid for as well, and its cost if the service states it."""
    costs = (response.cost, spent.cost)
    return replace(
        response,
        cost=response.cost if None in costs else sum(filter(None, costs)),
        input_tokens=response.input_tokens + spent.input_tokens,
        output_tokens=response.output_tokens + spent.output_tokens,
        cache_read_tokens=response.cache_read_tokens + spent.cache_read_tokens,
        cache_write_tokens=response.cache_write_tokens + spent.cache_write_tokens,
    )


def _entry(service: Service, exchange: Exchange) -> Entry:
    def waiting(seconds: float) -> AbstractContextManager[object]:
        exchange.on_wait(service.provider, seconds)
        return exchange.waiting()

    return Entry(exchange.attempt, last_moment(exchange.deadline), waiting)


def _priced(response: Response, name: ModelName, wire: Wire) -> Response:
    """Return the answer with the model's name and its cost: what the provider says, else by known prices."""
    if not WIRES[wire].names_model:
        response = replace(response, model=name.name)
    if response.cost is not None:
        return response
    return replace(response, cost=cost_today(str(name), response.usage))


def service_of(model: ModelName, config: UserConfig) -> Service:
    """Return the service of a model: its wire, address and key.

    Raises AgentError for a provider that nobody knows, MissingKeyError without a key, ConfigError
    for a key or an address that can't be used.
    """
    name = model.provider
    row = config.provider(name)
    if row is None:
        raise _unsupported_provider(name, config)
    wire, key = row.wire_of(model.name), config.require_key(name)
    _require_sendable(row, key)
    base_url, auth = config.base_url(name) or row.base_url, row.auth_of(wire, key)
    is_own = name in PROVIDERS and address(base_url, "v1/") == address(row.base_url, "v1/")
    sign = None
    if auth == "sigv4" or _REGION in base_url:
        from axe_lsp.runtime.providers import aws

        region = aws.region_of(config, name, base_url)
        base_url = base_url.replace(_REGION, region)
        if auth == "sigv4":
            sign = partial(aws.signed_headers, aws.find_keys(config.environment, name), region)
    _require_address(name, base_url)
    named = {header: config.setting(name, setting) for setting, header in row.headers.items()}
    return Service(
        provider=name,
        wire=wire,
        base_url=base_url,
        is_own=is_own,
        key=key,
        auth=auth,
        headers={
            **{header: text for header, text in named.items() if text},
            **config.table(name, "headers"),
        },
        query=config.table(name, "query"),
        config=config,
        sign=sign,
        unsupported=_unsupported(wire, model.name),
    )


def _unsupported_provider(name: str, config: UserConfig) -> AgentError:
    """Return the error for a provider that is neither built in nor has a wire in config.toml."""
    named = [each for each in config.providers if each not in PROVIDERS and config.provider(each)]
    known = (*PROVIDERS, *named)
    reason = f"supported providers are {', '.join(known)}"
    meant = nearest(name, known)
    hint = f"[providers.{name}] with `wire` and `base_url` in config.toml adds it"
    if name in config.providers:
        reason = f"[providers.{name}] of config.toml has no wire, such as {quoted('openai-chat')}"
        hint = ""
    elif meant is not None:
        hint = f"Did you mean {meant}?"
    message = f"unsupported provider {quoted(name)}: {reason}"
    return AgentError(message, "failed to create provider for agent", hint)


def _unsupported(wire: Wire, model: str) -> frozenset[Field]:
    """Return the fields that the model refuses: some refuse to be told what to cache, or read text only."""
    caches = re.search(WIRES[wire].caching_models, model)
    refused: dict[Field, bool] = {"cache_control": not caches, "images": not takes_pictures(model)}
    return frozenset(field for field, is_refused in refused.items() if is_refused)


@cache
def format_of(wire: Wire) -> WireFormat:
    """Return the module of a wire, imported when it is used: hardly anybody uses two."""
    name = wire.replace("-", "_")
    return cast("WireFormat", import_module(f"axe_lsp.runtime.providers.wires.{name}"))


def _require_sendable(row: Provider, key: str) -> None:
    """Refuse what can't be used, here where the variable to correct is known."""
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            f"API key for provider {quoted(row.name)} has characters that can't be sent "
            f"(check {row.key_variable} or config.toml)"
        )


@lru_cache(maxsize=32)
def _require_address(provider: str, base_url: str) -> None:
    """Raise ConfigError if a base URL is not an address. Each one is checked once."""
    if not is_http_address(base_url):
        raise ConfigError(
            f"base URL {quoted(_shown(base_url))} of provider {quoted(provider)} is not an "
            f"http or https address (check {address_variable(provider)} or config.toml)"
        )


def _lacks_path(error: ProviderError, request: Request) -> bool:
    """Return whether a server does not know the address, rather than the model or an item of the request."""
    is_first = all(message.original is None for message in request.messages)
    return error.status in _NO_SUCH_PATH and is_first and request.model not in error.message


def _sent_fields(service: Service, request: Request) -> set[str]:
    """Return the names of the fields of all messages of a request."""
    encode = service.wire_format.encode_message
    return fields_of([item for message in request.messages for item in encode(message, False)])


def _is_unreadable(error: ProviderError) -> bool:
    """Return whether a service refuses the thoughts of its own model that a request brings back."""
    if error.category != "bad_request":
        return False
    return _UNREADABLE_CODE in error.codes or bool(re.search(_UNREADABLE, error.message))


def _asks_chat(service: Service) -> str:
    return (
        f"{service.provider} at {_shown(service.base_url)} has no /v1/responses, so it is asked on "
        f'/v1/chat/completions (wire = "openai-chat" in [providers.{service.provider}] of config.toml '
        "says so at once)"
    )


def _about_address(answer: HttpAnswer, url: str) -> str:
    """Return the hint for statuses that a wrong base URL causes."""
    if 300 <= answer.status < 400:
        location = answer.headers.get("location")
        target = f" to {_shown(location)}" if location else ""
        return f": {_shown(url)} redirects{target}, which is not followed {WRONG_PLACE}"
    return f": {_shown(url)} {WRONG_PLACE}" if answer.status == _NOT_FOUND else ""


def _what_came(answer: HttpAnswer, url: str, service: Service) -> str:
    """Return the content in place of an answer, for example the page of a proxy."""
    what = answer.media_type or "no content type"
    told = f"status {answer.status}, {what} from {_shown(url)}"
    beginning = _beginning(decode(answer.beginning), service)
    return f"{told}, which begins with {beginning}" if beginning else told


def _about_page(answer: HttpAnswer, url: str, service: Service) -> str:
    """Return the text of a refusal that is not the provider's, such as the page of a proxy or a firewall."""
    text = decode(answer.beginning).strip()
    if answer.media_type not in ("text/html", "text/plain") or text[:1] in ("{", "["):
        return ""
    beginning = _beginning(re.sub(_TAGS, " ", text), service)
    return f"{_shown(url)} answers with a page: {beginning}" if beginning else ""


_TAGS = r"(?is)<(style|script)\b.*?(</\1\s*>|$)|<[^>]*(>|$)"
"""The parts of a page that are no text."""


def _beginning(text: str, service: Service) -> str:
    """Return the beginning of a text in quotes, on one line and without keys."""
    # Before it is cut: of half a key nobody would know that it is one.
    whole = redact(" ".join(text.split()), service.config.secrets())
    return quoted(whole[:_SHOWN]) if whole else ""


def _shown(address: str) -> str:
    """Return an address, or what was meant to be one, without anything in it that may be secret."""
    scheme, separator, rest = address.partition("://")
    if not separator or "@" in scheme:
        scheme, separator, rest = "", "", address
    host = re.split(r"[?#]", rest.rpartition("@")[2])[0]
    return scheme + separator + re.sub(r"^([^/:\[\]]*):(?!\d*(?:/|$))[^/]*", r"\1:…", host)
