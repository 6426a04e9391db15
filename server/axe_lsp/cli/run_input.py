"""`--input` of `axe-lsp run`: a JSON object, or a file that holds one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.messages import Json
from axe_lsp.runtime.plain_text import decode, shown_path
from axe_lsp.runtime.providers.wire import WireError, parse_json


def read_input(argument: str) -> Mapping[str, Json]:
    """The object that an argument means: `@` stands before a file. Raises ConfigError."""
    where, text = "--input", argument
    if argument.startswith("@"):
        path = Path(argument[1:])
        where = f"--input @{shown_path(path)}"
        try:
            text = decode(path.read_bytes())
        except FileNotFoundError:
            message = f"{where}: there is no such file; @ marks a file name"
            raise ConfigError(message) from None
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path.
            raise ConfigError(f"{where}: {getattr(error, 'strerror', None) or error}") from error
    try:
        value = parse_json(text)
    except WireError as error:
        raise ConfigError(f"{where}: {error}") from error
    if not isinstance(value, dict):
        raise ConfigError(f'{where}: it is not a JSON object, such as {{"path": "src"}}')
    return value
