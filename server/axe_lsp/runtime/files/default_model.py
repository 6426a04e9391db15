"""The model that a new agent begins with, if the user has named none."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.schema.models import MODELS, Model
from axe_lsp.runtime.files.user_config import UserConfig

_USUAL_PRICES = (1, 3)
"""Dollars for a million input tokens. Such a model is neither the weakest nor the dearest of its provider."""


def usual_model(config: UserConfig) -> str | None:
    """The newest model of usual price, of the first provider for which there is a key."""
    return next((str(each) for each in _usual() if config.key_origin(each.provider)), None)


def model_to_begin_with(config: UserConfig) -> str:
    """The usual model. Without any key one whose key is missing, which the checks and a run say."""
    return usual_model(config) or str(next(_usual()))


def _usual() -> Iterator[Model]:
    least, most = _USUAL_PRICES
    return (each for each in MODELS if least <= each.input_price <= most)
