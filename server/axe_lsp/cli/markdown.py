"""Markdown on a terminal, while it streams: what has come is shown at once, and never written over.

Only a sign whose meaning depends on what follows is held back until that is there, and a table until its last row,
since any row may widen a column. Headings, emphasis, code, lists, quotes, links and tables that fit are styled;
everything else stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from axe_lsp.cli.markdown_layout import WordWrap, table

_RESET = "\x1b[0m"
_BOLD, _DIM, _ITALIC, _UNDERLINE, _STRUCK, _CODE = "1", "2", "3", "4", "9", "36"
"""Parameters of SGR; code is cyan."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)\n")
_MAYBE_FENCE = re.compile(r" {0,3}(`{0,2}|~{0,2}|(`{3,}|~{3,})[^\n]*)")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+")
_RULE = re.compile(r" {0,3}(-{3,}|\*{3,}|_{3,})[ \t]*\n")
_ITEM = re.compile(r"( *)[-*+] +")
_NUMBER = re.compile(r" *\d{1,9}[.)] +")
_QUOTE = re.compile(r" {0,3}> ?")
_MAYBE_BLOCK = re.compile(
    r" *((#{1,6}[ \t]*)?|>|[-*+] *|\d{1,9}([.)] *)?|(-+|\*+|_+)[ \t]*|`{0,2}|~{0,2}|(`{3,}|~{3,})[^\n]*)"
)
"""The beginning of a line that may become a block, as long as nothing else follows."""

_ROWS = re.compile(r"(?: {0,3}\|[^\n]*(?:\n|\Z))+")
_LONGEST_TABLE = 20_000

_LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\(([^()\s]{1,500})\)")
_MAYBE_LINK = re.compile(r"\[[^\[\]\n]{0,200}(\](\([^()\s]{0,500})?)?")
_PLAIN = re.compile(r"[^\\`*_~\[\n]+")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_LONGEST_CODE = 300
_WIDTH_OF_RULE = 40


class _Shown(NamedTuple):
    """The output for the beginning of the text, and the length of that beginning.

    `hang` stands below it, at the beginning of the lines into which a long line is broken.
    """

    text: str
    length: int
    hang: str = ""


