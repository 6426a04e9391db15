"""The estimated number of tokens of a text."""

from __future__ import annotations

_CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for English prose; good enough for “will it fit?”, not for a bill."""


def estimated_tokens(characters: int) -> int:
    """The tokens of a text with so many characters."""
    return characters // _CHARACTERS_PER_TOKEN
