"""The user's own settings for providers: config.toml and the environment, which wins.

They are read at the moment of use and kept for no longer than that (`runtime/shared_lookups.py`): a key that the user
changes is in force for the next request. A workspace has no say here, so it can't send a key elsewhere.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, unquote

import tomli
from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import RetryConfig
from axe_lsp.agentfile.mcp_servers import is_secret_name
from axe_lsp.agentfile.schema.config_keys import AFTER_EDIT
from axe_lsp.agentfile.schema.key_spec import BACKOFFS
from axe_lsp.agentfile.schema.providers import (
    AUTH_NAMES,
    PROVIDERS,
    WIRE_NAMES,
    WIRES,
    Auth,
    ModelName,
    Provider,
    Wire,
    address_variable,
    default_key_variable,
    is_secret_variable,
)
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.agentfile.text.reading import NotUtf8Error, decode_utf8
from axe_lsp.runtime.errors import ConfigError, MissingKeyError
from axe_lsp.runtime.files.folders import Environment, config_folder
from axe_lsp.runtime.files.regular_files import read_file
from axe_lsp.runtime.plain_text import os_fault
from axe_lsp.runtime.shared_lookups import once_a_step

_OTHER_KEYS = frozenset(
    {
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AZURE_OPENAI_API_KEY",
        "TAVILY_API_KEY",
    }
)
"""Variables that hold keys of services and are in no row of a provider."""

_SHORTEST = 8
"""Characters of a key. Shorter ones are placeholders, and may be equal by chance."""

_TEXT_KEYS = (
    *("api_key", "api_key_env", "auth", "base_url", "categories"),
    *("referer", "region", "title", "wire"),
)
_TABLE_KEYS = ("headers", "query")
_CHOICES: Mapping[str, tuple[str, ...]] = {"wire": WIRE_NAMES, "auth": AUTH_NAMES}

_VARIABLE = r"\$\{(\w+)\}"


_LOGIN = r"""(?i)\b(https?|)://([^\s/?#"'<>]+)@"""
"""The scheme of an address, if it is HTTP's, and its `user:password` (RFC 3986, section 3.2.1)."""

_PASSWORD_FIELD = r"""(?i)(?:password|passwd|pwd|accountkey|sharedaccesskey)=([^\s;&"']+)"""
"""A password in a query or in a connection string, as libpq, JDBC, ODBC and Azure have it."""

_PLACEHOLDERS = frozenset(
    {
        *("password", "passw0rd", "password123", "changeme", "changeit", "postgres", "postgresql"),
        *("mysecretpassword", "minioadmin", "rabbitmq", "redacted", "x-oauth-basic", "undefined"),
    }
)
"""Passwords of examples and of databases for development. To redact them would tear words apart."""


@lru_cache(maxsize=512)
def logins_in(text: str) -> frozenset[str]:
    """Return the credentials of each address and connection string in `text`, each in all its spellings.

    These are `user:password` and the password, percent-encoded and decoded, and both as a header has them. A user
    without a password is a token if the address is HTTP's. A password that equals its user is none by itself.
    """
    found = set(re.findall(_PASSWORD_FIELD, text)) if "=" in text else set()
    logins = re.findall(_LOGIN, text) if "@" in text and "://" in text else ()
    for scheme, login in logins:
        user, _, password = login.partition(":")
        plain_user, plain = unquote(user), unquote(password)
        if password:
            pair = f"{plain_user}:{plain}"
            found |= {login, pair, b64encode(pair.encode()).decode()}
            found |= {password, plain} if plain != plain_user else set()
        if scheme and (not password or password in _NO_PASSWORDS):
            found |= {user, plain_user}
    return frozenset(filter(None, found))


_NO_PASSWORDS = ("x-oauth-basic", "x")
"""Passwords that stand behind a token in the place of the user, as GitHub's and other services' have it."""


@lru_cache(maxsize=256)
def _in_address(secret: str) -> str:
    """Return a secret as the query of an address has it."""
    return quote(secret, safe="")


