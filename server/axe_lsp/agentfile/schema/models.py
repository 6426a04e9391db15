"""Models that can be named in `model`, and what their providers say about them.

The figures are offered in completion and shown on hover. Nothing is refused because it is not
listed: new models appear every month, and `docs/models.md`, which is generated from this table, says
how to bring it up to date. Models that run on the user's own machine are not listed here; Ollama is
asked for those.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from msgspec import Struct

from axe_lsp.agentfile.text.nearest import KEPT

READ_ON = "2026-11-25"
"""The day on which the providers' pages were read."""

SOURCES = {
    "anthropic": "https://platform.claude.com/docs/en/models/overview",
    "openai": "https://developers.openai.com/api/docs/models",
    "google": "https://ai.google.dev/gemini-api/docs/pricing",
}
"""The page of each provider that the figures are from."""

ENDING_SOURCES = {
    "anthropic": "https://platform.claude.com/docs/en/about-claude/model-deprecations",
    "openai": "https://developers.openai.com/api/docs/deprecations",
    "google": "https://ai.google.dev/gemini-api/docs/deprecations",
}
"""The page of each provider that says when models end."""


class Model(Struct, frozen=True):
    """A model. Prices are US dollars for a million tokens.

    They hold for prompts of up to `dearer_above` tokens, where a model has such a limit. With a longer
    one, all input of the request costs `dearer_input` times as much, with what is in the cache, and its
    output `dearer_output` times. Input that comes out of the provider's cache costs `cached_price`,
    input that is put into it (for some minutes) `written_price`. `doubles` is the day from which all
    prices are twice as high.
    """

    provider: str
    name: str
    context: int
    max_output: int
    input_price: float
    output_price: float
    cached_price: float
    written_price: float
    dearer_above: int = 0
    dearer_input: float = 2
    dearer_output: float = 1.5
    doubles: str = ""

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}"

    @property
    def ends(self) -> str:
        """The day on which the provider switches the model off, "" if it has announced none."""
        ending = ending_of(str(self))
        return ending.day if ending is not None else ""


class Ending(Struct, frozen=True):
    """The end of a model: its day, and the model that the provider names in its place, if it names one."""

    day: str
    successor: str = ""

    @property
    def is_past(self) -> bool:
        """Whether the day had come when the table was made."""
        return self.day <= READ_ON


class LocalModel(Struct, frozen=True):
    """A model that is installed on a machine of the user's. `size` is in bytes, 0 if unknown."""

    name: str
    parameters: str = ""
    size: int = 0


_K, _M = 1_000, 1_000_000

