"""JSON Schemas of tools, in the form that providers take.

Tools of MCP servers come with any JSON Schema. Providers take a part of it and refuse the whole request for one
schema beyond that, so a schema is rewritten where the rewritten one means the same, and a tool whose schema can't
be is left out. What providers refuse, by their error texts:

- Anthropic: `input_schema does not support oneOf, allOf, or anyOf at the top level`, `input_schema.type: Field
  required`, `Property keys should match pattern`, and whatever is invalid in the draft 2020-12.
- OpenAI: `schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level`,
  `array schema missing items`, `object schema missing properties`.
- Gemini: `items: missing field`, `required[0]: property is not defined`, and keywords beside a `$ref`.
- Bedrock: `inputSchema.json.type must be one of the following: object`.
- Ollama reads schemas into structs of Go, in which a property is no boolean and `required` a list of strings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.schema.providers import Wire
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.errors import ProviderError
from axe_lsp.runtime.messages import Json, Request, Tool

Schema = dict[str, Any]

_TYPES = {
    **{name: name for name in ("object", "array", "string", "number", "integer", "boolean")},
    "null": "null",
    "none": "null",
    "nonetype": "null",
    "int": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "str": "string",
    "text": "string",
    "bool": "boolean",
    "dict": "object",
    "map": "object",
    "list": "array",
    "tuple": "array",
}
"""The types of JSON Schema, by the words that servers write for them, in lower case."""

_MAY_BE_NULL = frozenset({"default", "const", "example"})

_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE = (
    *("items", "additionalProperties", "not", "if", "then", "else", "contains"),
    *("propertyNames", "unevaluatedItems", "unevaluatedProperties"),
)
"""Keywords of the draft 2020-12 that contain schemas: by name, in a list, or one."""

_CONDITIONS = ("anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const")
"""Keywords that no provider takes at the top of a schema."""

_PROPERTY_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""The names of arguments that Anthropic takes."""

_ALSO = "The arguments must also be valid under this JSON Schema: "

_MOST_REFERENCES = 20

_MOST_ALTERNATIVES = 1000
"""Schemas at the top of one tool's schema. References to alternatives that refer to others can lead to 2^n of them."""


class UnfitSchemaError(Exception):
    """A schema that can't be rewritten for a provider, with the reason."""


def fit_schema(schema: Mapping[str, Json], wire: Wire) -> Schema:
    """Return an equivalent schema that the providers of a wire take. Raise UnfitSchemaError if there is none.

    Conditions on all arguments together, which must not stand at the top, move into its description.
    """
    try:
        top = _dereference(_rewrite(dict(schema), _MODERNISE))
        types = top.get("type", "object")
        if types != "object" and not (isinstance(types, list) and "object" in types):
            raise UnfitSchemaError(f"the type of its schema is {json.dumps(types)}, not object")
        top["type"] = "object"
        top = _without_conditions(top, iter(range(_MOST_ALTERNATIVES)))
        if wire == "gemini":
            top = _rewrite(top, _FOR_GEMINI)
    except RecursionError:
        raise UnfitSchemaError("its schema is nested too deeply") from None
    unfit = [name for name in top["properties"] if not _PROPERTY_KEY.fullmatch(name)]
    if wire == "anthropic" and unfit:
        raise UnfitSchemaError(
            "the provider takes only letters, digits, _ . and - in the names of arguments, "
            f"and at most 64 of them, not {quoted(unfit[0])}"
        )
    return top


_Rule = Callable[[Schema], None]
"""Rewrites the keywords of one schema in place. It leaves alone the schemas within it."""


def _rewrite(schema: Json, rules: tuple[_Rule, ...]) -> Json:
    """Return a schema to which the rules were applied, and to all schemas within it."""
    if schema is True:
        return {}
    if not isinstance(schema, dict):
        return schema
    kept = {k: v for k, v in schema.items() if v is not None or k in _MAY_BE_NULL}
    for rule in rules:
        rule(kept)
    for name in _MAPS:
        if isinstance(kept.get(name), dict):
            kept[name] = {key: _rewrite(each, rules) for key, each in kept[name].items()}
    for name in _LISTS:
        if isinstance(kept.get(name), list):
            kept[name] = [_rewrite(each, rules) for each in kept[name]]
    for name in _SINGLE:
        if isinstance(kept.get(name), dict):
            kept[name] = _rewrite(kept[name], rules)
    return kept


def _rename_types(schema: Schema) -> None:
    """Give types the names of JSON Schema."""
    stated = schema.get("type")
    names = stated if isinstance(stated, list) else [stated]
    types = [_TYPES.get(name.lower(), name) if isinstance(name, str) else name for name in names]
    if stated in (None, []) or "any" in types:
        schema.pop("type", None)
    else:
        schema["type"] = types if isinstance(stated, list) else types[0]


