"""The values of keys that hold an API key, whether or not they look like one.

Nothing of it may be shown: in no message, no outline and no output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.schema.key_spec import Schema
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.secrets import without_secrets

_BLOT = "•"
_SHORTEST = 4
"""Characters of a word that gives something away."""

_VISIBLE = re.compile(r"[^\s\"']")
_QUOTED = re.compile(r"`([^`]+)`")


def printable(text: str, schema: Schema) -> str:
    """Return a text of a file that no editor has open, with each character masked that may belong to a key."""
    line = _line_with_secret(schema)
    if line is None or ("\\" not in text and line.search(text) is None):
        return without_secrets(
            text
        )  # No such key is there, not even one that is written with escapes.
    return without_secret_values(Lookup(Parse(text), schema))


def without_secret_values(lookup: Lookup) -> str:
    """Return the same of an open file."""
    text = lookup.parse.text
    pieces, end = [], 0
    for where in sorted(_secrets(lookup)):
        start = max(where.start, end)
        pieces += [text[end:start], _VISIBLE.sub(_BLOT, text[start : max(where.end, start)])]
        end = max(where.end, start)
    return without_secrets("".join([*pieces, text[end:]]))


def discreet(lookup: Lookup, messages: Sequence[str]) -> list[str]:
    """Return messages in which quotes of API keys are blotted out."""
    said = " ".join(where.of(lookup.parse.text) for where in _secrets(lookup)) if messages else ""

    def hidden(quote: re.Match[str]) -> str:
        word = quote[1]
        return f"`{_BLOT * 3}`" if len(word) >= _SHORTEST and word in said else quote[0]

    return [_QUOTED.sub(hidden, each) if said else each for each in messages]


def plain_secrets(lookup: Lookup) -> Iterator[Problem]:
    """Yield the texts that look like an API key."""
    for where, owner, variable in lookup.secrets:
        place = f"${variable} or config.toml" if variable else "the environment"
        message = f"this looks like a key of {owner}, readable by everyone who gets the file; it belongs in {place}"
        yield Problem("plain-secret", where, message, (), order=0, fatal=False)


def _secrets(lookup: Lookup) -> Iterator[TextRange]:
    """Yield the values, and the rest of each line that names such a key: the file may be half-typed."""
    names, line = _secret_names(lookup.schema), _line_with_secret(lookup.schema)
    if line is None:
        return
    for item in lookup.located:
        if item.path and item.path[-1] in names and item.entry.value is not None:
            yield item.entry.value.range
    for match in line.finditer(lookup.parse.text):
        yield TextRange(*match.span(1))


@cache
def _secret_names(schema: Schema) -> frozenset[str]:
    return frozenset(key.path[-1] for key in schema.keys if key.is_secret)


@cache
def _line_with_secret(schema: Schema) -> re.Pattern[str] | None:
    """Return the pattern of the rest of a line that names such a key; None if there is no such key."""
    names = sorted(_secret_names(schema))
    pattern = rf"\b(?:{'|'.join(names)})\b[\"']?[ \t]*[=:]?[ \t]*([^\r\n]*)"
    return re.compile(pattern) if names else None
