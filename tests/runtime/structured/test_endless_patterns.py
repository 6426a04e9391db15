"""A schema that takes for ever, as by a regular expression, holds up nobody and leaves no process behind."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.runtime.errors import RunError, UnfitAnswerError
from axe_lsp.runtime.structured.schemas import check_of
from support.engines import agent, bench, running
from support.growth import calls_of
from support.processes import children_of
from support.scripted_provider import Says, ScriptedProvider

pytestmark = pytest.mark.process

ENDLESS = "^(a+)+$"
VICTIM = "a" * 60 + "!"
TOO_LONG = "can't be checked: a pattern of its schema takes too long on it"


MOST_CALLS = 1_500_000
"""Calls until a quick check is given up, at most."""


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"properties": {"word": {"pattern": ENDLESS}}}, {"word": VICTIM}),
        ({"patternProperties": {ENDLESS: True}, "additionalProperties": False}, {VICTIM: 1}),
        (
            {"anyOf": [{"patternProperties": {ENDLESS: True}}], "unevaluatedProperties": False},
            {VICTIM: 1},
        ),
    ],
)
def test_a_pattern_that_takes_for_ever_is_given_up(schema: object, value: object) -> None:
    assert isinstance(schema, dict)
    assert check_of(schema, "input")(value) == f"input {TOO_LONG}"


DIALECT = {"$schema": "https://json-schema.org/draft/2020-12/schema"}


def doubled(count: int, **more: Any) -> dict[str, Any]:
    """Return schemas of which each applies the next one twice."""
    twice = {
        f"d{n}": {**more, "allOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]}
        for n in range(count)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**twice, f"d{count}": {"type": "object"}}}


def doubled_in_one_schema(count: int, keyword: str) -> dict[str, Any]:
    """Return the same by two references, which a keyword about all that is left over follows by itself."""
    twice = {
        f"d{n}": {"$ref": f"#/$defs/d{n + 1}", "$dynamicRef": f"#/$defs/d{n + 1}"}
        for n in range(count)
    }
    return {keyword: False, "$ref": "#/$defs/d0", "$defs": {**twice, f"d{count}": {}}}


UNEQUAL = [{"a": [0] * 500 + [n]} for n in range(1000)]
"""Values of which each pair has to be looked through to its end."""


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (doubled(40), {}),
        (doubled(40, **DIALECT), {}),
        ({**DIALECT, "anyOf": [{"$ref": "#/$defs/d0"}], "$defs": doubled(40)["$defs"]}, {}),
        (doubled_in_one_schema(20, "unevaluatedProperties"), {"a": 1}),
        (doubled_in_one_schema(20, "unevaluatedItems"), [1]),
        ({"properties": {"a": {"uniqueItems": True}}}, {"a": UNEQUAL}),
        ({"properties": {"a": {"items": {"enum": UNEQUAL}}}}, {"a": UNEQUAL}),
    ],
    ids=[
        "references that double",
        "in a dialect",
        "at the root",
        "for unevaluated properties",
        "for unevaluated items",
        "unique items",
        "an enum of tables",
    ],
)
def test_a_schema_that_takes_for_ever_is_given_up(schema: dict[str, Any], value: object) -> None:
    check = check_of(schema, "input")
    quick = check.quick
    answers: list[str | None] = []
    calls = calls_of(lambda: answers.append(quick(value)))
    assert calls < MOST_CALLS
    assert answers == [None]
    assert check(value) == "input can't be checked: its schema takes too long on it"


def test_a_large_value_is_not_written_into_a_message_for_each_alternative() -> None:
    kinds = [{"type": "null", "title": str(n)} for n in range(3000)]
    check = check_of({"properties": {"a": {"anyOf": kinds}}}, "input")
    assert "input can't be checked: " in check({"a": "x" * 10_000_000})


def test_what_takes_longer_than_others_may_wait_is_judged_all_the_same() -> None:
    check = check_of({"properties": {"a": {"items": {"type": "integer"}}}}, "input")
    value = {"a": [*range(20_000), "x"]}
    assert check.quick(value) is None
    assert check(value) == "input.a[20000] must be of type integer, not string"


def test_numbers_without_end_are_no_disaster() -> None:
    check = check_of({"properties": {"a": {"multipleOf": 0.1}}}, "input")
    assert check({"a": 10**400}) == "input has a number that is too large to be checked"


def test_patterns_mean_what_they_always_meant() -> None:
    check = check_of({"properties": {"a": {"pattern": "^(?!x)[a-z]+$", "maxLength": 3}}}, "input")
    assert check({"a": "abc"}) == ""
    assert check({"a": "\ud800"}).startswith("input.a must match the regular expression")
    assert check({"a": "xyzz"}) == (
        'input.a must match the regular expression "^(?!x)[a-z]+$"; '
        "input.a may not have more characters than 3"
    )


def trap(kind: str) -> dict[str, str]:
    schema = {"type": "object", "properties": {"word": {"type": "string", "pattern": ENDLESS}}}
    return agent("trap", **{kind: schema})


@pytest.mark.parametrize("schema", [None, doubled(40)], ids=["pattern", "references"])
async def test_an_answer_that_a_schema_chokes_on_holds_up_nothing_else(
    provider: ScriptedProvider, tmp_path: Path, schema: dict[str, Any] | None
) -> None:
    provider.script("m-trap", *[Says(json.dumps({"word": VICTIM}))] * 3)
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.01)
            turns += 1

    agents = trap("output") if schema is None else agent("trap", output=schema)
    async with bench(provider, tmp_path, agents) as work, running(turn()):
        with pytest.raises(UnfitAnswerError, match="takes too long"):
            await work.run("trap", "go")
    assert turns > 50, "three seconds of the processor have passed elsewhere"


async def test_an_input_that_a_pattern_chokes_on_leaves_no_process_behind(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    before = children_that_live()  # Those of other tests.
    async with bench(provider, tmp_path, trap("input")) as work:
        with pytest.raises(RunError, match="takes too long"):
            await work.run("trap", input={"word": VICTIM})
    assert children_that_live() - before == set()


def children_that_live() -> set[int]:
    return {pid for pid in children_of(os.getpid()) if Path(f"/proc/{pid}/exe").exists()}
