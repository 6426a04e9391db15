"""The first reason for which a text is no agent, and where it is written.

For a file in which nothing is wrong its values are enough (plain_values.py), so a run imports this only for others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from axe_lsp.agentfile.check.check import check
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange


class Fault(Struct, frozen=True):
    """A reason in axe's words; `is_parse_error` when the text could not be decoded.

    `line` and `column` count from 1, columns in code points.
    """

    message: str
    line: int
    column: int
    is_parse_error: bool


def checked_values(text: str) -> Mapping[str, Any] | Fault:
    """The values of an agent file, or the first fault in axe's order."""
    parse = Parse(text)
    if parse.values is None:
        return _syntax_fault(parse)
    fatal = [problem for problem in check(parse) if problem.fatal]
    if not fatal:
        return parse.values
    first = min(fatal, key=lambda problem: problem.order)
    return _fault(parse, first.message, first.range, first.code == "wrong-type")


def read_values(text: str) -> Mapping[str, Any] | Fault:
    """The values of a file of another dialect, or why it has none."""
    parse = Parse(text)
    return parse.values if parse.values is not None else _syntax_fault(parse)


def _syntax_fault(parse: Parse) -> Fault:
    syntax = parse.problems[0]
    line, column = _place(parse, syntax.range)
    message = f"line {line}, column {column}: {syntax.message}"
    return Fault(message, line, column, is_parse_error=True)


def _fault(parse: Parse, message: str, where: TextRange, is_parse_error: bool) -> Fault:
    return Fault(message, *_place(parse, where), is_parse_error)


def _place(parse: Parse, where: TextRange) -> tuple[int, int]:
    """Line and column at which a range starts, from 1, in code points."""
    line, column = parse.lines.position(where.start, "utf-32")
    return line + 1, column + 1
