"""The model that a user has named, and the one that a new agent begins with without that."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.schema.models import MODELS, Model
from axe_lsp.agentfile.schema.providers import (
    PROVIDERS,
    REPLAY_PROVIDER,
    ModelNameError,
    parse_model_name,
)
from axe_lsp.agentfile.text.nearest import nearest
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.user_config import UserConfig

_USUAL_PRICES = (1, 3)
"""Dollars for a million input tokens. Such a model is neither the weakest nor the dearest of its provider."""


def named_model(text: str, config: UserConfig) -> str:
    """Return a model of a provider that there is. Raises ConfigError."""
    try:
        model = parse_model_name(text)
    except ModelNameError as error:
        raise ConfigError(str(error)) from error
    if config.provider(model.provider) is None and model.provider != REPLAY_PROVIDER:
        meant = nearest(model.provider, PROVIDERS)
        raise ConfigError(
            f"unsupported provider {quoted(model.provider)}: "
            + (f"did you mean {meant}?" if meant else f"there are {', '.join(sorted(PROVIDERS))}")
            + ", or add [providers.NAME] with `wire` and `base_url` to config.toml" * (not meant)
        )
    return str(model)


def usual_model(config: UserConfig) -> str | None:
    """Return the newest model of usual price, of the first provider for which there is a key."""
    return next((str(each) for each in _usual() if config.key_origin(each.provider)), None)


def model_to_begin_with(config: UserConfig) -> str:
    """Return the usual model. Without any key one whose key is missing, which the checks and a run say."""
    return usual_model(config) or str(next(_usual()))


def _usual() -> Iterator[Model]:
    least, most = _USUAL_PRICES
    return (each for each in MODELS if least <= each.input_price <= most)
