"""The values of a TOML text, as tomli reads them, without the places where they are written: a run needs no more."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import tomli


def values_of(text: str) -> Mapping[str, Any] | None:
    """The values of a text; None if it is not TOML."""
    return judge(text)[0]


def judge(text: str) -> tuple[Mapping[str, Any] | None, tomli.TOMLDecodeError | None]:
    """The values of a text, or why it is not TOML."""
    try:
        return tomli.loads(text.removeprefix("\ufeff")), None
    except tomli.TOMLDecodeError as error:
        return None, error
    except RecursionError:
        return None, tomli.TOMLDecodeError("Values are nested too deep", text, 0)
    except ValueError as error:  # Python refuses integers of thousands of digits.
        return None, tomli.TOMLDecodeError(str(error), text, _place_of_digits(text))


_MANY_DIGITS = r"(?<=[=\[,\s+-])[0-9](?:_?[0-9]){4299,}"


def _place_of_digits(text: str) -> int:
    """Where the first integer begins that Python refuses, counted as tomli counts."""
    match = re.search(_MANY_DIGITS, text.removeprefix("\ufeff").replace("\r\n", "\n"))
    return match.start() if match is not None else 0
