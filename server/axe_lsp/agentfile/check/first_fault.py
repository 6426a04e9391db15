"""The first reason for which a text is no agent, and where it is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from axe_lsp.agentfile.check.check import check
from axe_lsp.agentfile.check.problem import DefinitionError
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange


def checked_values(text: str) -> Mapping[str, Any]:
    """Return the values of an agent file. Raises DefinitionError with the first fault in axe's order."""
    parse = Parse(text)
    values = _values(parse)
    fatal = [problem for problem in check(parse) if problem.fatal]
    if not fatal:
        return values
    first = min(fatal, key=lambda problem: problem.order)
    line, column = _place(parse, first.range)
    is_parse_error = first.code == "wrong-type"
    raise DefinitionError(first.message, line, column, is_parse_error=is_parse_error)


def read_values(text: str) -> Mapping[str, Any]:
    """Return the values of a file of another dialect. Raises DefinitionError if it is not TOML."""
    return _values(Parse(text))


def _values(parse: Parse) -> Mapping[str, Any]:
    if parse.values is None:
        syntax = parse.problems[0]
        line, column = _place(parse, syntax.range)
        message = f"line {line}, column {column}: {syntax.message}"
        raise DefinitionError(message, line, column, is_parse_error=True)
    return parse.values


def _place(parse: Parse, where: TextRange) -> tuple[int, int]:
    """Line and column at which a range starts, from 1, in code points."""
    line, column = parse.lines.position(where.start, "utf-32")
    return line + 1, column + 1
