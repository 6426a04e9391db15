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

READ_ON = "2026-11-21"
"""When the providers' pages were read."""

SOURCES = {
    "anthropic": "https://platform.claude.com/docs/en/models/overview",
    "openai": "https://developers.openai.com/api/docs/models",
    "google": "https://ai.google.dev/gemini-api/docs/pricing",
}
"""The page of each provider that the figures are from."""


class Model(Struct, frozen=True):
    """A model. Prices are US dollars for a million tokens.

    They hold for prompts of up to `dearer_above` tokens, where a model has such a limit. Input that
    comes out of the provider's cache costs `cached_price`, input that is put into it (for some
    minutes) `written_price`. `ends` is the day on which the provider switches the model off, if one
    has been announced, and `doubles` the day from which all its prices are twice as high.
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
    ends: str = ""
    doubles: str = ""

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}"


class LocalModel(Struct, frozen=True):
    """A model that is installed on a machine of the user's. `size` is in bytes, 0 if unknown."""

    name: str
    parameters: str = ""
    size: int = 0


_K, _M = 1_000, 1_000_000

MODELS: tuple[Model, ...] = (
    Model("anthropic", "claude-fable-5-2", _M, 128 * _K, 8, 40, 0.2, 10),
    Model(
        "anthropic", "claude-haiku-5-5", _M, 128 * _K, 0.1, 0.5, 0.01, 0.125, dearer_above=100 * _K
    ),
    Model("anthropic", "claude-sonnet-5-5", _M, 128 * _K, 2, 10, 0.1, 2.5),
    Model("anthropic", "claude-opus-5-5", _M, 128 * _K, 4, 20, 0.2, 5),
    Model("anthropic", "claude-fable-5-1", _M, 128 * _K, 10, 50, 0.25, 12.5),
    Model("anthropic", "claude-opus-5", _M, 128 * _K, 5, 25, 0.5, 6.25),
    Model("anthropic", "claude-sonnet-5", _M, 128 * _K, 2, 10, 0.2, 2.5),
    Model("anthropic", "claude-fable-5", _M, 128 * _K, 10, 50, 1, 12.5),
    Model("anthropic", "claude-haiku-4-5", 200 * _K, 64 * _K, 1, 5, 0.1, 1.25),
    Model("openai", "gpt-6.1-terra", 1_050 * _K, 128 * _K, 1, 5, 0.05, 1.25, dearer_above=272 * _K),
    Model("openai", "gpt-6.1-sol", 1_050 * _K, 128 * _K, 2, 10, 0.1, 2.5, dearer_above=272 * _K),
    Model("openai", "gpt-6-sol", 1_050 * _K, 128 * _K, 2, 10, 0.2, 2.5, dearer_above=272 * _K),
    Model(
        "openai", "gpt-6-luna", 1_050 * _K, 128 * _K, 0.1, 0.5, 0.01, 0.125, dearer_above=272 * _K
    ),
    Model("openai", "gpt-6-astra", 1_050 * _K, 128 * _K, 10, 50, 1, 12.5, dearer_above=272 * _K),
    Model("openai", "gpt-5.6-terra", 1_050 * _K, 128 * _K, 2, 12, 0.2, 2.5, dearer_above=272 * _K),
    Model(
        "openai", "gpt-5.6-luna", 1_050 * _K, 128 * _K, 0.2, 1.2, 0.02, 0.25, dearer_above=272 * _K
    ),
    Model("openai", "gpt-5.4", 1_050 * _K, 128 * _K, 2.5, 15, 0.25, 2.5, dearer_above=272 * _K),
    Model("openai", "gpt-5.4-mini", 400 * _K, 128 * _K, 0.75, 4.5, 0.075, 0.75),
    Model("openai", "gpt-5.4-nano", 400 * _K, 128 * _K, 0.2, 1.25, 0.02, 0.2),
    Model("openai", "gpt-5", 400 * _K, 128 * _K, 1.25, 10, 0.125, 1.25, ends="2026-12-11"),
    Model("openai", "gpt-5-mini", 400 * _K, 128 * _K, 0.25, 2, 0.025, 0.25, ends="2026-12-11"),
    Model("openai", "gpt-5-nano", 400 * _K, 128 * _K, 0.05, 0.4, 0.005, 0.05, ends="2026-12-11"),
    Model("openai", "gpt-4o", 128 * _K, 16_384, 2.5, 10, 1.25, 2.5, ends="2027-01-14"),
    # Input and output share the window. The cache is implicit, and what goes into it costs as usual.
    Model("google", "gemini-4-carbon", 2**20, 2**16, 2, 10, 0.1, 2, doubles="2026-12-01"),
    Model("google", "gemini-4-argon", 2**20, 2**16, 2, 10, 0.1, 2, doubles="2026-12-01"),
)
"""By provider, the newest first."""


def known_model(text: str) -> Model | None:
    """The row of the model that an agent file names."""
    return _by_name().get(text)


_LETTERS, _DIGITS = re.compile(r"[^a-z]"), re.compile(r"\D")

_ALIKE = 0.87
"""The ratio of `difflib` from which on letters are those of another model, with a slip or two."""


@lru_cache(maxsize=KEPT)
def nearly_named(text: str) -> Model | None:
    """The model that was probably meant by a name that differs from its own by a slip.

    Other digits are another version, which may be newer than this table, so they are no slip.
    """
    from difflib import get_close_matches

    provider, _, name = text.lower().partition("/")
    if known_model(text) is not None:
        return None
    digits = _DIGITS.sub("", name)
    alike = {
        _LETTERS.sub("", model.name): model
        for model in MODELS
        if model.provider == provider and _DIGITS.sub("", model.name) == digits
    }
    found = get_close_matches(_LETTERS.sub("", name), alike, n=1, cutoff=_ALIKE)
    return alike[found[0]] if found else None


@cache
def _by_name() -> dict[str, Model]:
    return {str(model): model for model in MODELS}


_TEXT_ONLY = (
    r"gpt-3\.5-.*|gpt-4(-0\d{3}|-32k.*)?|o1-(mini|preview).*|o3-mini.*|gpt-oss.*"
    r"|deepseek-(chat|reasoner|coder|r1|v[23]).*|codellama.*|codestral.*|mixtral.*"
    r"|(meta-)?llama-?3(\.[13])?(-\d+b.*)?|qwen2\.5(-coder)?|qwen3(-coder)?|phi3|phi4|gemma2?"
)
"""Models whose makers say that they read text only, by their names at any provider, without a tag."""


def takes_pictures(model: str) -> bool:
    """False of a model that is known to take none, for which a name such as `llama3.1:8b` is enough."""
    name = model.rpartition("/")[2].partition(":")[0].lower()
    return re.fullmatch(_TEXT_ONLY, name) is None