class _Providers(dict[str, Mapping[str, Any]]):
    """`[providers]` of a file, with values that are derived once."""

    @cached_property
    def key_variables(self) -> frozenset[str]:
        """The names of all variables that may hold a provider's key."""
        config = UserConfig(self, {})
        rows = [config.provider(name) for name in {*PROVIDERS, *self}]
        named = {variable for row in rows if row for variable in row.key_variables}
        usual = {default_key_variable(name) for name in {*PROVIDERS, *self}}
        return _OTHER_KEYS | named | usual | self._in_tables

    @cached_property
    def written_secrets(self) -> frozenset[str]:
        """The secrets that the file itself has: keys, logins in addresses, and what has the name of a secret."""
        found: set[str] = set()
        for settings in self.values():
            found.add(str(settings.get("api_key", "")).strip())
            found.update(logins_in(str(settings.get("base_url", ""))))
            for key in _TABLE_KEYS:
                for name, text in settings.get(key, {}).items():
                    # The values of variables are known, and no secret is what stands for them.
                    if is_secret_name(name) and not re.search(_VARIABLE, text):
                        found.update((text.strip(), text.strip().rpartition(" ")[2]))
        return frozenset(filter(None, found))

    @property
    def _in_tables(self) -> frozenset[str]:
        """The variables that `headers` and `query` of a provider name."""
        tables = (settings.get(key, {}) for settings in self.values() for key in _TABLE_KEYS)
        texts = (text for table in tables for text in table.values())
        return frozenset(name for text in texts for name in re.findall(_VARIABLE, text))


class UserConfig(Struct, frozen=True):
    """The user's settings of each provider, those of `[retry]` for all agents, the rules of `[tools]`, and `[editor]`."""

    providers: Mapping[str, Mapping[str, Any]]
    environment: Environment
    retry: RetryConfig = RetryConfig()
    allow: tuple[str, ...] = ()
    diagnostics_after_edit: str = "errors"

    def provider(self, name: str) -> Provider | None:
        """Return the provider of a name: a row of the table, changed or added by `[providers.NAME]`.

        None for a name that is neither built in nor has a `wire` in config.toml.
        """
        row, wire = PROVIDERS.get(name), self._setting(name, "wire")
        if row is None:
            if not wire:
                return None
            traits, variables = WIRES[cast(Wire, wire)], (default_key_variable(name),)
            needs_key = traits.keyless_auth is None
            row = Provider(name, cast(Wire, wire), traits.base_url, variables, needs_key)
        variable, auth = self._setting(name, "api_key_env"), self._setting(name, "auth")
        if wire:
            row = replace(row, wire=cast(Wire, wire), wires=())
        if auth:
            row = replace(row, auth=cast(Auth, auth))
        if row.auth in ("none", "sigv4"):
            row = replace(row, needs_key=False)
        if variable:
            row = replace(row, key_variables=(variable, *row.key_variables))
        return row

    def named_providers(self) -> tuple[str, ...]:
        """Return the providers that the user has added."""
        return tuple(
            name for name in self.providers if name not in PROVIDERS and self.states_wire(name)
        )

    def states_wire(self, provider: str) -> bool:
        """Return whether config.toml says on which wire the provider is spoken to."""
        return bool(self._setting(provider, "wire"))

    def api_key(self, provider: str) -> str:
        """Return the key, or ""."""
        return self._value(self._key_variable(provider), provider, "api_key")

    def key_origin(self, provider: str) -> str:
        """Return where the key comes from: a variable, config.toml, or "" for nowhere."""
        return self._origin(self._key_variable(provider), provider, "api_key")

    def base_url(self, provider: str) -> str:
        """Return where the provider is, or "" for its usual place."""
        return self._value(address_variable(provider), provider, "base_url")

    def base_url_origin(self, provider: str) -> str:
        """Return where the address comes from: a variable, config.toml, or "" for the usual one."""
        return self._origin(address_variable(provider), provider, "base_url")

    def require_key(self, provider: str) -> str:
        """Return the key. Raises MissingKeyError if the provider needs one and there is none."""
        key, row = self.api_key(provider), self.provider(provider)
        if not key and (row is None or row.needs_key):
            variable = row.key_variable if row else default_key_variable(provider)
            raise MissingKeyError(
                f"API key for provider {quoted(provider)} is not configured "
                f"(set {variable} or add to config.toml)",
                provider,
            )
        return key

    def setting(self, provider: str, key: str) -> str:
        """Return a text of `[providers.NAME]`, without white space around it, or ""."""
        return self._setting(provider, key).strip()

    def table(self, provider: str, key: str) -> dict[str, str]:
        """Return `headers` or `query` of a provider, with `${VAR}` expanded.

        Raises ConfigError for a variable that is not set.
        """
        table = self.providers.get(provider, {}).get(key, {})
        where = f"providers.{provider}.{key}"
        return {name: self._expanded(text, f"{where}.{name}") for name, text in table.items()}

    def max_concurrent(self, provider: str) -> int:
        """Return the most requests to the provider that are on their way at once; 0 means any number."""
        return int(self.providers.get(provider, {}).get("max_concurrent", 0))

    def key_variables(self) -> frozenset[str]:
        """Return the names of all variables that may hold a provider's key, whether or not they are set."""
        return self._read.key_variables

    def provider_secrets(self) -> frozenset[str]:
        """Return the keys of all providers, in the configuration and in the environment."""
        variables = {self.environment.get(name, "") for name in self.key_variables()}
        found = {each.strip() for each in variables} | self._read.written_secrets
        return frozenset(each for each in found if len(each) >= _SHORTEST)

    def secrets(self) -> frozenset[str]:
        """Return every key in the configuration, and all that the environment calls a secret, also as addresses have it."""
        keys = self.key_variables() - {"AWS_ACCESS_KEY_ID"}  # An id, which logs may show.
        plain = set(self._read.written_secrets)
        for name, value in self.environment.items():
            plain |= logins_in(value)
            if is_secret_variable(name) or name in keys:
                plain.add(value.strip())
        plain -= {"", *_PLACEHOLDERS}
        return frozenset(plain.union(map(_in_address, plain)))

    @property
    def _read(self) -> _Providers:
        read = self.providers
        return read if isinstance(read, _Providers) else _Providers(read)

    def _expanded(self, text: str, where: str) -> str:
        def value(match: re.Match[str]) -> str:
            found = self.environment.get(match[1])
            if found is None:
                raise ConfigError(
                    f"{where} in config.toml needs the environment variable {match[1]}, "
                    "which is not set"
                )
            return found

        return re.sub(_VARIABLE, value, text)

    def _key_variable(self, provider: str) -> str:
        """Return the variable that the key is taken from: the first that is set, else the first."""
        row = self.provider(provider)
        variables = row.key_variables if row else (default_key_variable(provider),)
        return next((each for each in variables if self.environment.get(each)), variables[0])

    def _value(self, variable: str, provider: str, key: str) -> str:
        """Return a setting from the environment, else from the file, without surrounding white space."""
        return (self.environment.get(variable) or self._setting(provider, key)).strip()

    def _origin(self, variable: str, provider: str, key: str) -> str:
        if not self._value(variable, provider, key):
            return ""
        return f"${variable}" if self.environment.get(variable) else "config.toml"

    def _setting(self, provider: str, key: str) -> str:
        return str(self.providers.get(provider, {}).get(key, ""))


