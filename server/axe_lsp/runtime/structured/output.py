"""The form of an agent's answer: `[output]`, which its own model mends, and `params.response_format` (axe 1.8).

Nothing is believed because it was asked for: providers promise the form of an answer for some
schemas, some models and some answers only.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.schema.providers import WireTraits
from axe_lsp.runtime.conversation import Conversation
from axe_lsp.runtime.errors import ConfigError, UnfitAnswerError
from axe_lsp.runtime.incomplete import explained
from axe_lsp.runtime.messages import Json, ResponseFormat
from axe_lsp.runtime.providers.wire import WireError, is_strict_schema, parse_json, to_json
from axe_lsp.runtime.structured.schemas import Check, Schema, check_of, object_schema

MAX_REPAIRS = 2
"""So often a model gets to mend an answer that does not fit."""

_TOLD = """\


---

## Output

Your final answer has to be JSON that fits this JSON Schema, and nothing else:

{schema}"""

_COMPLAINT = """\
Your answer is not the result that was asked for: {complaint}.
Answer again, with nothing but JSON that fits this JSON Schema:

{schema}"""


class Output(Struct, frozen=True):
    """The required form of an agent's answer."""

    schema: Schema
    check: Check

    @property
    def schema_text(self) -> str:
        """The schema as models read it."""
        return to_json(dict(self.schema))

    def asked_of(
        self, traits: WireTraits, has_tools: bool, wanted: ResponseFormat | None
    ) -> tuple[ResponseFormat | None, str]:
        """Return the form that a provider is asked for, or else what the system prompt has to end with.

        A form that is `wanted` already stays. Providers promise objects only, and on some wires not
        together with tools.
        """
        fits_tools = traits.schema_with_tools or not has_tools
        is_promised = self.schema.get("type") == "object" and fits_tools
        told = _TOLD.format(schema=self.schema_text)
        if wanted is not None or not is_promised:
            return wanted, told
        schema = _closed(self.schema) if _is_plain(self.schema) else self.schema
        is_strict = is_strict_schema(schema)
        return ResponseFormat(
            "json_schema", schema, strict=is_strict, optional=True, otherwise=told
        ), ""

    async def read(self, answer: str) -> tuple[Json, str]:
        """Return the value of an answer, and why it does not fit, or ""."""
        try:
            value = parse_json(_unfenced(answer))
        except WireError as error:
            return None, str(error)
        return value, await self.check.on_loop(value)


def form_of_answer(
    definition: AgentDefinition, traits: WireTraits, has_tools: bool
) -> tuple[Output | None, ResponseFormat | None, str]:
    """Return what an answer has to be, the form that a provider is asked for, and what the prompt says of it.

    Raises ConfigError.
    """
    wanted = response_format(definition.params.response_format, traits)
    output = output_of(definition)
    if output is None:
        return None, wanted, ""
    return output, *output.asked_of(traits, has_tools, wanted)


def output_of(definition: AgentDefinition) -> Output | None:
    """Return the required form of the agent's answer, if its file has one."""
    schema = definition.output
    if schema is None:
        return None
    if "type" not in schema and {"properties", "required"} & schema.keys():
        schema = object_schema(schema)
    return Output(schema, check_of(schema, "output"))


async def settle(
    conversation: Conversation, output: Output, go_on: Callable[[], Awaitable[None]]
) -> Json:
    """Return the value of the last answer, which becomes its compact JSON.

    A model whose answer does not fit is told so, and the conversation goes on. Raises
    UnfitAnswerError when it does not help.
    """
    for repairs in range(MAX_REPAIRS + 1):
        value, complaint = await output.read(conversation.last.content)
        if not complaint:
            conversation.last = replace(conversation.last, content=to_json(value))
            return value
        if conversation.last.incomplete is not None:
            # The next answer would meet the same limit, or the same refusal.
            raise UnfitAnswerError(f"{explained(conversation.last.incomplete)}: {complaint}")
        if repairs < MAX_REPAIRS:
            schema = output.schema_text
            conversation.ask_again(_COMPLAINT.format(complaint=complaint, schema=schema))
            await go_on()
    raise UnfitAnswerError(complaint)


def _unfenced(text: str) -> str:
    """Return the inside of a Markdown code block, if that is all there is: models like to write one."""
    text = text.strip()
    first, newline, rest = text.partition("\n")
    if newline and first in ("```", "```json") and rest.endswith("```"):
        return rest.removesuffix("```")
    return text


_COMPOSED = {
    "$dynamicRef",
    "$ref",
    "allOf",
    "anyOf",
    "dependentSchemas",
    "if",
    "not",
    "oneOf",
    "patternProperties",
    "unevaluatedProperties",
}
"""Keywords by which several schemas describe one object, so that none of them may be closed."""


def _is_plain(schema: Json) -> bool:
    if isinstance(schema, list):
        return all(_is_plain(each) for each in schema)
    if not isinstance(schema, dict):
        return True
    return not schema.keys() & _COMPOSED and all(_is_plain(each) for each in schema.values())


def _closed(schema: Json) -> Json:
    """Return the schema with all objects closed that may have members that it does not name.

    Providers want that, and what fits the closed schema fits the open one.
    """
    if not isinstance(schema, dict):
        return schema
    closed = dict(schema)
    if isinstance(members := schema.get("properties"), dict):
        closed["properties"] = {name: _closed(each) for name, each in members.items()}
        closed.setdefault("additionalProperties", False)
    if "items" in schema:
        closed["items"] = _closed(schema["items"])
    return closed


def response_format(
    setting: Mapping[str, Any] | str | None, traits: WireTraits
) -> ResponseFormat | None:
    """Return the form that a file wants its answers in: a table, or its `type` alone.

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
