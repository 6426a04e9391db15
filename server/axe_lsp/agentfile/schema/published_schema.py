"""The JSON Schema of a kind of file, for editors and linters that know TOML but not us.

Draft 7, the newest one that all of them read. A JSON Schema sees one file and few relations between
its keys, so it says less than `check`: docs/schemas.md lists what it can't say.
"""

from __future__ import annotations

from typing import Any

import tomli
from msgspec.structs import replace

from axe_lsp.agentfile.schema.agent_keys import AGENT
from axe_lsp.agentfile.schema.config_keys import CONFIG
from axe_lsp.agentfile.schema.json_schema import TYPES
from axe_lsp.agentfile.schema.key_spec import ANY_NAME, KeyPath, KeySpec, KeyType, Names, Schema
from axe_lsp.agentfile.schema.test_keys import TESTS
from axe_lsp.agentfile.schema.tools import TOOL_ALIASES, TOOLS
from axe_lsp.agentfile.text.addresses import ADDRESS, DASK_ADDRESS

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


PUBLISHED = {"agent": AGENT, "config": CONFIG, "test": TESTS}
"""The kinds of files by the names that the command line and the files of schemas have for them."""


def json_schema(schema: Schema) -> JsonSchema:
    """Return the JSON Schema of the files that have these keys."""
    has_schemas = any(key.type is KeyType.JSON_SCHEMA for key in schema.keys)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"axe {schema.name}",
        **_table(schema, ()),
        **({"definitions": DEFINITIONS} if has_schemas else {}),
    }


def _table(schema: Schema, path: KeyPath) -> JsonSchema:
    """Return a table of known keys; any other key is a mistake."""
    keys = schema.keys_of(path)
    named = {key.path[-1]: _key(schema, key) for key in keys}
    any_name = named.pop(ANY_NAME, False)
    required = [key.path[-1] for key in keys if key.required]
    return {
        "type": "object",
        **({"properties": named} if named else {}),
        **({"required": required} if required else {}),
        "additionalProperties": any_name,
    }


def _key(schema: Schema, spec: KeySpec) -> JsonSchema:
    value = _value(schema, spec)
    if spec.shorthand:
        short = _value(schema, schema.key((*spec.path, spec.shorthand)))
        value = {"anyOf": [{**short, **_ALONE.get(spec.path, {})}, value]}
    if spec.also:
        others = (_value(schema, replace(spec, type=each)) for each in spec.also)
        value = _any_of([value, *others])
    return {**_about(schema, spec), **value}


def _any_of(values: list[JsonSchema]) -> JsonSchema:
    """Return a schema that accepts any of several schemas. Arrays become one array of mixed items."""
    if all("items" in each for each in values):
        return {"type": "array", "items": _any_of([each["items"] for each in values])}
    return {"anyOf": values}


def _about(schema: Schema, spec: KeySpec) -> JsonSchema:
    is_axes = schema.program == "axe"
    note = " (An extension of axe-lsp, which axe ignores.)" if spec.is_extension and is_axes else ""
    default = {} if spec.default is None else {"default": _from_toml(spec.default)}
    return {"description": spec.doc + note, **default}


def _from_toml(value: str) -> Any:
    return tomli.loads(f"value = {value}")["value"]


def _value(schema: Schema, spec: KeySpec) -> JsonSchema:
    if spec.type is KeyType.TABLE:
        return {**_table(schema, spec.path), **_TOGETHER.get(spec.path, {})}
    if spec.type is KeyType.TABLES:
        items = {**_table(schema, spec.path), **_TOGETHER.get(spec.path, {})}
        return {"type": "array", "items": items}
    if spec.type is KeyType.STRINGS:
        return {"type": "array", "items": {"type": "string", **_words(schema, spec)}}
    if spec.type in (KeyType.STRING_TABLE, KeyType.ANY_TABLE):
        return {"type": "object", "additionalProperties": _values_below(schema, spec)}
    if spec.type is KeyType.JSON_SCHEMA:
        its_own = INPUT if spec.path == ("input",) else {"allOf": [IS_SCHEMA]}
        return {"type": "object", **its_own, "additionalProperties": True}
    its_type = {} if spec.type is KeyType.ANY else {"type": _TYPES[spec.type]}
    return {**its_type, **_limits(spec), **_words(schema, spec)}


_CHECKS: KeyPath = ("case", "expect", "answer")
"""A table of tests with all checks of a text."""


