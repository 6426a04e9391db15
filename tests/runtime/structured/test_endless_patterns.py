"""A regular expression in a schema that takes for ever holds up nobody, and leaves no process behind."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from axe_lsp.runtime.errors import RunError, UnfitAnswerError
from axe_lsp.runtime.structured.schemas import check_of
from support.engines import agent, bench, running
from support.processes import children_of
from support.scripted_provider import Says, ScriptedProvider

pytestmark = pytest.mark.process

ENDLESS = "^(a+)+$"
VICTIM = "a" * 60 + "!"
TOO_LONG = "can't be checked: a pattern of its schema takes too long on it"


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


async def test_an_answer_that_a_pattern_chokes_on_holds_up_nothing_else(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-trap", *[Says(json.dumps({"word": VICTIM}))] * 3)
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.01)
            turns += 1

    async with bench(provider, tmp_path, trap("output")) as work, running(turn()):
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
