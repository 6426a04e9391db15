"""Split a Markdown file into front matter and body, and parse the front matter, as each program does it.

A program's `Syntax` says where a front matter begins and ends, which YAML library reads it, and which lines are read a second
time as if they stood in quotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from msgspec import Struct

from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange, difference
from axe_lsp.agentfile.text.toml import SyntaxProblem
from axe_lsp.agentfile.text.tree import Body, Document, KeyPart, Table, Value, ValueKind
from axe_lsp.agentfile.text.yaml import (
    BUN,
    JS_YAML_3,
    JS_YAML_4,
    YAML_1_1,
    Flavor,
    Second,
    Tree,
    parse_yaml,
)


class Parts(NamedTuple):
    """Where the front matter of a text is, its markers left out, and where the body begins.

    `matter` is None if the program sees no front matter, for the reason `fault`. `end` is the marker at its end.
    """

    matter: TextRange | None
    body: int
    end: TextRange
    fault: str = ""


class Syntax(Struct, frozen=True):
    """How one program reads front matter. `mend` is its second try, if it has one; a list of agents is one if it `takes_lists`.

    Of a program that `is_lenient`, nobody has recorded what a fault in YAML does, so none is a problem.

    `consequence` is what happens to a file whose front matter is no table of keys, for messages.
    """

    flavor: Flavor
    split: Callable[[str], Parts]
    mend: Callable[[str, TextRange], Second] | None = None
    takes_lists: bool = False
    is_lenient: bool = False
    consequence: str = ""


class MarkdownParse(Parse):
    """The front matter of a text as the root table of a document. The body is not parsed."""

    def __init__(self, text: str, syntax: Syntax, before: Parse | None = None) -> None:
        self.syntax = syntax
        super().__init__(text, None)
        if before is not None:
            self.changed = difference(before.text, text)

    def _read(self) -> None:
        self.parts = self.syntax.split(self.text)
        self.tree, self.is_mended = self._trees()
        self.problems = tuple(self._faults())
        root = self.tree.root
        entries = root.entries if root is not None else ()
        where = self.parts.matter or TextRange(0, 0)
        table = Table(where, TextRange(0, 0), False, True, (), Body(None, entries))
        self.document = Document((table,), self.tree.comments)

    def _trees(self) -> tuple[Tree, bool]:
        """Return the tree of the front matter, and whether only the second try has read it."""
        where = self.parts.matter
        if where is None:
            return Tree(None, (), (), ()), False
        tree = parse_yaml(self.text, where, self.syntax.flavor)
        if tree.problems and self.syntax.mend is not None:
            second = self.syntax.mend(self.text, where)
            mended = parse_yaml(self.text, where, self.syntax.flavor, second)
            if not mended.problems:
                return mended, True
            return mended if len(mended.problems) <= len(tree.problems) else tree, False
        return tree, False

    def _faults(self) -> Iterator[SyntaxProblem]:
        if self.parts.matter is None or self.syntax.is_lenient:
            return
        consequence = self.syntax.consequence
        for fault in self.tree.problems:
            yield fault._replace(message=f"{fault.message}: {consequence}")
        root = self.tree.root
        if self.is_list or root is None or self.tree.problems:
            return
        if root.kind is not ValueKind.INLINE_TABLE:
            first = TextRange(root.range.start, self._line_end(root.range.start))
            yield SyntaxProblem(
                first, f"the front matter is not a table of keys, but {_a(root)}: {consequence}"
            )

    def _line_end(self, start: int) -> int:
        return min(self.text.find("\n", start) % (len(self.text) + 1), len(self.text))

    @property
    def is_list(self) -> bool:
        """Whether the front matter is a list of agents."""
        root = self.tree.root
        return self.syntax.takes_lists and root is not None and root.kind is ValueKind.ARRAY

    @property
    def duplicates(self) -> tuple[KeyPart, ...]:
        """The keys that a later one of the same name replaces."""
        return self.tree.duplicates

    @property
    def first_line(self) -> TextRange:
        """The range of the first line that is not blank."""
        start = len(self.text) - len(self.text.lstrip("\ufeff \t\r\n"))
        return TextRange(start, self._line_end(start))

    @cached_property
    def values(self) -> Mapping[str, Any] | None:
        """The values of the front matter; None if it has none or is not read."""
        root = self.tree.root
        return root.decoded if root is not None and not self.problems else None

    @property
    def body(self) -> str:
        """The text behind the front matter."""
        return self.text[self.parts.body :]


def _a(root: Value) -> str:
    return "a list" if root.kind is ValueKind.ARRAY else "a text"


# -- where front matter is

_NOWHERE = TextRange(0, 0)
_BOM = "\ufeff"


def _without(text: str, fault: str) -> Parts:
    return Parts(None, 0, _NOWHERE, fault)


def _first_marker_fault(text: str) -> str:
    """Say what stands in place of the `---` at the beginning."""
    start = text.removeprefix(_BOM)
    if start.startswith("----"):
        return "the first line has more than three dashes"
    if not start.startswith("---"):
        return "the first line is not `---`"
    return "the first `---` has no end, or something behind it"


def split_claude(text: str) -> Parts:
    """Split as Claude Code 2.1.332 does: the first `---` anywhere ends the front matter, in a value, too."""
    opening = re.match(r"\ufeff?---[^\S\r\n]*\r?\n", text)
    if opening is None:
        return _without(text, _first_marker_fault(text))
    end = text.find("---", opening.end())
    if end < 0:
        return _without(text, "no `---` ends the front matter")
    marker = TextRange(end, end + 3)
    return Parts(TextRange(opening.end(), end), end + 3, marker)


def split_copilot(text: str) -> Parts:
    """Split as Copilot CLI 1.0.102 does: a line of three dashes ends the front matter."""
    opening = re.match(r"\ufeff?---[ \t]*\r?\n", text)
    if opening is None:
        return _without(text, _first_marker_fault(text))
    closing = re.compile(r"^---[ \t]*\r?$", re.MULTILINE).search(text, opening.end())
    if closing is None:
        return _without(text, "no line `---` ends the front matter")
    return Parts(
        TextRange(opening.end(), closing.start()), closing.end(), TextRange(*closing.span())
    )


def split_opencode(text: str) -> Parts:
    """Split as gray-matter does, with which opencode 1.18 reads: a line that begins with `---` is the end."""
    start = 1 if text.startswith(_BOM) else 0
    if not text.startswith("---", start) or text.startswith("----", start):
        return _without(text, _first_marker_fault(text))
    line_end = text.find("\n", start)
    line_end = line_end if line_end >= 0 else len(text)
    language = text[start + 3 : line_end].strip()
    if language not in ("", "yaml", "yml", "json"):
        return _without(text, f"`---{language}` is not YAML")
    end = text.find("\n---", line_end)
    if end < 0:
        return Parts(TextRange(line_end, len(text)), len(text), TextRange(len(text), len(text)))
    marker = TextRange(end + 1, end + 4)
    return Parts(TextRange(line_end, end + 1), end + 4, marker)


def split_gemini(text: str) -> Parts:
    """Split as gemini-cli 0.61 does: the markers are lines of exactly three dashes."""
    match = re.match(r"---\r?\n([\s\S]*?)\r?\n---", text)
    if match is None:
        fault = "a byte order mark stands before `---`" if text.startswith(_BOM) else ""
        return _without(
            text, fault or _first_marker_fault(text) or "no `---` ends the front matter"
        )
    marker = TextRange(match.end() - 3, match.end())
    return Parts(TextRange(match.start(1), match.end(1)), match.end(), marker)


# -- second tries

_CLAUDE_LINE = re.compile(r"^([A-Za-z_-]+):[ \t]+(.+)$", re.MULTILINE)
_CLAUDE_SPECIAL = re.compile(r"[{}\[\]*&#!|>%@`]|: ")


def mend_claude(text: str, where: TextRange) -> Second:
    """Return the second try of Claude Code: values with characters that mean something to YAML are put in quotes.

    In a line that ends with CR LF no value is, so `: ` in it stays a fault.
    """
    plain = {}
    for match in _CLAUDE_LINE.finditer(text, where.start, where.end):
        value = match.group(2)
        if value.endswith("\r") or not _CLAUDE_SPECIAL.search(value) or _is_whole(value.strip()):
            continue
        start = match.start(2)
        plain[start] = start + len(value.rstrip())
    return Second(plain, tab_width=2)


def _is_whole(value: str) -> bool:
    """Return whether a value stands in quotes, or is a list that YAML reads."""
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return True
    if value.startswith("[") and value.endswith("]"):
        return not parse_yaml(value, TextRange(0, len(value)), BUN).problems
    return False


_OPENCODE_LINE = re.compile(r"^([A-Za-z_][A-Za-z0-9_]*)[ \t]*:[ \t]*(.+?)[ \t]*\r?$", re.MULTILINE)


def mend_opencode(text: str, where: TextRange) -> Second:
    """Return the second try of opencode: values at the top that hold a colon become block scalars."""
    plain = {}
    for match in _OPENCODE_LINE.finditer(text, where.start, where.end):
        value = match.group(2)
        if ":" in value and value[0] not in "\"'" and value not in ("|", ">"):
            plain[match.start(2)] = match.end(2)
    return Second(plain, deep=True)


LOST = "opencode loses the whole front matter: the agent has no limits, and all of the file is its prompt"

CLAUDE_SYNTAX = Syntax(
    BUN, split_claude, mend_claude, consequence="Claude Code does not load this file"
)
COPILOT_SYNTAX = Syntax(YAML_1_1, split_copilot, consequence="Copilot CLI does not load this file")
OPENCODE_SYNTAX = Syntax(JS_YAML_3, split_opencode, mend_opencode, consequence=LOST)
COMMAND_SYNTAX = Syntax(
    JS_YAML_3,
    split_opencode,
    mend_opencode,
    consequence="opencode loses the whole front matter: all of the file is the prompt",
)
LENIENT_SYNTAX = Syntax(BUN, split_opencode, mend_claude, is_lenient=True)
GEMINI_SYNTAX = Syntax(
    JS_YAML_4, split_gemini, takes_lists=True, consequence="Gemini CLI skips this file"
)
