"""The `provider/model-name` of an agent, and the providers that exist.

The error texts are axe's own: scripts match on them.
"""

from __future__ import annotations

from msgspec import Struct

from axe_lsp.agentfile.text import quoted

RUNNABLE_PROVIDERS = ("anthropic", "openai", "ollama")
"""Providers that axe-lsp talks to, in the order in which messages name them."""

REPLAY_PROVIDER = "replay"
"""The offline provider: `replay/NAME` answers from a recording."""

AXE_PROVIDERS = (*RUNNABLE_PROVIDERS, "opencode", "google", "minimax", "bedrock", "openrouter")
"""Providers that axe itself supports. A file that names one is correct even if we can't run it."""


class ModelNameError(ValueError):
    """The model string is not `provider/model-name`; the message says how."""


class ModelName(Struct, frozen=True):
    """A model and who serves it."""

    provider: str
    name: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}"


def parse_model_name(text: str) -> ModelName:
    """Split at the first slash; model names may hold further ones.

    Raises ModelNameError, with axe's text, for a string that is not of the form.
    """
    provider, slash, name = text.partition("/")
    if not slash:
        raise ModelNameError(f"invalid model format {quoted(text)}: expected provider/model-name")
    if not provider:
        raise ModelNameError(f"invalid model format {quoted(text)}: empty provider")
    if not name:
        raise ModelNameError(f"invalid model format {quoted(text)}: empty model name")
    return ModelName(provider, name)
