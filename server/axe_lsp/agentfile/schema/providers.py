"""The providers of models: rows of providers, wire formats and parameters; the `provider/model-name` of an agent.

A new provider of a known wire is one row here. A new wire is a row here and a module in
`runtime/providers/wires`. Addresses, variables and headers are those of axe 1.8, and of the
providers' documentation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, get_args

from msgspec import Struct, field

from axe_lsp.agentfile.text.ranges import quoted

Wire = Literal["openai-responses", "openai-chat", "anthropic", "gemini", "bedrock", "ollama"]
"""The wire formats: how a request and its answer are written."""

Auth = Literal["bearer", "x-api-key", "api-key", "x-goog-api-key", "sigv4", "none"]
"""How a request shows its key: in a header, by AWS Signature Version 4, or not at all."""

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""How much a model can be asked to think, from the least to the most."""

WIRE_NAMES: tuple[Wire, ...] = get_args(Wire)
AUTH_NAMES: tuple[Auth, ...] = get_args(Auth)


class WireTraits(Struct, frozen=True):
    """The features of a wire format.

    `params` are the keys of an agent's `[params]` that it has a field for. `json_object`: it can be
    asked for JSON without a schema. `schema_with_tools`: a model that is held to a schema can still
    call tools.
    `names_model`: answers say which model has given them. A request without a key shows `keyless_auth`,
    if there is one. `fallback` is the wire of servers that stand in for the provider and lack this one.
    `base_url` is where a provider without an address has it. `caching_models` is a pattern of the models
    that take marks of what to cache. `own_fields` are those of a request that no other wire has.
    `efforts` are the levels of which each model has some, if refusals do not list them. No request asks
    for less than `least_output` tokens. `call_ids` and `tool_names` are patterns of the ids and of the names of
    tool calls that it takes; `has_call_ids`: a call has to have one.
    """

    auth: Auth
    params: frozenset[str]
    json_object: bool = True
    schema_with_tools: bool = True
    names_model: bool = True
    keyless_auth: Auth | None = None
    fallback: Wire | None = None
    base_url: str = ""
    caching_models: str = ""
    own_fields: frozenset[str] = frozenset()
    efforts: tuple[str, ...] = ()
    least_output: int = 0
    call_ids: str = r"[a-zA-Z0-9_-]{1,40}"
    tool_names: str = r"[a-zA-Z0-9_-]{1,64}"
    has_call_ids: bool = True


_SECRET_ENDINGS = (
    *("_API_KEY", "_ACCESS_KEY", "_SECRET_KEY", "_PRIVATE_KEY", "_ENCRYPTION_KEY", "_STORAGE_KEY"),
    *("_TOKEN", "_AUTHTOKEN", "_SECRET", "_PAT", "_PASS", "_PASSPHRASE", "PASSWORD", "PASSWD"),
)
_SECRET_VARIABLES = frozenset(
    {
        *("BORG_NEW_PASSPHRASE", "PASSPHRASE", "SSHPASS"),
        *("MYSQL_PWD", "SNOWSQL_PWD", "REDISCLI_AUTH", "CONSUL_HTTP_AUTH", "ETCDCTL_USER"),
        *(
            "DOCKER_AUTH_CONFIG",
            "NPM_CONFIG__AUTH",
            "BW_SESSION",
            "AZURE_STORAGE_CONNECTION_STRING",
        ),
        *("SECRET_KEY", "SECRET_KEY_BASE", "ENCRYPTION_KEY", "PRIVATE_KEY"),
    }
)
"""Variables from which clients of databases, ssh, backups, registries and frameworks read a password or a key.

Such as MySQL's `MYSQL_PWD`, redis-cli's `REDISCLI_AUTH` and sshpass's `SSHPASS`. Endings cover libpq's `PGPASSWORD`
and sqlcmd's `SQLCMDPASSWORD`.
"""


@lru_cache(maxsize=1024)
def is_secret_variable(name: str) -> bool:
    """Return whether an environment variable holds a secret, by its name in any case of letters."""
    upper = name.upper()
    return upper.endswith(_SECRET_ENDINGS) or upper in _SECRET_VARIABLES


class ParamSpec(Struct, frozen=True):
    """A parameter: its field in each wire that has it.

    `refusal` is a pattern of the errors of a server that refuses it, after which it is left out. `is_sampling`: a
    model that thinks by a budget does not take it. Without a value in the agent file, which is the default of
    `agent_definition.Params`, it is not sent.
    """

    name: str
    fields: Mapping[Wire, str]
    refusal: str = ""
    is_sampling: bool = False