def _raise_required(schema: Schema) -> None:
    """Turn `required = true` of a property, as in the draft 3, into a name in the list of its object."""
    properties, stated = schema.get("properties"), schema.get("required")
    names = [name for name in stated if isinstance(name, str)] if isinstance(stated, list) else []
    for name, each in properties.items() if isinstance(properties, dict) else ():
        if isinstance(each, dict) and each.get("required") is True:
            names.append(name)
    if names or isinstance(stated, list):
        schema["required"] = [*dict.fromkeys(names)]
    else:
        schema.pop("required", None)


def _modernise_limits(schema: Schema) -> None:
    """Turn `exclusiveMinimum = true`, as in the draft 4, into the limit itself."""
    for exclusive, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        stated = schema.get(exclusive)
        if isinstance(stated, bool):
            del schema[exclusive]
            if stated and limit in schema:
                schema[exclusive] = schema.pop(limit)


def _modernise_items(schema: Schema) -> None:
    """Convert `items` and `additionalItems` of older drafts to `prefixItems` and `items` of draft 2020-12."""
    items = schema.get("items")
    if isinstance(items, list):
        schema["prefixItems"] = items
        schema["items"] = schema.pop("additionalItems", {})
        if schema["items"] is False:
            schema["items"] = {}
            schema.setdefault("maxItems", len(items))
    types = schema.get("type")
    is_array = types == "array" or (isinstance(types, list) and "array" in types)
    if schema.get("items") is True or (is_array and "items" not in schema):
        schema["items"] = {}


_MODERNISE: tuple[_Rule, ...] = (
    _rename_types,
    _raise_required,
    _modernise_limits,
    _modernise_items,
)


def _separate_reference(schema: Schema) -> None:
    """Give a reference a schema of its own, since Gemini takes no keywords beside it."""
    if "anyOf" not in schema and "$ref" in schema and any(k[0] != "$" for k in schema if k):
        schema["anyOf"] = [{"$ref": schema.pop("$ref")}]


def _declare_required(schema: Schema) -> None:
    """Declare each required property. Any value fits one without a declaration."""
    names, properties = schema.get("required", ()), schema.get("properties", {})
    undeclared: Schema = {name: {} for name in names if name not in properties}
    if undeclared:
        schema["properties"] = {**properties, **undeclared}


_FOR_GEMINI: tuple[_Rule, ...] = (_separate_reference, _declare_required)


def _dereference(schema: Schema) -> Schema:
    """Return a schema whose top is no reference. Raise UnfitSchemaError for one that leads nowhere."""
    top = schema
    for _ in range(_MOST_REFERENCES):
        if "$ref" not in top:
            return top
        top = {**_target(schema, str(top["$ref"])), **{k: v for k, v in top.items() if k != "$ref"}}
    raise UnfitSchemaError("its schema refers to itself")


def _target(root: Schema, reference: str) -> Schema:
    """Return the schema to which a reference such as `#/$defs/Query` leads."""
    place: Json = root
    for part in reference.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        place = place.get(name) if isinstance(place, dict) else None
    if not reference.startswith("#/") or not isinstance(place, dict):
        raise UnfitSchemaError(f"its schema refers to {quoted(reference)}, which it does not have")
    return place


def _without_conditions(schema: Schema, budget: Iterator[object]) -> Schema:
    """Return a schema without conditions at its top.

    A condition with one alternative is a part of the schema. All others stay as text in the description, which
    models read. The properties of their alternatives are declared. Raise UnfitSchemaError if there are more
    alternatives than `budget` has items.
    """
    if next(budget, None) is None:
        raise UnfitSchemaError("its schema has too many alternatives")
    top = {k: v for k, v in schema.items() if k not in _CONDITIONS}
    if not isinstance(top.get("properties"), dict):
        top["properties"] = {}
    conditions = {k: schema[k] for k in _CONDITIONS if k in schema}
    text = dict(conditions)
    for name in ("allOf", "anyOf", "oneOf"):
        alternatives = conditions.get(name)
        if not isinstance(alternatives, list):
            continue
        parts = [
            _without_conditions(_dereference({**each, **_definitions(schema)}), budget)
            for each in alternatives
            if isinstance(each, dict)
        ]
        is_all = name == "allOf" or len(alternatives) == 1
        if is_all and len(parts) == len(alternatives) and _is_plain(top, *parts):
            del text[name]
        _declare(top, parts, is_all)
    if text:
        stated = top.get("description")
        also = _ALSO + json.dumps(text, ensure_ascii=False, separators=(",", ":"))
        top["description"] = f"{stated}\n\n{also}" if stated else also
    return top


def _definitions(schema: Schema) -> Schema:
    return {name: schema[name] for name in ("$defs", "definitions") if name in schema}


_PLAIN = frozenset(
    {"type", "properties", "required", "title", "description", "$defs", "definitions"}
)