MODELS: tuple[Model, ...] = (
    Model("anthropic", "claude-fable-5-2", _M, 128 * _K, 8, 40, 0.2, 10),
    Model(
        *("anthropic", "claude-haiku-5-5", _M, 128 * _K, 0.1, 0.5, 0.01, 0.125),
        dearer_above=100 * _K,
        dearer_input=5,
        dearer_output=5,
    ),
    Model("anthropic", "claude-sonnet-5-5", _M, 128 * _K, 2, 10, 0.1, 2.5),
    Model("anthropic", "claude-opus-5-5", _M, 128 * _K, 4, 20, 0.2, 5),
    Model("anthropic", "claude-fable-5-1", _M, 128 * _K, 10, 50, 0.25, 12.5),
    Model("anthropic", "claude-opus-5", _M, 128 * _K, 5, 25, 0.5, 6.25),
    Model("anthropic", "claude-sonnet-5", _M, 128 * _K, 2, 10, 0.2, 2.5),
    Model("anthropic", "claude-fable-5", _M, 128 * _K, 10, 50, 1, 12.5),
    Model("anthropic", "claude-haiku-4-5", 200 * _K, 64 * _K, 1, 5, 0.1, 1.25),
    Model("openai", "gpt-6.2-astra", 1_050 * _K, 128 * _K, 8, 40, 0.4, 10, dearer_above=272 * _K),
    Model("openai", "gpt-6.2-sol", 1_050 * _K, 128 * _K, 2, 10, 0.1, 2.5, dearer_above=272 * _K),
    Model("openai", "gpt-6.1-terra", 1_050 * _K, 128 * _K, 1, 5, 0.05, 1.25, dearer_above=272 * _K),
    Model("openai", "gpt-6.1-sol", 1_050 * _K, 128 * _K, 2, 10, 0.1, 2.5, dearer_above=272 * _K),
    Model("openai", "gpt-6-sol", 1_050 * _K, 128 * _K, 2, 10, 0.2, 2.5, dearer_above=272 * _K),
    Model(
        "openai", "gpt-6-luna", 1_050 * _K, 128 * _K, 0.1, 0.5, 0.01, 0.125, dearer_above=272 * _K
    ),
    Model("openai", "gpt-6-astra", 1_050 * _K, 128 * _K, 10, 50, 1, 12.5, dearer_above=272 * _K),
    # Its page calls these prices those of an offer until at least 2026-11-21.
    Model("openai", "gpt-5.6-sol", 1_050 * _K, 128 * _K, 4, 20, 0.4, 5, dearer_above=272 * _K),
    Model("openai", "gpt-5.6-terra", 1_050 * _K, 128 * _K, 2, 12, 0.2, 2.5, dearer_above=272 * _K),
    Model(
        "openai", "gpt-5.6-luna", 1_050 * _K, 128 * _K, 0.2, 1.2, 0.02, 0.25, dearer_above=272 * _K
    ),
    Model("openai", "gpt-5.4", 1_050 * _K, 128 * _K, 2.5, 15, 0.25, 2.5, dearer_above=272 * _K),
    Model("openai", "gpt-5.4-mini", 400 * _K, 128 * _K, 0.75, 4.5, 0.075, 0.75),
    Model("openai", "gpt-5.4-nano", 400 * _K, 128 * _K, 0.2, 1.25, 0.02, 0.2),
    Model("openai", "gpt-5", 400 * _K, 128 * _K, 1.25, 10, 0.125, 1.25),
    Model("openai", "gpt-5-mini", 400 * _K, 128 * _K, 0.25, 2, 0.025, 0.25),
    Model("openai", "gpt-5-nano", 400 * _K, 128 * _K, 0.05, 0.4, 0.005, 0.05),
    Model("openai", "gpt-4o", 128 * _K, 16_384, 2.5, 10, 1.25, 2.5),
    # Input and output share the window. The cache is implicit, and what goes into it costs as usual.
    Model("google", "gemini-4-neon", 2**20, 2**16, 3, 15, 0.15, 3),
    Model("google", "gemini-4-hydrogen", 2**20, 2**16, 1.5, 7.5, 0.075, 1.5),
    Model("google", "gemini-4-carbon", 2**20, 2**16, 2, 10, 0.1, 2, doubles="2026-12-01"),
    Model("google", "gemini-4-argon", 2**20, 2**16, 2, 10, 0.1, 2, doubles="2026-12-01"),
    Model(
        *("google", "gemini-3.8-flash", 2**20, 2**16, 0.75, 3.75, 0.075, 0.75), doubles="2027-01-01"
    ),
)
"""The models by provider, the newest first."""


_ENDINGS = {
    "anthropic": """
        2025-07-21  claude-sonnet-4-6  claude-3-sonnet
        2025-10-28  claude-sonnet-4-6  claude-3-5-sonnet
        2026-01-05  claude-opus-4-8    claude-3-opus
        2026-02-19  claude-haiku-4-5   claude-3-5-haiku
        2026-02-19  claude-sonnet-4-6  claude-3-7-sonnet
        2026-04-20  claude-haiku-4-5   claude-3-haiku
        2026-06-15  claude-opus-4-8    claude-opus-4 claude-opus-4-0
        2026-06-15  claude-sonnet-4-6  claude-sonnet-4 claude-sonnet-4-0
        2026-08-05  claude-opus-4-8    claude-opus-4-1
        2026-11-30  claude-sonnet-5-5  claude-sonnet-4-5
    """,
    "openai": """
        2026-07-23  gpt-5.6-sol    gpt-5-chat-latest gpt-5.1-chat-latest gpt-5-codex
        2026-07-23  gpt-5.6-sol    o3-deep-research o4-mini-deep-research
        2026-07-23  gpt-5.6-terra  gpt-5.1-codex-mini computer-use-preview
        2026-07-23  -              gpt-5.1-codex gpt-5.1-codex-max gpt-5.2-codex
        2026-08-10  gpt-5.6-sol    gpt-5.2-chat-latest gpt-5.3-chat-latest
        2026-10-23  gpt-5.6-luna   gpt-4.1-nano
        2026-10-23  gpt-5.6-sol    gpt-4 gpt-4-0613 gpt-4-1106-preview gpt-4-turbo
        2026-10-23  gpt-5.6-sol    gpt-4o-2024-05-13 o1 o1-pro o3-mini
        2026-10-23  gpt-5.6-terra  gpt-3.5-turbo gpt-3.5-turbo-0125 o4-mini
        2026-12-11  gpt-6-luna     gpt-5-nano
        2026-12-11  gpt-6.1-sol    gpt-5 gpt-5-pro o3 o3-pro
        2026-12-11  gpt-6.1-terra  gpt-5-mini
        2027-01-14  gpt-6-luna     gpt-4o gpt-4o-mini gpt-4.1 gpt-4.1-mini
        2027-02-01  -              gpt-5.5-cyber-preview
        2027-04-01  -              gpt-5.1 gpt-5.3-codex gpt-5.4-nano
    """,
    "google": """
        2026-03-09  gemini-3.1-pro-preview  gemini-3-pro-preview
        2026-06-01  gemini-3.1-flash-lite   gemini-2.0-flash-lite gemini-2.0-flash-lite-001
        2026-06-01  gemini-3.6-flash        gemini-2.0-flash gemini-2.0-flash-001
        2026-10-08  gemini-3.6-flash        gemini-3.5-flash
        2026-10-08  gemini-3.8-flash        gemini-3.7-flash
        2026-12-01  gemini-3.5-flash-lite   gemini-2.5-flash
        2026-12-01  gemini-3.8-flash        gemini-2.5-pro
    """,
}
"""Models that their providers have switched off or will: the day, the model in their place, their names.

Those of Google on and after 2026-10-08 are answered by that model. The days are those of the
providers' own services. A name with a date at its end ends with the name without it, if it is not
listed itself.
"""

