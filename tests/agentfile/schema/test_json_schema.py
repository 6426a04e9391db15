"""Which tables are JSON Schemas, and where they are none."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry

from axe_lsp.agentfile.schema.json_schema import KEYWORDS, schema_faults
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.nested import nested
from axe_lsp.agentfile.text.parse import Parse
from support.growth import calls_of


def faults(text: str) -> list[str]:
    """Return what is wrong with `[s]`: the text that is blamed, and why."""
    lookup = Lookup(Parse(text))
    schema = nested(lookup, ("s",))
    assert schema is not None
    return [f"{each.range.of(text)}: {each.message}" for each in schema_faults(schema, "s")]


@pytest.mark.parametrize(
    "text",
    [
        "s = {}",
        's = { type = ["string", "null"], "x-note" = 1 }',
        "s.properties.a = true",
        's = { items = { type = "string" } }',
        's = { prefixItems = [{ type = "string" }, false], items = false }',
        "s = { exclusiveMinimum = 1, minimum = 1.5, multipleOf = 0.1, maxLength = 3.0 }",
        's = { enum = ["a", 1, true, []], const = { a = 1 }, default = "x" }',
        's = { pattern = "^[a-z]+$", format = "uri", required = ["a", "b"] }',
        's = { "$ref" = "#/$defs/a~1b", "$defs" = { "a/b" = {} } }',
        's = { "$id" = "https://example.com/s", "$ref" = "#/$defs/a%20b", "$defs" = { "a b" = {} } }',
        's = { "$ref" = "#x", "$defs" = { a = { "$anchor" = "x" } } }',
        's = { "$ref" = "#", patternProperties = { "^x-" = false } }',
        's = { "$ref" = "#/allOf/0", allOf = [{}] }',
        's = { dependentRequired = { a = ["b"] }, dependentSchemas = { c = { type = "object" } } }',
        "[s]\n[s.properties.a]\ntype = 'string'\n[[s.allOf]]\ntype = 'object'\n[[s.allOf]]\n",
    ],
)
def test_valid_schemas(text: str) -> None:
    assert faults(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            's.type = "text"',
            '"text": s.type must be one of: array, boolean, integer, null, number, object, '
            'string; got "text"',
        ),
        (
            "s.type = [5]",
            "5: s.type must be one of: array, boolean, integer, null, number, object, string",
        ),
        ('s.properties = "a"', '"a": s.properties must be a table of schemas'),
        ("s.properties.a = 1", "1: s.properties.a must be a schema: a table, true or false"),
        ("s.allOf = []", "[]: s.allOf must be an array of schemas, and not empty"),
        ("s.anyOf = [1]", "1: s.anyOf[0] must be a schema: a table, true or false"),
        ("s.items = 3", "3: s.items must be a schema: a table, true or false"),
        ("s.title = 3", "3: s.title must be a string"),
        ("s.required = [1]", "[1]: s.required must be an array of strings"),
        ('s.required = ["a", "a"]', '"a": s.required names "a" twice'),
        ('s.minimum = "1"', '"1": s.minimum must be a number'),
        ("s.maximum = true", "true: s.maximum must be a number"),
        ("s.maximum = inf", "inf: s.maximum must be a number"),
        ("s.multipleOf = 0", "0: s.multipleOf must be a number above 0"),
        ("s.maxItems = -1", "-1: s.maxItems must be a whole number from 0"),
        ("s.maxItems = 1.5", "1.5: s.maxItems must be a whole number from 0"),
        ("s.uniqueItems = 1", "1: s.uniqueItems must be true or false"),
        ('s.enum = "a"', '"a": s.enum must be an array of values'),
        (
            "s.enum = [2020-01-01]",
            "2020-01-01: s.enum[0] has no counterpart in JSON: write a string",
        ),
        ("s.const.a = nan", "nan: s.const.a has no counterpart in JSON: write a string"),
        (
            's.pattern = "["',
            '"[": s.pattern is not a regular expression: unterminated character set at position 0',
        ),
        (
            's."$ref" = "#/$defs/x"',
            '"#/$defs/x": s.$ref leads nowhere: there is no "#/$defs/x" in this schema',
        ),
        (
            's."$ref" = "https://json-schema.org/draft/2020-12/schema"',
            '"https://json-schema.org/draft/2020-12/schema": s.$ref leads out of this schema: '
            "nothing is fetched, so a reference begins with #",
        ),
        ('s."$ref" = "#x"', '"#x": s.$ref leads nowhere: there is no "#x" in this schema'),
        (
            's = { "$ref" = "#/allOf/²", allOf = [{}] }',
            '"#/allOf/²": s.$ref leads nowhere: there is no "#/allOf/²" in this schema',
        ),
        (
            's = { "$ref" = "#/x-parts/0", x-parts = [{ type = [] }] }',
            "[]: s.x-parts.0.type must not be empty",
        ),
        (
            's.not."$id" = "a"',
            '"a": s.not.$id is not possible: only a whole schema has an identifier here',
        ),
        (
            's.patternProperties."(" = {}',
            "patternProperties: s.patternProperties is not a regular expression: missing ), "
            "unterminated subpattern at position 0",
        ),
        (
            's.dependentRequired.a = ["b", 1]',
            '["b", 1]: s.dependentRequired.a must be an array of strings',
        ),
        (
            's.dependencies.a = ["b"]',
            "dependencies: s.dependencies is of an earlier draft; write dependentRequired or "
            "dependentSchemas",
        ),
        (
            "s.items = [{}]",
            "[{}]: s.items must be one schema; write prefixItems for one per position",
        ),
        ("s.exclusiveMinimum = true", "true: s.exclusiveMinimum must be a number"),
    ],
)
def test_invalid_schemas(text: str, found: str) -> None:
    assert faults(text) == [found]


def test_deeply_nested_schema_is_reported() -> None:
    deep = ".".join(["s", *["not"] * 3000, "type"])
    (fault,) = faults(f'{deep} = "nothing"')
    assert fault.endswith("is nested too deeply")


def test_reference_with_a_huge_index_is_reported() -> None:
    (fault,) = faults(f's = {{ "$ref" = "#/allOf/{"9" * 5000}", allOf = [{{}}] }}')
    assert "leads nowhere" in fault


def test_check_of_references_takes_linear_time() -> None:
    def cost(count: int) -> int:
        names = "".join(f'p{n}."$ref" = "#x{n}"\n' for n in range(count))
        return calls_of(lambda: faults(f"[s.properties]\n{names}"))

    assert cost(400) < 5 * cost(100)


def test_check_of_a_pattern_writes_nothing_to_standard_error() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert faults('s.pattern = "[[a]"') == []


NAMES = st.sampled_from(sorted(KEYWORDS))
WORDS = st.sampled_from(
    [
        "type",
        "properties",
        "required",
        "items",
        "prefixItems",
        "enum",
        "const",
        "anyOf",
        "not",
        "if",
        "minLength",
        "maxItems",
        "minimum",
        "multipleOf",
        "pattern",
        "patternProperties",
        "dependentRequired",
        "additionalProperties",
        "uniqueItems",
        "$ref",
        "$defs",
        "$anchor",
        "propertyNames",
        "format",
        "contains",
        "minContains",
        "items",
        "dependencies",
        "$id",
    ]
)
WORDS = st.sampled_from(["a", "string", "object", "integer", "#/$defs/a", "#", "#a", "(", "x/y"])
NUMBERS = st.sampled_from([-1, 0, 1, 2.5])
VALUES = st.recursive(
    st.booleans() | NUMBERS | WORDS,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(NAMES | WORDS, below, max_size=3),
    max_leaves=12,
)
SCHEMAS = st.dictionaries(NAMES, VALUES, max_size=4)


@given(SCHEMAS, st.lists(VALUES, min_size=1, max_size=3))
def test_accepted_schema_validates_values(schema: dict[str, Any], values: list[Any]) -> None:
    if not faults(tomli_w.dumps({"s": schema})):
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema, registry=Registry())
        for value in values:
            with suppress(RecursionError):  # A schema may refer to itself.
                validator.is_valid(value)