PARAMS = (
    ParamSpec(
        "temperature",
        {
            "openai-responses": "temperature",
            "openai-chat": "temperature",
            "anthropic": "temperature",
            "gemini": "temperature",
            "bedrock": "temperature",
            "ollama": "temperature",
        },
        # Not the words for a number that is too high, which the user has to know.
        r"(?is)unsupported.*temperature"
        r"|temperature.*(unsupported|not support|not allowed|deprecated)",
        is_sampling=True,
    ),
    ParamSpec(
        "top_p",
        {
            "openai-responses": "top_p",
            "openai-chat": "top_p",
            "anthropic": "top_p",
            "gemini": "topP",
            "bedrock": "topP",
            "ollama": "top_p",
        },
        r"(?is)unsupported.*top_?p|top_?p.*(unsupported|not support|not allowed|deprecated)"
        r"|temperature.*top_?p.*cannot both",  # Claude 4.5 takes one of them.
        is_sampling=True,
    ),
    ParamSpec(
        "top_k",
        {"anthropic": "top_k", "gemini": "topK", "ollama": "top_k"},
        r"(?i)top_?k.*(unsupported|not support|not allowed|not permitted|deprecated)",
        is_sampling=True,
    ),
    ParamSpec(
        "seed",
        {"openai-chat": "seed", "gemini": "seed", "ollama": "seed"},
        # Not in the name of a model, such as bytedance-seed/seed-1.6.
        r"(?i)unsupported.*(?<![\w/-])seed(?![\w/-])"
        r"|(?<![\w/-])seed(?![\w/-]).*(unsupported|not support|not allowed|not permitted)",
    ),
    ParamSpec(
        "stop",
        {
            "openai-chat": "stop",
            "anthropic": "stop_sequences",
            "gemini": "stopSequences",
            "bedrock": "stopSequences",
            "ollama": "stop",
        },
        r"(?i)unsupported.*'stop'"
        r"|\bstop(_?sequences)?\b.*(unsupported|not support|not allowed|not permitted)",
    ),
    ParamSpec("num_ctx", {"ollama": "num_ctx"}),
)
"""The parameters of `[params]` that a request has as one field with the same value.

Each wire writes the other ones in its own way: `_ALWAYS` and `_BUDGET`.
"""


def params_of(wire: Wire) -> frozenset[str]:
    """Return the names of the parameters that have a field in a wire."""
    return frozenset(spec.name for spec in PARAMS if wire in spec.fields)


_ALWAYS = frozenset({"max_tokens", "effort", "response_format", "extra"})
"""The parameters that all wires have."""

_BUDGET = frozenset({"thinking_budget"})

WIRES: Mapping[Wire, WireTraits] = {
    "openai-responses": WireTraits(
        "bearer",
        _ALWAYS | params_of("openai-responses"),
        fallback="openai-chat",
        own_fields=frozenset({"summary", "include", "prompt_cache_key"}),
        least_output=16,
    ),
    "openai-chat": WireTraits("bearer", _ALWAYS | params_of("openai-chat")),
    "anthropic": WireTraits(
        "x-api-key",
        _ALWAYS | _BUDGET | params_of("anthropic"),
        json_object=False,
        call_ids=r"[a-zA-Z0-9_-]+",
        tool_names=r"[a-zA-Z0-9_-]{1,128}",
    ),
    "gemini": WireTraits(
        "x-goog-api-key",
        _ALWAYS | _BUDGET | params_of("gemini"),
        efforts=("low", "medium", "high"),
        call_ids=r"[a-zA-Z0-9_-]+",
        tool_names=r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}",
        has_call_ids=False,
    ),
    "bedrock": WireTraits(
        "bearer",
        _ALWAYS | _BUDGET | params_of("bedrock"),
        json_object=False,
        names_model=False,
        keyless_auth="sigv4",
        base_url="https://bedrock-runtime.{region}.amazonaws.com",
        caching_models="claude|nova",
        call_ids=r"[a-zA-Z0-9_-]{1,64}",
    ),
    "ollama": WireTraits(
        "bearer",
        _ALWAYS | params_of("ollama"),
        schema_with_tools=False,
        tool_names=r"(?s).+",
        has_call_ids=False,
    ),
}


