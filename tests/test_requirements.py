"""docs/requirements.md and the marks of the tests agree."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "requirements.md"

ENTRY = re.compile(r"- \*\*(\d{3}-[\w.]+)\*\* ")
PLANNED = "*(planned)*"


def test_each_requirement_is_listed_once() -> None:
    assert [name for name, number in Counter(listed()).items() if number > 1] == []


def test_tests_carry_requirements_that_exist() -> None:
    known = set(listed())
    assert {name: place for name, place in carried() if name not in known} == {}


@pytest.mark.parametrize("document", ["000", "001", "002", "003", "004"])
def test_what_is_not_planned_is_carried_by_a_test(document: str) -> None:
    proven = dict(carried())
    entries = [name for name in listed(due=True) if name.startswith(document)]
    assert entries
    unproven = [name for name in entries if name not in proven]
    assert not unproven, f"no test carries {', '.join(unproven)}"


def test_what_a_test_proves_is_neither_planned_nor_out_of_scope() -> None:
    due = set(listed(due=True))
    assert {name: place for name, place in carried() if name not in due} == {}


def listed(due: bool = False) -> Iterator[str]:
    """Yield the requirements of the page; with `due` only those that the product meets today."""
    heading = ""
    for line in PAGE.read_text("utf-8").splitlines():
        heading = line if line.startswith("#") else heading
        entry = ENTRY.match(line)
        if entry and not (due and (line.endswith(PLANNED) or heading == "### Out of scope")):
            yield entry[1]


@cache
def carried() -> tuple[tuple[str, str], ...]:
    """Return each requirement that a mark in a test names, and where: decorators, `pytestmark`, params."""
    return tuple(
        (ast.literal_eval(argument), f"{path.relative_to(TESTS)}:{node.lineno}")
        for path in sorted(TESTS.rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and _is_mark(node.func)
        for argument in node.args
    )


def _is_mark(function: ast.expr) -> bool:
    """Return whether it is `pytest.mark.req`; to unparse every call of every test would take seconds."""
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "req"
        and ast.unparse(function) == "pytest.mark.req"
    )