def _is_plain(*schemas: Schema) -> bool:
    """Return whether schemas of objects can be put together without a loss: no two say something of one property."""
    names = [name for each in schemas for name in each["properties"]]
    # What a description says here may be a condition.
    said = any(str(each.get("description", "")).startswith(_ALSO) for each in schemas[1:])
    return (
        len(names) == len({*names})
        and not said
        and all(each.keys() <= _PLAIN for each in schemas[1:])
    )


def _declare(top: Schema, parts: list[Schema], is_all: bool) -> None:
    """Declare the properties of alternatives; `is_all`: each of them has to be fulfilled."""
    properties: dict[str, list[Json]] = {}
    for part in parts:
        for name, each in part["properties"].items():
            known = properties.setdefault(name, [])
            known += [each] if each not in known else []
    for name, found in properties.items():
        alike = "allOf" if is_all else "anyOf"
        top["properties"].setdefault(name, found[0] if len(found) == 1 else {alike: found})
    required = [[*part.get("required", ())] for part in parts]
    always = (
        [name for each in required for name in each]
        if is_all
        else [
            name for name in (required[0] if required else ()) if all(name in r for r in required)
        ]
    )
    names = [*dict.fromkeys([*top.get("required", ()), *always])]
    if names:
        top["required"] = names


class RefusedTool(Struct, frozen=True):
    """A tool that a provider has refused: its name, all else about it as a text, and the provider's reason."""

    name: str
    definition: str
    reason: str

    def is_for(self, tool: Tool) -> bool:
        """Return whether the provider would refuse this tool as well."""
        return self.name == tool.name and self.definition == _definition_of(tool)


class OfferedTools(Struct, frozen=True):
    """The tools of a request as they are sent, and a warning for each that is left out."""

    tools: tuple[Tool, ...]
    warnings: tuple[str, ...]


_KEPT = "offered tools"
"""Where in `Request.kept` the tools are that were sent last, with what they were made of."""


def offered_tools(request: Request, wire: Wire, refused: tuple[RefusedTool, ...]) -> OfferedTools:
    """Return the tools that a provider takes. The same ones again for the same request, so that its bytes stay."""
    source = (request.tools, wire, refused)
    kept: tuple[object, OfferedTools] | None = request.kept.get(_KEPT)
    if kept is None or kept[0] != source:
        warnings: list[str] = []
        tools = tuple(_usable(request.tools, wire, refused, warnings.append))
        kept = source, OfferedTools(tools, tuple(warnings))
        request.kept[_KEPT] = kept
    return kept[1]


def _usable(
    tools: Iterable[Tool], wire: Wire, refused: tuple[RefusedTool, ...], warn: Callable[[str], None]
) -> Iterator[Tool]:
    for tool in tools:
        reason = next((each.reason for each in refused if each.is_for(tool)), "")
        if reason:
            warn(_left_out(tool, f"the provider refuses it: {reason}"))
        elif tool.schema is None:
            yield tool
        else:
            try:
                yield replace(tool, schema=fit_schema(tool.schema, wire))
            except UnfitSchemaError as error:
                warn(_left_out(tool, str(error)))


def _left_out(tool: Tool, reason: str) -> str:
    place = f" of MCP server {quoted(tool.server)}" if tool.server else ""
    return f"tool {quoted(tool.name)}{place} is left out: {reason}"


_INDEX = (
    r"(?i)(?:\btools|function_?declarations)[.\[](\d+)\]?\.(?:\w+\.){0,2}?"
    r"(?:input_?schema|parameters|name|description)"
)
"""How refusals name a tool by its index: `tools.3.custom.input_schema`, `tools[1].function.parameters`,
`toolConfig.tools.0.toolSpec.inputSchema`, `tools[0].function_declarations[1].parameters`."""

_ABOUT_SCHEMAS = r"(?i)schema|parameters"

_SHOWN_REASON = 300
"""Characters of a refusal in a warning."""


def refused_tool(
    error: ProviderError, request: Request, wire: Wire, refused: tuple[RefusedTool, ...]
) -> RefusedTool | None:
    """Return the tool that the refusal of a request names, by its index or its name; None if it names none."""
    said = "\n".join((error.message, *error.codes))
    sent = [tool.name for tool in offered_tools(request, wire, refused).tools]
    indices = map(int, re.findall(_INDEX, said))
    name = next((sent[index] for index in indices if index < len(sent)), None)
    if name is None and re.search(_ABOUT_SCHEMAS, said):
        name = next(
            (each for each in re.findall(r"['\"`]([\w-]{1,64})['\"`]", said) if each in sent), None
        )
    if name is None:
        return None
    tool = next(each for each in request.tools if each.name == name)
    return RefusedTool(name, _definition_of(tool), " ".join(error.message.split())[:_SHOWN_REASON])


def _definition_of(tool: Tool) -> str:
    return json.dumps([tool.description, tool.schema], sort_keys=True)