class Provider(Struct, frozen=True):
    """A service that answers requests.

    Its usual wire is `wire`; `wires` are patterns of model names that it serves on another one, of
    which the first that matches counts. The key is in the first of the environment variables
    `key_variables` that is set. `headers` are the keys of `[providers.NAME]` whose text goes into a
    header of its own. `params` are further keys of `[params]` that this service takes. `auths` is how
    requests show the key on wires that usually do it in another way, `auth` how all do.
    """

    name: str
    wire: Wire
    base_url: str
    key_variables: tuple[str, ...]
    needs_key: bool = True
    auth: Auth | None = None
    auths: Mapping[Wire, Auth] = {}
    wires: tuple[tuple[str, Wire], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    params: frozenset[str] = frozenset()

    def wire_of(self, model: str) -> Wire:
        """Return the wire on which the service has a model."""
        found = (wire for pattern, wire in self.wires if re.match(pattern, model))
        return next(found, self.wire)

    def auth_of(self, wire: Wire, key: str) -> Auth:
        """Return the way in which a request on this wire sends its key, or goes without one."""
        usual = self.auths.get(wire, WIRES[wire].auth)
        auth, keyless = self.auth or usual, WIRES[wire].keyless_auth
        return keyless if keyless is not None and auth == usual and not key else auth

    @property
    def key_variable(self) -> str:
        """The variable that messages name."""
        return self.key_variables[0]


def default_key_variable(name: str) -> str:
    """Return the environment variable for the key of a provider that has no row."""
    return f"{_upper(name)}_API_KEY"


def address_variable(name: str) -> str:
    """Return the environment variable for a provider's base URL."""
    return f"AXE_{_upper(name)}_BASE_URL"


def _upper(name: str) -> str:
    return name.upper().replace("-", "_")


_REASONS = (
    r"(?!gpt-35-turbo|.*-chat-latest$)"
    r"(gpt-([5-9]|\d\d)|o[1-9]|codex|computer-use|gpt-daybreak|gpt-rosalind)"
)
"""OpenAI's models that reason, whose tools need the Responses API, or that have no other. Models that come
are taken to be like those that are there. Azure's name of GPT-3.5 is none of these."""

_REFERER = {"referer": "HTTP-Referer", "title": "X-OpenRouter-Title"}

PROVIDERS: Mapping[str, Provider] = {
    provider.name: provider
    for provider in (
        Provider("anthropic", "anthropic", "https://api.anthropic.com", ("ANTHROPIC_API_KEY",)),
        Provider(
            "openai",
            "openai-chat",
            "https://api.openai.com",
            ("OPENAI_API_KEY",),
            wires=((_REASONS, "openai-responses"),),
        ),
        Provider(
            "ollama", "ollama", "http://localhost:11434", ("OLLAMA_API_KEY",), needs_key=False
        ),
        Provider(
            "google",
            "gemini",
            "https://generativelanguage.googleapis.com",
            ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        ),
        Provider(
            "openrouter",
            "openai-chat",
            "https://openrouter.ai/api/v1",
            ("OPENROUTER_API_KEY",),
            headers={**_REFERER, "categories": "X-OpenRouter-Categories"},
            params=frozenset({"thinking_budget"}),
        ),
        Provider("minimax", "anthropic", "https://api.minimax.io/anthropic", ("MINIMAX_API_KEY",)),
        Provider(
            "opencode",
            "openai-chat",
            "https://opencode.ai/zen/v1",
            ("OPENCODE_API_KEY",),
            # Its chat endpoint can't answer for Gemini: it passes our key on to Google (manifest#1864).
            wires=(
                (r"claude-", "anthropic"),
                (r"gpt-", "openai-responses"),
                (r"gemini-", "gemini"),
            ),
            auths={"anthropic": "bearer"},
        ),
        Provider(
            "bedrock",
            "bedrock",
            WIRES["bedrock"].base_url,
            ("AWS_BEARER_TOKEN_BEDROCK",),
            needs_key=False,
        ),
        Provider(
            "requesty",
            "openai-chat",
            "https://router.requesty.ai/v1",
            ("REQUESTY_API_KEY",),
            headers=_REFERER,
        ),
        Provider(
            "atlascloud", "openai-chat", "https://api.atlascloud.ai/v1", ("ATLASCLOUD_API_KEY",)
        ),
        Provider("edenai", "openai-chat", "https://api.edenai.run/v3", ("EDENAI_API_KEY",)),
    )
}
"""The providers by name, in the order in which messages name them."""


REPLAY_PROVIDER = "replay"
"""The offline provider: `replay/NAME` answers from a recording."""


class ModelNameError(ValueError):
    """The model string is not `provider/model-name`; the message says how, in axe's words: scripts match on them."""


class ModelName(Struct, frozen=True):
    """A model and who serves it."""

    provider: str
    name: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}"


def parse_model_name(text: str) -> ModelName:
    """Split at the first slash; model names may hold further ones.

    Raises ModelNameError, with axe's text, for a string that is not of the form.
    """
    provider, slash, name = text.partition("/")
    if not slash:
        raise ModelNameError(f"invalid model format {quoted(text)}: expected provider/model-name")
    if not provider:
        raise ModelNameError(f"invalid model format {quoted(text)}: empty provider")
    if not name:
        raise ModelNameError(f"invalid model format {quoted(text)}: empty model name")
    return ModelName(provider, name)