def wire_of(model: ModelName, environment: Environment) -> Wire:
    """Return the wire on which a request to the model would travel.

    A provider that can't be found has the chat wire here: what is wrong with it, or with
    config.toml, is said when a request is about to be sent.
    """
    try:
        provider = load_user_config(environment).provider(model.provider)
    except ConfigError:
        provider = PROVIDERS.get(model.provider)
    return provider.wire_of(model.name) if provider is not None else "openai-chat"


def load_user_config(environment: Environment) -> UserConfig:
    """Read config.toml. A missing file is an empty one. Raises ConfigError."""
    path = _file_in(config_folder(environment))
    return user_config(_content(path), path, environment)


def may_choose_machines(environment: Environment) -> bool:
    """Return whether config.toml may have a table `[execution]`, which hardly any has. Raises ConfigError."""
    content = _content(_file_in(config_folder(environment)))
    return b"execution" in content or b"\\" in content  # A quoted key may have escapes.


@once_a_step
def _content(path: Path) -> bytes:
    try:
        return read_file(path)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise ConfigError(f"failed to read config file: {os_fault(error)}") from error


def user_config(data: bytes, path: Path, environment: Environment) -> UserConfig:
    """Return the settings in config.toml at `path` with the content `data`. Raises ConfigError."""
    try:
        providers, retry, allow, after_edit = _settings(data)
        return UserConfig(providers, environment, retry, allow, after_edit)
    except (tomli.TOMLDecodeError, NotUtf8Error, _WrongValueError) as error:
        what = f"it is {error}" if isinstance(error, NotUtf8Error) else str(error)
        raise ConfigError(
            f"failed to parse config file: {path}: {what}",
            hint=f"`axe-lsp check {path}` shows the place.",
        ) from error


