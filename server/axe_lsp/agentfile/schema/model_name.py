"""The `provider/model-name` of an agent, and how it is read.

The error texts are axe's own: scripts match on them.
"""

from __future__ import annotations

from msgspec import Struct

from axe_lsp.agentfile.text.ranges import quoted

REPLAY_PROVIDER = "replay"
"""The offline provider: `replay/NAME` answers from a recording."""


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
