"""The keywords of JSON Schema, as a JSON Schema: for `[input]`, `[output]` and other tables that are one.

Says what `json_schema` checks, but for what no JSON Schema can say: where references lead, whether a
pattern is one. Draft 7 for the sake of its readers; what it describes is draft 2020-12.
"""

from __future__ import annotations

from typing import Any

from axe_lsp.agentfile.schema.json_schema import TYPES

JsonSchema = dict[str, Any]

IS_SCHEMA: JsonSchema = {"$ref": "#/definitions/schema"}

_TYPE = {"enum": [*TYPES]}
_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT, "uniqueItems": True}
_NUMBER = {"type": "number"}
_FLAG = {"type": "boolean"}
_COUNT = {"type": "number", "minimum": 0, "multipleOf": 1}
_ANCHOR = {"type": "string", "pattern": "^[A-Za-z_][-A-Za-z0-9._]*$"}
_REFERENCE = {"type": "string", "pattern": "^#"}
_SCHEMAS = {"type": "array", "items": IS_SCHEMA, "minItems": 1}
_NAMED_SCHEMAS = {"type": "object", "additionalProperties": IS_SCHEMA}
_EARLIER_DRAFT = False


def _keywords(value: JsonSchema | bool, names: str) -> dict[str, JsonSchema | bool]:
    return dict.fromkeys(names.split(), value)


KEYWORDS: dict[str, JsonSchema | bool] = {
    "type": {"anyOf": [_TYPE, {"type": "array", "items": _TYPE, "minItems": 1}]},
    **_keywords(_TEXT, "title description format pattern $schema $id $comment"),
    **_keywords(_TEXT, "contentEncoding contentMediaType"),
    **_keywords(_NAMED_SCHEMAS, "properties patternProperties dependentSchemas $defs definitions"),
    "required": _TEXTS,
    "dependentRequired": {"type": "object", "additionalProperties": _TEXTS},
    **_keywords(IS_SCHEMA, "additionalProperties unevaluatedProperties propertyNames"),
    **_keywords(IS_SCHEMA, "items contains unevaluatedItems contentSchema not if then else"),
    **_keywords(_SCHEMAS, "prefixItems allOf anyOf oneOf"),
    "enum": {"type": "array"},
    **_keywords(_NUMBER, "minimum maximum exclusiveMinimum exclusiveMaximum"),
    "multipleOf": {"type": "number", "exclusiveMinimum": 0},
    **_keywords(_COUNT, "minLength maxLength minItems maxItems minContains maxContains"),
    **_keywords(_COUNT, "minProperties maxProperties"),
    **_keywords(_FLAG, "uniqueItems deprecated readOnly writeOnly"),
    **_keywords(_ANCHOR, "$anchor $dynamicAnchor"),
    **_keywords(_REFERENCE, "$ref $dynamicRef"),
    **_keywords(_EARLIER_DRAFT, "dependencies additionalItems"),
}
"""The values of each keyword. Others are allowed."""

DEFINITIONS: dict[str, JsonSchema] = {
    "schema": {"type": ["object", "boolean"], "properties": KEYWORDS, "additionalProperties": True}
}

INPUT: JsonSchema = {
    "allOf": [IS_SCHEMA],
    # Agents are called with an object.
    "properties": {
        "type": {"anyOf": [{"const": "object"}, {"type": "array", "contains": {"const": "object"}}]}
    },
}
"""The schema of what an agent is called with."""