def _values_below(schema: Schema, spec: KeySpec) -> JsonSchema | bool:
    """Return the values of keys that are the user's choice."""
    if schema is TESTS and spec.path[-1] == "files":
        return {"anyOf": [{"type": "boolean"}, _table(schema, _CHECKS)]}
    if schema is TESTS and spec.path[-1] == "args":
        checks = _table(schema, _CHECKS)
        words = {**checks["properties"], "any": {}}
        only_words = {"propertyNames": {"enum": [*words]}, "minProperties": 1}
        is_check = {"type": "object", **only_words, "additionalProperties": True}
        # Another table is a part of the argument.
        return {"if": is_check, "then": {**checks, "properties": words}}
    return {"type": "string"} if spec.type is KeyType.STRING_TABLE else True


_TOGETHER: dict[KeyPath, JsonSchema] = {
    ("mcp_servers",): {
        "if": {"required": ["command"], "additionalProperties": True},
        "then": {
            "properties": {
                "command": {"pattern": r"^([^/\\]*[^/\\\s][^/\\]*|/.*|[A-Za-z]:[/\\].*)$"},
                "transport": {"const": "stdio"},
                "url": False,
                "headers": False,
            },
            "additionalProperties": True,
        },
        "else": {
            "properties": {
                "url": {"pattern": r"\S"},
                "transport": {"enum": ["sse", "streamable-http"]},
                **dict.fromkeys(("args", "env", "pass_env", "cwd"), False),
            },
            "required": ["url", "transport"],
            "additionalProperties": True,
        },
    },
    ("execution", "ssh"): {
        "allOf": [
            {
                "properties": {"hosts": {"items": {"pattern": f"^{ADDRESS}$"}}},
                "additionalProperties": True,
            }
        ]
    },
    ("execution", "dask"): {
        "allOf": [
            {
                "properties": {"scheduler": {"pattern": f"^({DASK_ADDRESS})?$"}},
                "additionalProperties": True,
            }
        ]
    },
    ("artifacts",): {
        "if": {
            "properties": {"dir": {"minLength": 1}},
            "required": ["dir"],
            "additionalProperties": True,
        },
        "then": {
            "properties": {"dir": {"not": {"pattern": r"\.\."}}, "enabled": {"const": True}},
            "required": ["enabled"],
            "additionalProperties": True,
        },
    },
    ("params", "response_format"): {
        "if": {
            "properties": {"type": {"const": "json_schema"}},
            "required": ["type"],
            "additionalProperties": True,
        },
        "then": {"required": ["schema"], "additionalProperties": True},
    },
}
"""The rules of `check/axe.py` for two keys of a table, as far as a JSON Schema can state them.

tombi wants to be told in each part that other keys are allowed.
"""

_ALONE: dict[KeyPath, JsonSchema] = {
    ("params", "response_format"): {"not": {"const": "json_schema"}}
}
"""The values that a string in place of a table can't have: they need another key."""


_TYPES = {
    KeyType.STRING: "string",
    KeyType.INTEGER: "integer",
    KeyType.FLOAT: "number",
    KeyType.BOOLEAN: "boolean",
}


def _limits(spec: KeySpec) -> JsonSchema:
    limits = {"minimum": spec.minimum, "maximum": spec.maximum}
    return {keyword: limit for keyword, limit in limits.items() if limit is not None}


def _words(schema: Schema, spec: KeySpec) -> JsonSchema:
    """Return which strings are allowed."""
    if spec.choices:
        may_be_empty = schema.empty_is_absent and not spec.required
        return {"enum": [*spec.choices, *([""] if may_be_empty else [])]}
    if spec.names is Names.MODEL:
        return {"pattern": r"^[^/]+/[\s\S]"}  # The user's config.toml adds providers.
    # Tests name tools of MCP servers and typed agents, too.
    if spec.names is Names.TOOL and schema is AGENT:
        is_policy = spec.path[0] == "tool_policy"  # It may name tools of MCP servers.
        others = "" if is_policy else r"[*?\[]"
        return {"anyOf": [{"enum": [*TOOLS, *TOOL_ALIASES]}, {"pattern": others}]}
    if spec.names is Names.ADDRESS:
        unset = "" if spec.required else r"^\s*$|"
        return {"pattern": rf"{unset}^\s*[Hh][Tt][Tt][Pp][Ss]?://[^/]*[^/\s]"}
    return {"pattern": r"\S"} if spec.required else {}