def known_secrets(environment: Environment) -> frozenset[str]:
    """Return every key that is known; a broken config.toml does not hide those of the environment."""
    return usable_config(environment).secrets()


def key_variables(environment: Environment) -> frozenset[str]:
    """Return the names of all variables that may hold a key, likewise."""
    secrets = {name for name in environment if is_secret_variable(name)}
    return usable_config(environment).key_variables() | secrets


def usable_config(environment: Environment) -> UserConfig:
    """Return the settings, without those of a broken config.toml."""
    try:
        return load_user_config(environment)
    except ConfigError:
        return UserConfig({}, environment)


@lru_cache(maxsize=4)
def _file_in(folder: Path) -> Path:
    """Return the path of config.toml in a folder. Cached: each turn looks it up several times."""
    return folder / "config.toml"


class _WrongValueError(ValueError):
    """A setting that can't be used; the message says which and why."""


@lru_cache(maxsize=4)
def _settings(data: bytes) -> tuple[_Providers, RetryConfig, tuple[str, ...], str]:
    """Return the content of a file. The file is read for every request, and parsed once."""
    tables = tomli.loads(decode_utf8(data))
    return (
        _providers(tables.get("providers", {})),
        _retry(tables.get("retry", {})),
        _allow(tables.get("tools", {})),
        _diagnostics_after_edit(tables.get("editor", {})),
    )


def _diagnostics_after_edit(table: object) -> str:
    """Read `[editor]`."""
    _require(table, Mapping, "editor", "a table")
    value = cast(Mapping[str, object], table).get("diagnostics_after_edit", "errors")
    _require(value, str, "editor.diagnostics_after_edit", "a string")
    _require_choice(cast(str, value), AFTER_EDIT, "editor.diagnostics_after_edit")
    return cast(str, value)


def _allow(table: object) -> tuple[str, ...]:
    """Read the rules of `[tools]`."""
    _require(table, Mapping, "tools", "a table")
    rules = cast(Mapping[str, object], table).get("allow", [])
    _require(rules, list, "tools.allow", "an array of strings")
    for rule in cast(list[object], rules):
        _require(rule, str, "tools.allow", "an array of strings")
    return tuple(cast(list[str], rules))


def _retry(table: object) -> RetryConfig:
    """Read `[retry]`. A key that is unknown has no effect, as elsewhere in the file."""
    _require(table, Mapping, "retry", "a table")
    settings: dict[str, Any] = {}
    for key, value in cast(Mapping[str, object], table).items():
        if key == "backoff":
            _require(value, str, "retry.backoff", "a string")
            _require_choice(cast(str, value), BACKOFFS, "retry.backoff")
        elif key in RetryConfig.__struct_fields__:
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise _WrongValueError(f"retry.{key} must be a whole number from 0 on")
        else:
            continue
        settings[key] = value
    return RetryConfig(**settings)


def _providers(providers: Any) -> _Providers:
    _require(providers, Mapping, "providers", "a table")
    for name, settings in providers.items():
        _require(settings, Mapping, f"providers.{name}", "a table")
        for key in _TEXT_KEYS:
            _require(settings.get(key, ""), str, f"providers.{name}.{key}", "a string")
        for key in _TABLE_KEYS:
            table = settings.get(key, {})
            _require(table, Mapping, f"providers.{name}.{key}", "a table")
            for inner, value in table.items():
                _require(value, str, f"providers.{name}.{key}.{inner}", "a string")
        _require(
            settings.get("max_concurrent", 0), int, f"providers.{name}.max_concurrent", "an integer"
        )
        for key, choices in _CHOICES.items():
            _require_choice(settings.get(key, ""), choices, f"providers.{name}.{key}")
    return _Providers(providers)


def _require_choice(value: str, choices: tuple[str, ...], where: str) -> None:
    if value and value not in choices:
        raise _WrongValueError(f"{where} must be one of {', '.join(choices)}, got {quoted(value)}")


def _require(value: object, type_: type, where: str, what: str) -> None:
    if not isinstance(value, type_):
        raise _WrongValueError(f"{where} is not {what}")
