"""From `params.response_format` of an agent file to what a provider is asked for (axe 1.8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from axe_lsp.agentfile.schema.providers import WireTraits
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.messages import ResponseFormat
from axe_lsp.runtime.providers.wire import to_json


def response_format(
    setting: Mapping[str, Any] | str | None, traits: WireTraits
) -> ResponseFormat | None:
    """The form that a file wants its answers in: a table, or its `type` alone.

    axe asks Anthropic for no form. So a schema that a wire without `json_object` refuses keeps no file
    from running.

    A `name` in the schema names the schema, and is no keyword of it. Raises ConfigError.
    """
    if isinstance(setting, str):
        setting = {"type": setting}
    if not setting or not setting.get("type"):
        return None
    if setting["type"] != "json_schema":
        return ResponseFormat(setting["type"])
    schema = _as_json(setting["schema"])
    name = schema.pop("name", "")
    return ResponseFormat(
        "json_schema",
        schema,
        name if isinstance(name, str) and name else "response",
        optional=not traits.json_object,
    )


def _as_json(schema: Mapping[str, Any]) -> dict[str, Any]:
    try:
        to_json(schema)
    except (TypeError, ValueError) as error:  # Dates and infinity, which TOML has and JSON has not.
        raise ConfigError(
            f"params.response_format.schema can't be written as JSON: {error}"
        ) from error
    return dict(schema)


def ignored_format_warning(traits: WireTraits, wanted: ResponseFormat | None) -> str:
    """The reason why a provider can't get this format, or ""."""
    if traits.json_object or wanted is None or wanted.type != "json_object":
        return ""
    return (
        "params.response_format is ignored: the model's API knows no json_object; "
        "give a json_schema, or ask for JSON in the system prompt"
    )
