"""API keys in a text, by the way they are written. What is found is never repeated anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from axe_lsp.agentfile.text.ranges import TextRange


class Secret(NamedTuple):
    """Where a key stands, whose it seems to be, and the variable in which it belongs, if any."""

    range: TextRange
    owner: str
    variable: str = ""

    def moved(self, by: int) -> Secret:
        """Return the same, found in a text that begins so much earlier."""
        return self._replace(range=TextRange(self.range.start + by, self.range.end + by))


class _Kind(NamedTuple):
    """Keys that begin with `start` and go on like `rest`, a pattern that is compiled when one begins so."""

    start: str
    rest: str
    owner: str
    variable: str = ""


# More special ones first: what they have found is not looked at again.
_KINDS = (
    _Kind("sk-ant-", r"[\w-]{32,}", "Anthropic", "ANTHROPIC_API_KEY"),
    _Kind("sk-or-", r"(?:v1-)?[0-9a-f]{32,}", "OpenRouter", "OPENROUTER_API_KEY"),
    _Kind("sk-proj-", r"[\w-]{32,}", "OpenAI", "OPENAI_API_KEY"),
    _Kind("sk-svcacct-", r"[\w-]{32,}", "OpenAI", "OPENAI_API_KEY"),
    _Kind("sk-admin-", r"[\w-]{32,}", "OpenAI", "OPENAI_API_KEY"),
    _Kind("sk-", r"[A-Za-z0-9]{32,}", "OpenAI", "OPENAI_API_KEY"),
    _Kind("AIza", r"[\w-]{35}", "Google", "GEMINI_API_KEY"),
    _Kind("tvly-", r"(?:dev-|prod-)?[A-Za-z0-9]{24,}", "Tavily", "TAVILY_API_KEY"),
    _Kind("gsk_", r"[A-Za-z0-9]{40,}", "Groq"),
    _Kind("xai-", r"[A-Za-z0-9]{60,}", "xAI"),
    _Kind("hf_", r"[A-Za-z0-9]{30,}", "Hugging Face"),
    _Kind("pplx-", r"[A-Za-z0-9]{40,}", "Perplexity"),
    _Kind("r8_", r"[A-Za-z0-9]{36,}", "Replicate"),
    _Kind("ghp_", r"[A-Za-z0-9]{36,}", "GitHub"),
    _Kind("gho_", r"[A-Za-z0-9]{36,}", "GitHub"),
    _Kind("ghs_", r"[A-Za-z0-9]{36,}", "GitHub"),
    _Kind("github_pat_", r"\w{60,}", "GitHub"),
    _Kind("glpat-", r"[\w-]{20,}", "GitLab"),
    _Kind("xoxb-", r"[A-Za-z0-9-]{24,}", "Slack"),
    _Kind("xoxp-", r"[A-Za-z0-9-]{24,}", "Slack"),
    _Kind("AKIA", r"[A-Z0-9]{16}", "AWS"),
)

_SHORTEST = 20
"""Characters of the shortest key, beginning included."""

_LONG_WORD = b"w" * _SHORTEST
_WORDS = bytes(
    ord("w") if each > 127 or chr(each).isalnum() or each in b"_-" else 0 for each in range(256)
)
"""For `bytes.translate`: what may be part of a key becomes one and the same letter."""

_PART_OF_A_WORD = re.compile(r"[A-Za-z0-9_-]")
_PLACEHOLDER = re.compile(r"x{4}|\.{3}|your|example|placeholder|123456", re.IGNORECASE)
_MIN_VARIETY = 10
"""Different characters that a random text of such a length has at the least."""


def find_secrets(text: str) -> Iterator[Secret]:
    """Yield a text that looks like an API key, except placeholders."""
    if not _may_hold_secrets(text):
        return
    taken = bytearray(len(text) + 1)
    """Which places lie in a secret, or right behind it."""
    for kind in _KINDS:
        # To look for the beginning first is many times faster than the expression alone.
        start = text.find(kind.start)
        while start >= 0:
            where = _secret_at(kind, text, start)
            if where is not None and not taken[start]:
                taken[start : where.end + 1] = b"\1" * (where.end + 1 - start)
                yield Secret(where, kind.owner, kind.variable)
            start = text.find(kind.start, start + 1)


def without_secrets(text: str) -> str:
    """Return the text with each secret blotted out, at the same length."""
    for secret in find_secrets(text):
        start, end = secret.range
        text = f"{text[:start]}{'•' * (end - start)}{text[end:]}"
    return text


def _may_hold_secrets(text: str) -> bool:
    """Return whether a word is long enough, which in most texts none is. Takes a quarter of the time that a look for each kind takes."""
    return _LONG_WORD in text.encode("utf-8", "surrogatepass").translate(_WORDS)


def _secret_at(kind: _Kind, text: str, start: int) -> TextRange | None:
    if start > 0 and _PART_OF_A_WORD.match(text, start - 1):
        return None
    rest = re.compile(kind.rest).match(text, start + len(kind.start))
    return TextRange(start, rest.end()) if rest is not None and _is_random(rest.group()) else None


def _is_random(text: str) -> bool:
    """Return whether a text looks random: words and examples lack digits, letters or variety."""
    return (
        len(set(text)) >= _MIN_VARIETY
        and any(character.isdigit() for character in text)
        and any(character.isalpha() for character in text)
        and not _PLACEHOLDER.search(text)
    )
