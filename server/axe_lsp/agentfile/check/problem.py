"""One problem of a file, and the error for a file with one."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.schema.agent_keys import AGENT
from axe_lsp.agentfile.schema.config_keys import CONFIG
from axe_lsp.agentfile.schema.key_spec import KeyPath, KeySpec
from axe_lsp.agentfile.text.ranges import TextRange


class Problem(Struct, frozen=True):
    """One thing that is wrong. `path` is the key's, `order` its place in axe's order of checks.

    A problem that is not `fatal` keeps nobody from running the agent. `found` is the value that is
    outside its rule, as written, and `meant` the word that should stand there instead, where there is
    no doubt. `in_header` is set where it is a table's header that is wrong.
    What `is_warning` is less severe than problems of its code are otherwise.
    """

    code: str
    range: TextRange
    message: str
    path: KeyPath
    order: int
    fatal: bool = True
    found: str = ""
    in_header: bool = False
    meant: str = ""
    is_warning: bool = False
    similar: str = ""
    obstacle: str = ""

    def moved(self, by: int) -> Problem:
        """Return the same where it stands `by` characters later."""
        return replace(self, range=self.range.moved(by))


_ORDER = {key.path: index for schema in (AGENT, CONFIG) for index, key in enumerate(schema.keys)}
_DECODING = -1
"""axe decodes the whole file before it checks anything."""


def decode_problem(spec: KeySpec, where: TextRange, message: str) -> Problem:
    return Problem("wrong-type", where, message, spec.path, _DECODING)


def problem(
    code: str,
    spec: KeySpec,
    where: TextRange,
    message: str,
    *,
    fatal: bool = True,
    found: str = "",
    meant: str = "",
) -> Problem:
    order = _ORDER.get(spec.path, 0)
    return Problem(code, where, message, spec.path, order, fatal, found, meant=meant)


class DefinitionError(ValueError):
    """The text is no agent. The message is axe's; `is_parse_error` when it could not be decoded.

    `line` and `column` count from 1, columns in code points.
    """

    def __init__(
        self, message: str, line: int, column: int, *, is_parse_error: bool = False
    ) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.is_parse_error = is_parse_error