_DATED = r"-(\d{8}|\d{4}-\d\d-\d\d)$"


def ending_of(text: str) -> Ending | None:
    """Return the announced end of the model that an agent file names; None if none is known."""
    endings = _endings()
    return endings.get(text) or endings.get(re.sub(_DATED, "", text))


@cache
def _endings() -> dict[str, Ending]:
    return {
        f"{provider}/{name}": Ending(day, "" if successor == "-" else f"{provider}/{successor}")
        for provider, rows in _ENDINGS.items()
        for day, successor, *names in map(str.split, rows.strip().splitlines())
        for name in names
    }


def known_model(text: str) -> Model | None:
    """Return the row of the model that an agent file names."""
    return _by_name().get(text)


_OTHER_THAN_LETTERS, _OTHER_THAN_DIGITS = "[^a-z]", r"\D"

_ALIKE = 0.87
"""The ratio of `difflib` from which on letters are those of another model, with a slip or two."""


@lru_cache(maxsize=KEPT)
def nearly_named(text: str) -> Model | None:
    """Return the model that was probably meant by a name that differs from its own by a slip.

    Other digits are another version, which may be newer than this table, so they are no slip.
    """
    from difflib import get_close_matches

    provider, _, name = text.lower().partition("/")
    if known_model(text) is not None:
        return None
    digits = re.sub(_OTHER_THAN_DIGITS, "", name)
    alike = {
        re.sub(_OTHER_THAN_LETTERS, "", model.name): model
        for model in MODELS
        if model.provider == provider and re.sub(_OTHER_THAN_DIGITS, "", model.name) == digits
    }
    found = get_close_matches(re.sub(_OTHER_THAN_LETTERS, "", name), alike, n=1, cutoff=_ALIKE)
    return alike[found[0]] if found else None


@cache
def _by_name() -> dict[str, Model]:
    return {str(model): model for model in MODELS}


_TEXT_ONLY = (
    *(("gpt-3.5-", ".*"), ("gpt-4", r"(-0\d{3}|-32k.*)?"), ("gpt-oss", ".*")),
    *(("o1-", "(mini|preview).*"), ("o3-mini", ".*")),
    ("deepseek-", "(chat|reasoner|coder|r1|v[23]).*"),
    *((name, ".*") for name in ("codellama", "codestral", "mixtral")),
    *((name, r"-?3(\.[13])?(-\d+b.*)?") for name in ("llama", "meta-llama")),
    *(("qwen", r"(2\.5|3)(-coder)?"), ("phi", "[34]"), ("gemma", "2?")),
)
"""Models whose makers say that they read text only, by how their names begin at any provider, and a pattern of the
rest, without a tag."""


def takes_pictures(model: str) -> bool:
    """Return False for a model that is known to take none, for which a name such as `llama3.1:8b` is enough."""
    name = model.rpartition("/")[2].partition(":")[0].lower()
    return not any(
        name.startswith(start) and re.fullmatch(rest, name[len(start) :])
        for start, rest in _TEXT_ONLY
    )


_CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for English prose; good enough for “will it fit?”, not for a bill."""


def estimated_tokens(characters: int) -> int:
    """Return the estimated number of tokens of a text with so many characters."""
    return characters // _CHARACTERS_PER_TOKEN
