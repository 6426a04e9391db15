"""API keys in a text, by the way they are written. What is found is never repeated anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from axe_lsp.agentfile.text import TextRange


class Secret(NamedTuple):
    """Where a key stands, whose it seems to be, and the variable in which it belongs, if any."""

    range: TextRange
    owner: str
    variable: str = ""

    def moved(self, by: int) -> Secret:
        """The same, found in a text that begins so much earlier."""
        return self._replace(range=TextRange(self.range.start + by, self.range.end + by))


class _Kind(NamedTuple):
    """Keys that begin with `start` and look like `pattern`."""

    start: str
    pattern: re.Pattern[str]
    owner: str
    variable: str = ""


def _kind(start: str, rest: str, owner: str, variable: str = "") -> _Kind:
    return _Kind(start, re.compile(re.escape(start) + rest), owner, variable)


# More special ones first: what they have found is not looked at again.
_KINDS = (
    _kind("sk-ant-", r"[\w-]{32,}", "Anthropic", "ANTHROPIC_API_KEY"),
    _kind("sk-or-", r"(?:v1-)?[0-9a-f]{32,}", "OpenRouter", "OPENROUTER_API_KEY"),
    _kind("sk-proj-", r"[\w-]{32,}", "OpenAI", "OPENAI_API_KEY"),
    _kind("sk-svcacct-", r"[\w-]{32,}", "OpenAI", "OPENAI_API_KEY"),
    _kind("sk-admin-", r"[\w-]{32,}", "OpenAI", "OPENAI_API_KEY"),
    _kind("sk-", r"[A-Za-z0-9]{32,}", "OpenAI", "OPENAI_API_KEY"),
    _kind("AIza", r"[\w-]{35}", "Google", "GEMINI_API_KEY"),
    _kind("tvly-", r"(?:dev-|prod-)?[A-Za-z0-9]{24,}", "Tavily", "TAVILY_API_KEY"),
    _kind("gsk_", r"[A-Za-z0-9]{40,}", "Groq"),
    _kind("xai-", r"[A-Za-z0-9]{60,}", "xAI"),
    _kind("hf_", r"[A-Za-z0-9]{30,}", "Hugging Face"),
    _kind("pplx-", r"[A-Za-z0-9]{40,}", "Perplexity"),
    _kind("r8_", r"[A-Za-z0-9]{36,}", "Replicate"),
    _kind("ghp_", r"[A-Za-z0-9]{36,}", "GitHub"),
    _kind("gho_", r"[A-Za-z0-9]{36,}", "GitHub"),
    _kind("ghs_", r"[A-Za-z0-9]{36,}", "GitHub"),
    _kind("github_pat_", r"\w{60,}", "GitHub"),
    _kind("glpat-", r"[\w-]{20,}", "GitLab"),
    _kind("xoxb-", r"[A-Za-z0-9-]{24,}", "Slack"),
    _kind("xoxp-", r"[A-Za-z0-9-]{24,}", "Slack"),
    _kind("AKIA", r"[A-Z0-9]{16}", "AWS"),
)

_PART_OF_A_WORD = re.compile(r"[A-Za-z0-9_-]")
_PLACEHOLDER = re.compile(r"x{4}|\.{3}|your|example|placeholder|123456", re.IGNORECASE)
_MIN_VARIETY = 10
"""Different characters that a random text of such a length has at the least."""


def find_secrets(text: str) -> Iterator[Secret]:
    """What looks like an API key. A placeholder in its form does not."""
    taken: list[TextRange] = []
    for kind in _KINDS:
        # To look for the beginning first is many times faster than the expression alone.
        start = text.find(kind.start)
        while start >= 0:
            where = _secret_at(kind, text, start)
            if where is not None and not any(each.touches(start) for each in taken):
                taken.append(where)
                yield Secret(where, kind.owner, kind.variable)
            start = text.find(kind.start, start + 1)


def without_secrets(text: str) -> str:
    """The text with each secret blotted out, at the same length."""
    for secret in find_secrets(text):
        start, end = secret.range
        text = f"{text[:start]}{'•' * (end - start)}{text[end:]}"
    return text


def _secret_at(kind: _Kind, text: str, start: int) -> TextRange | None:
    if start > 0 and _PART_OF_A_WORD.match(text, start - 1):
        return None
    match = kind.pattern.match(text, start)
    if match is None or not _is_random(match.group().removeprefix(kind.start)):
        return None
    return TextRange(*match.span())


def _is_random(text: str) -> bool:
    """Whether nobody would make the text up: words and examples lack digits, letters or variety."""
    return (
        len(set(text)) >= _MIN_VARIETY
        and any(character.isdigit() for character in text)
        and any(character.isalpha() for character in text)
        and not _PLACEHOLDER.search(text)
    )
