"""What is said of values that do not fit a schema."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from axe_lsp.runtime.structured.schemas import canonical_json, check_of, object_schema

POINT = {
    "type": "object",
    "required": ["x", "y"],
    "properties": {
        "x": {"type": "integer", "minimum": 0},
        "y": {"type": ["integer", "null"]},
        "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
        "how": {"enum": ["fast", "slow", None]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
    },
    "additionalProperties": False,
}


@pytest.mark.req("002-10")
@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ({"x": 1, "y": None}, ""),
        ({"x": 1.0, "y": 2, "tags": ["a"]}, ""),
        ([], "input must be of type object, not array"),
        ({"y": 1}, "input.x is missing"),
        ({}, "input.x, input.y are missing"),
        ({"x": True, "y": 1}, "input.x must be of type integer, not boolean"),
        ({"x": 1, "y": "1"}, "input.y must be of type integer or null, not string"),
        ({"x": -1, "y": 1}, "input.x may not be less than 0"),
        ({"x": 1, "y": 1, "how": "ünder"}, 'input.how must be one of ["fast","slow",null]'),
        (
            {"x": 1, "y": 1, "name": "A"},
            'input.name must match the regular expression "^[a-z]+$"',
        ),
        (
            {"x": 1, "y": 1, "tags": ["a", 5]},
            "input.tags[1] must be of type string, not integer",
        ),
        (
            {"x": "a", "y": 1, "name": "toolong"},
            "input.x must be of type integer, not string; "
            "input.name may not have more characters than 5",
        ),
        (
            {"x": 1, "y": 1, "z": 1},
            "input.z is unknown",
        ),
        (
            {"x": 1, "y": 1, "z": 1, "a b": 1},
            'input.z, input["a b"] are unknown',
        ),
    ],
)
def test_a_complaint_names_places_and_reasons(value: Any, complaint: str) -> None:
    assert check_of(POINT, "input")(value) == complaint


def test_of_several_alternatives_the_nearest_is_named() -> None:
    schema = {
        "anyOf": [
            {"type": "string"},
            {"type": "object", "required": ["path"], "properties": {"path": {"type": "string"}}},
        ]
    }
    assert check_of(schema, "output")({"path": 1}) == (
        "output.path must be of type string, not integer"
    )


def test_names_that_are_no_words_are_quoted() -> None:
    schema = {"properties": {"a b": {"type": "null"}}}
    assert check_of(schema, "input")({"a b": 1}) == 'input["a b"] must be of type null, not integer'


def test_a_complaint_is_short_however_much_is_wrong() -> None:
    many = check_of({"items": {"type": "string"}}, "output")([1] * 1000)
    assert many.count("must be") == 5
    long = check_of({"not": {}}, "output")("x" * 10_000)
    assert len(long) < 400


def test_schemas_and_values_without_end_are_no_disaster() -> None:
    assert check_of({"$ref": "#"}, "input")(1) == "input is nested too deeply"


def test_references_inside_a_schema_are_followed_and_nothing_is_fetched() -> None:
    schema = {"$defs": {"n": {"type": "integer"}}, "properties": {"x": {"$ref": "#/$defs/n"}}}
    assert "not string" in check_of(schema, "input")({"x": "a"})


def test_objects_need_not_say_that_they_are_objects() -> None:
    assert object_schema({"required": ["a"]}) == {"type": "object", "required": ["a"]}


def test_equal_values_are_written_alike() -> None:
    assert canonical_json({"b": [1, None], "a": "é"}) == '{"a":"é","b":[1,null]}'


@pytest.mark.process
def test_the_library_is_imported_when_a_schema_is_used() -> None:
    code = (
        "import sys, axe_lsp.cli.live_run, axe_lsp.hosting.host.engine_factory\n"
        "assert 'jsonschema' not in sys.modules\n"
        "from axe_lsp.runtime.structured.schemas import check_of; check_of({}, 'x')\n"
        "assert 'jsonschema' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