class MarkdownStream:
    """One text. Its pieces may end anywhere; the result is the same.

    `width` gives the columns of the terminal, which may have changed. Long lines of prose end between words if it `wraps`.
    """

    def __init__(self, width: Callable[[], int], *, wraps: bool = False) -> None:
        self._width = width
        self._wrap = WordWrap(width) if wraps else None
        self._begin()

    def _begin(self) -> None:
        self._rest = ""
        self._styles: list[str] = []
        self._fence = ""
        self._is_line_start = True
        self._rows_as_text = 0
        """Lines that follow and look like rows, but are not shown as a table."""
        self._before = " "
        """The character before the next one: signs of emphasis depend on it."""

    def feed(self, text: str) -> str:
        """Return the output for a further piece."""
        return "".join(map(self._take, text.splitlines(keepends=True)))

    def _take(self, line: str) -> str:
        """Return the same for a line or a part of one: what is left of a long text would be copied again and again."""
        self._rest += line
        return self._show(is_all=False)

    def end(self) -> str:
        """Return the rest of the output. The next piece begins a new text."""
        shown = self._show(is_all=True)
        if self._wrap is not None:
            shown += self._wrap.end()
        shown += _RESET if self._styles else ""
        self._begin()
        return shown

    def _show(self, *, is_all: bool) -> str:
        parts: list[str] = []
        while self._rest:
            is_start = self._is_line_start
            shown = self._line_start(is_all) if is_start else self._inline(is_all)
            if shown is None:
                break
            if shown.length:
                self._before = self._rest[shown.length - 1]
            self._rest = self._rest[shown.length :]
            parts.append(self._wrapped(shown, is_start))
        return "".join(parts)

    def _wrapped(self, shown: _Shown, is_start: bool) -> str:
        text = shown.text
        if self._wrap is None:
            return text
        if self._fence or (is_start and text.endswith("\n")):
            return self._wrap.line(text)
        return self._wrap.prefix(text, shown.hang) if is_start else self._wrap.feed(text)

    # The beginning of a line. None stands for: that depends on what follows.

    def _line_start(self, is_all: bool) -> _Shown | None:
        rest = self._rest
        fence = _FENCE.match(rest)
        if fence is not None and self._ends_or_begins(fence[1], fence[2]):
            style = "".join((self._change([_DIM]), fence[0].rstrip("\n"), self._change([]), "\n"))
            self._fence = "" if self._fence else fence[1]
            return _Shown(style + self._change([_CODE] if self._fence else []), fence.end())
        may_be = _MAYBE_FENCE if self._fence else _MAYBE_BLOCK
        if not is_all and may_be.fullmatch(rest):
            return None
        if self._fence:
            self._is_line_start = False
            return _Shown("", 0)
        if self._rows_as_text:
            self._rows_as_text -= 1
        elif rows := _ROWS.match(rest):
            return self._rows(rows[0], rest[rows.end() :], is_all)
        return self._block(rest)

    def _rows(self, rows: str, after: str, is_all: bool) -> _Shown | None:
        """Return lines that begin with a bar: drawn as a table if the second one is its delimiter row."""
        is_whole = is_all or (rows.endswith("\n") and after.strip(" ") != "")
        if not is_whole and len(rows) < _LONGEST_TABLE:
            return None
        drawn = table(rows, self._cell, self._width()) if is_whole else None
        if drawn is not None:
            return _Shown(drawn, len(rows))
        self._rows_as_text = rows.rstrip("\n").count("\n")
        return self._block(rows)

    def _cell(self, text: str, is_head: bool) -> str:
        stream = MarkdownStream(self._width)
        stream._is_line_start = False
        begin = stream._change([_BOLD]) if is_head else ""
        return begin + stream.feed(text) + stream.end()

    def _block(self, rest: str) -> _Shown:
        if rule := _RULE.match(rest):
            line = f"{self._change([_DIM])}{'─' * _WIDTH_OF_RULE}{self._change([])}\n"
            return _Shown(line, rule.end())
        if quote := _QUOTE.match(rest):  # Another block may follow.
            bar = f"{self._change([_DIM])}│ {self._change([])}"
            return _Shown(bar, quote.end(), bar)
        self._is_line_start = False
        if heading := _HEADING.match(rest):
            is_first = heading[0].count("#") == 1
            return _Shown(self._change([_BOLD, _UNDERLINE] if is_first else [_BOLD]), heading.end())
        if item := _ITEM.match(rest):
            return _Shown(f"{item[1]}• ", item.end(), f"{item[1]}  ")
        if number := _NUMBER.match(rest):
            return _Shown(number[0], number.end(), " " * number.end())
        return _Shown("", 0)

    def _ends_or_begins(self, fence: str, info: str) -> bool:
        """Return whether a line of that fence ends the code that is open, or begins one."""
        if not self._fence:
            return "`" not in info
        return fence.startswith(self._fence) and not info.strip()

    # The rest of a line.

    def _inline(self, is_all: bool) -> _Shown | None:
        rest = self._rest
        if rest[0] == "\n":
            return self._line_end()
        if self._fence:
            return _Shown(line := rest.partition("\n")[0], len(line))
        if plain := _PLAIN.match(rest):
            return _Shown(plain[0], plain.end())
        return _INLINE[rest[0]](self, is_all)

    def _line_end(self) -> _Shown:
        self._is_line_start = True
        end = "" if self._fence else self._change([])
        return _Shown(f"{end}\n", 1)

    def _escape(self, is_all: bool) -> _Shown | None:
        if len(self._rest) == 1 and not is_all:
            return None
        escaped = _ESCAPED.match(self._rest)
        return _Shown(escaped[1], 2) if escaped is not None else _Shown("\\", 1)

    def _backticks(self, is_all: bool) -> _Shown | None:
        line, newline, _ = self._rest.partition("\n")
        run = _run(line)
        code = re.match(rf"{run}(?!`)(.*?)(?<!`){run}(?!`)", line)
        if code is None:
            is_over = newline or is_all or len(line) > _LONGEST_CODE
            return _Shown(run, len(run)) if is_over else None
        if code.end() == len(self._rest) and not is_all:
            return None  # A further one would make it a part of the code.
        styles = list(self._styles)
        text = code[1][1:-1] if code[1][:1] == code[1][-1:] == " " and code[1].strip() else code[1]
        return _Shown(f"{self._change([*styles, _CODE])}{text}{self._change(styles)}", code.end())

    def _emphasis(self, is_all: bool) -> _Shown | None:
        run = _run(self._rest)
        if len(run) == len(self._rest) and not is_all:
            return None
        after = self._rest[len(run) : len(run) + 1] or " "
        wanted = (_STRIKES if run[0] == "~" else _STRESSES).get(len(run))
        if wanted is None or (run[0] == "_" and self._before.isalnum() and after.isalnum()):
            return _Shown(run, len(run))
        if all(style in self._styles for style in wanted) and not self._before.isspace():
            return _Shown(
                self._change([each for each in self._styles if each not in wanted]), len(run)
            )
        if after.isspace():  # Nothing that follows can be emphasized.
            return _Shown(run, len(run))
        return _Shown(self._change([*self._styles, *wanted]), len(run))

    def _link(self, is_all: bool) -> _Shown | None:
        if link := _LINK.match(self._rest):
            styles = list(self._styles)
            text = f"{self._change([*styles, _UNDERLINE])}{link[1]}{self._change(styles)}"
            if link[2] == link[1]:
                return _Shown(text, link.end())
            place = f"{self._change([*styles, _DIM])} ({link[2]}){self._change(styles)}"
            return _Shown(text + place, link.end())
        if not is_all and _MAYBE_LINK.fullmatch(self._rest):
            return None
        return _Shown("[", 1)

    def _change(self, styles: list[str]) -> str:
        """Return the sequence that puts styles in force, in place of those that were."""
        if styles == self._styles:
            return ""
        self._styles = styles
        return f"{_RESET}\x1b[{';'.join(styles)}m" if styles else _RESET


_STRESSES = {1: [_ITALIC], 2: [_BOLD], 3: [_BOLD, _ITALIC]}
_STRIKES = {2: [_STRUCK]}

_INLINE: dict[str, Callable[[MarkdownStream, bool], _Shown | None]] = {
    "\\": MarkdownStream._escape,
    "`": MarkdownStream._backticks,
    "*": MarkdownStream._emphasis,
    "_": MarkdownStream._emphasis,
    "~": MarkdownStream._emphasis,
    "[": MarkdownStream._link,
}


def _run(text: str) -> str:
    """Return the first character of a text, as often as it stands there."""
    return text[: len(text) - len(text.lstrip(text[0]))]
