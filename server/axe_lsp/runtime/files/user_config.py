"""The user's own settings for providers: config.toml and the environment, which wins.

They are read at the moment of use and kept for no longer than that (`steps.py`): a key that the user
changes is in force for the next request. A workspace has no say here, so it can't send a key elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import tomli
from msgspec import Struct

from axe_lsp.agentfile.text import quoted
from axe_lsp.runtime.errors import ConfigError, MissingKeyError
from axe_lsp.runtime.files.folders import Environment, config_folder
from axe_lsp.runtime.files.reading import refuse_pipe
from axe_lsp.runtime.plain_text import os_fault

KEY_VARIABLES = {"google": "GEMINI_API_KEY"}
"""Providers whose key is not in `<PROVIDER>_API_KEY`."""

KEYLESS_PROVIDERS = ("ollama",)

_SECRETS = ("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
"""How variables end that hold a secret, of a provider or of an MCP server."""

_TEXT_KEYS = ("api_key", "base_url", "region", "referer", "title", "categories")


class UserConfig(Struct, frozen=True):
    """What the user has set, per provider."""

    providers: Mapping[str, Mapping[str, Any]]
    environment: Environment

    def api_key(self, provider: str) -> str:
        """The key, or ""."""
        return self._value(key_variable(provider), provider, "api_key")

    def key_origin(self, provider: str) -> str:
        """Where the key comes from: a variable, config.toml, or "" for nowhere."""
        return self._origin(key_variable(provider), provider, "api_key")

    def base_url(self, provider: str) -> str:
        """Where the provider is, or "" for its usual place."""
        return self._value(_address_variable(provider), provider, "base_url")

    def base_url_origin(self, provider: str) -> str:
        """Where the address comes from: a variable, config.toml, or "" for the usual one."""
        return self._origin(_address_variable(provider), provider, "base_url")

    def require_key(self, provider: str) -> str:
        """The key. Raises MissingKeyError if the provider needs one and there is none."""
        key = self.api_key(provider)
        if not key and provider not in KEYLESS_PROVIDERS:
            raise MissingKeyError(
                f"API key for provider {quoted(provider)} is not configured "
                f"(set {key_variable(provider)} or add to config.toml)"
            )
        return key

    def secrets(self) -> frozenset[str]:
        """Every key in the configuration, and all that the environment calls a secret."""
        configured = {self._setting(name, "api_key") for name in self.providers}
        set_outside = {value for name, value in self.environment.items() if name.endswith(_SECRETS)}
        return frozenset(key.strip() for key in configured | set_outside if key.strip())

    def _value(self, variable: str, provider: str, key: str) -> str:
        """From outside or from the file. White space around it, as some editors leave it, is no part."""
        return (self.environment.get(variable) or self._setting(provider, key)).strip()

    def _origin(self, variable: str, provider: str, key: str) -> str:
        if not self._value(variable, provider, key):
            return ""
        return f"${variable}" if self.environment.get(variable) else "config.toml"

    def _setting(self, provider: str, key: str) -> str:
        return str(self.providers.get(provider, {}).get(key, ""))


def key_variable(provider: str) -> str:
    """The environment variable that holds the provider's key."""
    return KEY_VARIABLES.get(provider, f"{provider.upper()}_API_KEY")


def _address_variable(provider: str) -> str:
    return f"AXE_{provider.upper()}_BASE_URL"


def load_user_config(environment: Environment) -> UserConfig:
    """Read config.toml. A missing file is an empty one. Raises ConfigError."""
    path = _file_in(config_folder(environment))
    try:
        refuse_pipe(path)
        with open(path, "rb") as file:  # noqa: PTH123 - several times a turn
            data = file.read()
    except FileNotFoundError:
        data = b""
    except OSError as error:
        raise ConfigError(f"failed to read config file: {os_fault(error)}") from error
    return user_config(data, path, environment)


def user_config(data: bytes, path: Path, environment: Environment) -> UserConfig:
    """What config.toml, at `path`, says when it holds `data`. Raises ConfigError."""
    try:
        return UserConfig(_providers(data), environment)
    except (tomli.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"failed to parse config file: {path}: {error}") from error


def known_secrets(environment: Environment) -> frozenset[str]:
    """Every key that is known; a broken config.toml does not hide those of the environment."""
    try:
        return load_user_config(environment).secrets()
    except ConfigError:
        return UserConfig({}, environment).secrets()


@lru_cache(maxsize=4)
def _file_in(folder: Path) -> Path:
    """Made once: it is looked up several times a turn."""
    return folder / "config.toml"


@lru_cache(maxsize=4)
def _providers(data: bytes) -> Mapping[str, Mapping[str, Any]]:
    """What a file holds. The file is read for every request, and understood once."""
    providers = tomli.loads(data.decode("utf-8-sig")).get("providers", {})
    _require(providers, Mapping, "providers", "a table")
    for name, settings in providers.items():
        _require(settings, Mapping, f"providers.{name}", "a table")
        for key in _TEXT_KEYS:
            _require(settings.get(key, ""), str, f"providers.{name}.{key}", "a string")
    return dict(providers)


def _require(value: object, type_: type, where: str, what: str) -> None:
    if not isinstance(value, type_):
        raise ConfigError(f"failed to parse config file: {where} is not {what}")
