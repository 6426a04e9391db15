"""Arguments in the types of their schema: numbers of other spellings, null and missing ones."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axe_lsp.runtime.structured.arguments import fit_arguments
from axe_lsp.runtime.structured.schemas import check_of

Json = Any

INTEGER = {"type": "integer"}
NULLABLE = {"anyOf": [INTEGER, {"type": "null"}]}


@pytest.mark.parametrize(
    ("schema", "value", "fitted"),
    [
        (INTEGER, "7", 7),
        (INTEGER, " -7 ", -7),
        (INTEGER, "5.0", 5),
        (INTEGER, "5.", 5),
        (INTEGER, 5.0, 5),
        (INTEGER, "7.5", "7.5"),
        (INTEGER, 7.5, 7.5),
        (INTEGER, "1_0", "1_0"),
        (INTEGER, "many", "many"),
        (INTEGER, True, True),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "number"}, 5.0, 5.0),
        ({"type": "number"}, "nan", "nan"),
        ({"type": "number"}, "1e999", "1e999"),
        ({"type": "boolean"}, "T", True),
        ({"type": "boolean"}, "yes", "yes"),
        ({"type": "string"}, "7", "7"),
        ({"type": ["integer", "null"]}, "7", 7),
        ({"type": ["string", "integer"]}, "7", "7"),
        ({"type": ["integer", "number"]}, 5.0, 5.0),
        (NULLABLE, "7", 7),
        (NULLABLE, 7.0, 7),
        ({"oneOf": [INTEGER, {"type": "boolean"}]}, "true", True),
        ({"anyOf": [{"type": "string"}, INTEGER]}, "7", "7"),
        ({"anyOf": [{"type": "string", "enum": ["all"]}, INTEGER]}, "7", 7),
        ({"anyOf": [{"type": "string", "enum": ["all"]}, INTEGER]}, "all", "all"),
        ({"allOf": [INTEGER]}, "7", 7),
        ({"$ref": "#/$defs/count"}, "7", 7),
        ({"type": "array", "items": INTEGER}, ["1", 2.0, 3], [1, 2, 3]),
        ({"type": "object", "properties": {"n": NULLABLE}}, {"n": "7"}, {"n": 7}),
        ({"type": "object", "properties": {"n": INTEGER}}, {"n": None}, {}),
        ({}, "7", "7"),
        (True, "7", "7"),
    ],
)
def test_value_becomes_what_its_schema_wants(schema: Json, value: Json, fitted: Json) -> None:
    whole = {"properties": {"x": schema}, "$defs": {"count": INTEGER}}
    result = fit_arguments({"x": value}, whole)
    assert result == {"x": fitted}
    assert type(result["x"]) is type(fitted)


@pytest.mark.parametrize(
    ("schema", "required", "arguments", "fitted"),
    [
        (INTEGER, [], {"x": None}, {}),
        (INTEGER, [], {}, {}),
        (INTEGER, ["x"], {"x": None}, {"x": None}),
        (INTEGER, ["x"], {}, {}),
        (NULLABLE, [], {"x": None}, {"x": None}),
        (NULLABLE, [], {}, {}),
        (NULLABLE, ["x"], {}, {"x": None}),
        ({"type": ["string", "null"]}, ["x"], {}, {"x": None}),
        ({}, ["x"], {}, {}),
        ({}, [], {"x": None}, {"x": None}),
        ({"$ref": "#/$defs/nullable"}, ["x"], {}, {"x": None}),
        ({"enum": ["a", "b"]}, [], {"x": None}, {}),
    ],
)
def test_null_and_missing_are_the_same_for_an_optional_argument(
    schema: Json, required: list[str], arguments: Json, fitted: Json
) -> None:
    whole = {"properties": {"x": schema}, "required": required, "$defs": {"nullable": NULLABLE}}
    assert fit_arguments(arguments, whole) == fitted


def test_argument_without_a_property_stays() -> None:
    assert fit_arguments({"x": None, "y": "1"}, {"properties": {}}) == {"x": None, "y": "1"}
    assert fit_arguments({"a": "1"}, {}) == {"a": "1"}


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"x": {"$ref": "#/properties/x"}}},
        {"properties": {"x": {"anyOf": [{"$ref": "#/properties/x"}] * 3}}},
        {"properties": {"x": {"allOf": [{"$ref": "#/properties/x"}] * 3}}},
        {"properties": {"x": {"$ref": "#/nowhere"}}, "required": 7},
        {"properties": 7},
        {"properties": {"x": {}}, "required": [{}, ["x"], 7]},
    ],
)
def test_schema_that_refers_to_itself_or_is_wrong_changes_nothing(schema: Json) -> None:
    assert fit_arguments({"x": "1"}, schema) == {"x": "1"}


def _schemas() -> st.SearchStrategy[Json]:
    plain = st.sampled_from(["integer", "number", "boolean", "null", "string"])
    types = plain.map(lambda name: {"type": name})
    return st.recursive(
        types | st.just({}),
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3).map(lambda each: {"anyOf": each}),
            inner.map(lambda each: {"type": "array", "items": each}),
            st.dictionaries(st.sampled_from("ab"), inner).map(
                lambda each: {"type": "object", "properties": each, "required": [*each]}
            ),
        ),
        max_leaves=6,
    )


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["5", "5.0", "x", "true", "", 5.0]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=6,
)


@given(_schemas(), _VALUES)
def test_value_that_is_valid_is_valid_afterwards(schema: Json, value: Json) -> None:
    whole = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    check = check_of(whole, "arguments")
    if not check({"x": value}):
        assert check(fit_arguments({"x": value}, whole)) == ""


@given(_schemas(), _VALUES)
def test_fitting_twice_is_the_same_as_once(schema: Json, value: Json) -> None:
    whole = {"type": "object", "properties": {"x": schema}}
    once = fit_arguments({"x": value}, whole)
    assert fit_arguments(once, whole) == once


@given(st.integers(), st.sampled_from(["{}", "{}.0", "{}.", " {} ", "{}.000"]), st.booleans())
def test_every_spelling_of_an_integer_becomes_that_integer(
    number: int, spelling: str, is_in_any_of: bool
) -> None:
    schema = NULLABLE if is_in_any_of else INTEGER
    text = spelling.format(number)
    assert fit_arguments({"x": text}, {"properties": {"x": schema}}) == {"x": number}
