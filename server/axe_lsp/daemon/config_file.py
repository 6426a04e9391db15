"""Changing the user's config.toml: what it says besides stays as it is written. Blocks.

A key that is put there appears in no error, and nobody but the user may read the file afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.text import splices
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.splices import Splice, spliced
from axe_lsp.agentfile.text.values import content_range
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, config_folder
from axe_lsp.runtime.files.regular_files import read_file, write_whole_file

_ONLY_THE_USER = 0o600


def put_key(environment: Environment, provider: str, key: str, *, replaces: bool = False) -> Path:
    """Make `key` the one of a provider; gives the file. Raises ConfigError, also for another key unless it `replaces` that.

    An empty key makes a place for one.
    """
    path = config_folder(environment) / "config.toml"
    text = with_key(_read(path), path, provider, key, replaces=replaces)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole_file(path, text.encode(), mode=_ONLY_THE_USER)
    except OSError as error:
        raise ConfigError(f"{path} can't be written: {error.strerror}") from error
    return path


def with_key(text: str, path: Path, provider: str, key: str, *, replaces: bool = False) -> str:
    """Return the text of the file with the key in it. Raises ConfigError."""
    change = key_change(text, path, provider, key, replaces=replaces)
    return spliced(text, [change]) if change is not None else text


def key_change(
    text: str, path: Path, provider: str, key: str, *, replaces: bool = False
) -> Splice | None:
    """Return the change that adds the key to the file's text; None if it is there. Raises ConfigError."""
    lookup = Lookup(Parse(text))
    values = lookup.parse.values
    if values is None:
        raise ConfigError(f"{path} is not TOML; fix it first")
    present = _setting(values, provider)
    if present == key:
        return None
    if present and not str(present).isspace() and not replaces:
        raise ConfigError(f"{path} has another key of {provider} already; remove one of them first")
    splice = _splice(lookup, provider, key)
    after = spliced(text, [splice]) if splice is not None else text
    if _setting(Parse(after).values or {}, provider) != key:
        raise ConfigError(
            f"{path} has its settings of {provider} in a form that can't be changed automatically; write the "
            f"key there as providers.{provider}.api_key"
        )
    return splice


def key_place(text: str, provider: str) -> TextRange | None:
    """Return where the provider's key stands in the text of the file, or would stand, between its quotes."""
    value = Lookup(Parse(text)).value(("providers", provider, "api_key"))
    return content_range(text, value) if value is not None else None


def _read(path: Path) -> str:
    try:
        return read_file(path).decode()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8; fix it first") from None


def _setting(values: Mapping[str, Any], provider: str) -> Any:
    """Return the key that is set, or something that is nothing."""
    settings: Any = values
    for name in ("providers", provider, "api_key"):
        settings = settings.get(name) if isinstance(settings, Mapping) else None
    return settings


def _splice(lookup: Lookup, provider: str, key: str) -> Splice | None:
    """Return the key in place of a blank one, else as a further line of the provider's table."""
    table = ("providers", provider)
    blank = lookup.value((*table, "api_key"))
    if blank is not None:
        return Splice(blank.range, splices.literal(key))
    return splices.with_line(lookup.parse, table, f"api_key = {splices.literal(key)}")
