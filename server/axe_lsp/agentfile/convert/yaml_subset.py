"""The part of YAML that front matter of agents is written in, and what its authors mean where it is not YAML.

Agent files in the wild are often not valid YAML: descriptions have unquoted colons and examples in them.
Programs differ on these: Claude Code 2.1.197 drops the whole front matter (`claude plugin validate`, and
anthropics/claude-code 86748), others refuse the file. Here a plain value goes on to the end of its line.
Libraries for YAML reject such files, and none of them keeps comments. Mappings, lists, flow collections,
quoted and block scalars are read; anchors and tags are text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from axe_lsp.agentfile.convert.intermediate import ConversionError

_KEY = re.compile(
    r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#:'"\[\]{},&*!|>%@`][^\r\n:]*?)[ \t]*:(?=[ \t]|$)"""
)
_BLOCK = re.compile(r"([|>])([+-]?)([1-9]?)([+-]?)[ \t]*(#.*)?$")
_COMMENT = re.compile(r"(?:^|[ \t]+)(#.*)$")
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DEPTH = 50
"""Nesting that no agent file has."""

_TOO_DEEP = "the values are nested too deep"
_WORDS: Mapping[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


class FrontMatter(NamedTuple):
    """The values, and the comments with the key that each belongs to ("" behind the last one)."""

    values: dict[str, Any]
    comments: list[tuple[str, str]]


class _Line(NamedTuple):
    number: int
    indent: int
    text: str
    """Without the indentation."""


def read_yaml(text: str, first_line: int = 1) -> FrontMatter:
    """The mapping that a text holds; `first_line` is the number of its first line.

    Raises ConversionError, with the line, for what is no mapping of this kind.
    """
    return _Reader(text, first_line).front_matter()


class _Reader:
    def __init__(self, text: str, first_line: int) -> None:
        self._lines = [_line(number, raw) for number, raw in enumerate(_split(text), first_line)]
        self._next = 0
        self._depth = 0
        self._comments: list[str] = []
        """The comments that do not belong to a key of the top level yet."""

    def front_matter(self) -> FrontMatter:
        values: dict[str, Any] = {}
        comments: list[tuple[str, str]] = []
        while (line := self._peek()) is not None:
            if line.indent:
                raise ConversionError("this line is indented, but nothing is above it", line.number)
            key, value = self._entry(line, 0)
            if key in values:
                raise ConversionError(f"`{key}` is here a second time", line.number)
            values[key] = value
            below = self._below_value()
            comments += [(key, each) for each in self._comments]
            self._comments = below
        return FrontMatter(values, comments + [("", each) for each in self._comments])

    def _below_value(self) -> list[str]:
        """Take back the comments behind the value that was just read, which belong to the next key."""
        below: list[str] = []
        for index in range(self._next - 1, -1, -1):
            line = self._lines[index]
            if line.text and self._comments[-1:] != [line.text]:
                break
            below += [self._comments.pop()] if line.text else []
        return below[::-1]

    # -- lines

    def _peek(self) -> _Line | None:
        """The next line that is neither blank nor a comment."""
        while self._next < len(self._lines):
            line = self._lines[self._next]
            if line.text and not line.text.startswith("#"):
                if "\t" in line.text[:1]:
                    raise ConversionError("the indentation has a tab", line.number)
                return line
            if line.text:
                self._comments.append(line.text)
            self._next += 1
        return None

    # -- blocks

    def _entry(self, line: _Line, indent: int) -> tuple[str, Any]:
        match = _KEY.match(line.text)
        if match is None:
            message = "this line is neither `key: value` nor indented as part of the value above"
            raise ConversionError(message, line.number)
        self._next += 1
        key = str(_quoted(match[1], line.number)) if match[1][0] in "\"'" else match[1]
        return key, self._value(line.text[match.end() :].strip(), line, indent)

    def _value(self, text: str, line: _Line, indent: int, *, is_item: bool = False) -> Any:
        """The value after a key or a hyphen. `self._next` is the line below."""
        if not text or text.startswith("#"):
            self._comments += [text] if text else []
            return self._nested(indent, is_item=is_item)
        block = _BLOCK.match(text)
        if block is not None:
            self._comments += [block[5]] if block[5] else []
            return self._block_scalar(block, indent)
        if text[0] in "\"'":
            return self._quoted_scalar(text, line, indent)
        if text[0] in "[{":
            return self._flow(text, line, indent)
        return self._plain(text, indent)

    def _nested(self, indent: int, *, is_item: bool) -> Any:
        line = self._peek()
        if line is None:
            return None
        if _is_item(line.text) and (
            line.indent > indent or (line.indent == indent and not is_item)
        ):
            return self._items(line.indent)
        if line.indent <= indent:
            return None
        if _KEY.match(line.text) is not None:
            return self._mapping(line.indent)
        self._next += 1
        return self._value(line.text, line, indent)

    def _deeper_by(self, change: int) -> None:
        """Enter or leave a block."""
        self._depth += change
        if self._depth > _DEPTH:
            raise ConversionError(_TOO_DEEP, self._lines[self._next].number)

    def _mapping(self, indent: int) -> dict[str, Any]:
        self._deeper_by(+1)
        values: dict[str, Any] = {}
        while (line := self._peek()) is not None and line.indent == indent:
            key, value = self._entry(line, indent)
            if key in values:
                raise ConversionError(f"`{key}` is here a second time", line.number)
            values[key] = value
        if line is not None and line.indent > indent:
            raise ConversionError("this line is indented further than the one above", line.number)
        self._deeper_by(-1)
        return values

    def _items(self, indent: int) -> list[Any]:
        self._deeper_by(+1)
        items: list[Any] = []
        while (line := self._peek()) is not None and line.indent == indent and _is_item(line.text):
            rest = line.text[1:].lstrip(" ")
            inner = indent + len(line.text) - len(rest)
            if _is_item(rest) or (rest[:1] not in "[{" and _KEY.match(rest) is not None):
                self._lines[self._next] = _Line(line.number, inner, rest)
                items.append(self._items(inner) if _is_item(rest) else self._mapping(inner))
                continue
            self._next += 1
            items.append(self._value(rest.strip(), line, indent, is_item=True))
        self._deeper_by(-1)
        return items

    # -- scalars

    def _block_scalar(self, header: re.Match[str], indent: int) -> str:
        lines = self._deeper(indent, blank=True)
        given = int(header[3]) if header[3] else 0
        own = min((each.indent for each in lines if each.text), default=indent + 1)
        inner = indent + given if given else own
        texts = [" " * max(each.indent - inner, 0) + each.text for each in lines]
        end = len(texts)
        while end and not texts[end - 1].strip():
            end -= 1
        chomping = header[2] or header[4]
        body = "\n".join(texts[:end]) if header[1] == "|" else _folded(texts[:end])
        if chomping == "+":
            return body + "\n" * (len(texts) - end + (1 if end else 0))
        return body + ("\n" if end and chomping != "-" else "")

    def _quoted_scalar(self, text: str, line: _Line, indent: int) -> Any:
        end = _closing_quote(text)
        rows = [text]
        while end < 0:
            below = self._lines[self._next] if self._next < len(self._lines) else None
            if below is None or (below.text and below.indent <= indent and indent):
                raise ConversionError(f"the quote {text[0]} is never closed", line.number)
            rows.append(below.text.strip())
            self._next += 1
            end = _closing_quote("\n".join(rows))
        whole = "\n".join(rows)
        rest = whole[end:].strip()
        if rest and not rest.startswith("#"):
            raise ConversionError("there is more text behind the closing quote", line.number)
        self._comments += [rest] if rest else []
        return _quoted(_fold_quoted(whole[:end]), line.number)

    def _flow(self, text: str, line: _Line, indent: int) -> Any:
        while True:
            try:
                value, end = _flow_value(text, 0)
                break
            except _UnfinishedError:
                below = self._lines[self._next] if self._next < len(self._lines) else None
                if below is None or (
                    below.text and below.indent <= indent and below.text[0] not in "]}"
                ):
                    raise ConversionError(f"`{text[0]}` is never closed", line.number) from None
                self._next += 1
                text = f"{text} {_without_comment(below.text, self._comments)}"
            except ConversionError as error:
                raise ConversionError(str(error), error.line or line.number) from None
        rest = text[end:].strip()
        if rest.startswith("#"):
            self._comments.append(rest)
        elif rest:
            return text  # As in `argument-hint: [file] [line]`, which is meant as text.
        return value

    def _plain(self, text: str, indent: int) -> Any:
        rows = [_without_comment(text, self._comments)]
        rows += [_without_comment(each.text, self._comments) for each in self._deeper(indent)]
        if len(rows) > 1:
            return _folded(rows).rstrip("\n")
        return _resolved(rows[0])

    def _deeper(self, indent: int, *, blank: bool = False) -> list[_Line]:
        """The lines below that are indented further; with `blank`, also empty ones at the end."""
        start = end = self._next
        while end < len(self._lines):
            line = self._lines[end]
            if line.text and line.indent <= indent:
                break
            end += 1
        while not blank and end > start and not self._lines[end - 1].text:
            end -= 1
        self._next = end
        return self._lines[start:end]


def _split(text: str) -> list[str]:
    return re.split(r"\r\n|\n|\r", text)


def _line(number: int, raw: str) -> _Line:
    text = raw.lstrip(" ")
    return _Line(number, len(raw) - len(text), text.rstrip(" \t"))


def _is_item(text: str) -> bool:
    return text == "-" or text.startswith("- ")


def _without_comment(text: str, comments: list[str]) -> str:
    match = _COMMENT.search(text)
    if match is None:
        return text.rstrip()
    first = re.search(r"(?:^|[ \t])#", text)
    assert first is not None
    comments.append(text[first.start() :].strip())
    return text[: first.start()].rstrip()


def _folded(rows: Iterable[str]) -> str:
    """Lines as `>` joins them: a line break is a space, and an empty line a line break."""
    text, breaks = "", 0
    for row in rows:
        if not row.strip():
            breaks += 1
            continue
        if text:
            text += "\n" * breaks if breaks else " "
        text, breaks = text + row, 0
    return text


def _resolved(text: str) -> Any:
    """A plain scalar as the core schema of YAML 1.2 has it."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text


def _closing_quote(text: str) -> int:
    """The offset behind the quote that closes the string at the start of the text, or -1."""
    pattern = r'"(?:[^"\\]|\\[\s\S])*"' if text[0] == '"' else r"'(?:[^']|'')*'"
    match = re.match(pattern, text)
    return match.end() if match is not None else -1


def _fold_quoted(token: str) -> str:
    if "\n" not in token:
        return token
    token = re.sub(r"\\\n[ \t]*", "", token)
    return re.sub(r"[ \t]*\n[\s]*", lambda m: "\n" * (m.group().count("\n") - 1) or " ", token)


_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[\s\S])")
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r",
    "e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\", "\t": "\t",
    "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip


def _quoted(token: str, line: int) -> str:
    """The content of a quoted scalar on one line."""
    if token[0] == "'":
        return token[1:-1].replace("''", "'")

    def content(match: re.Match[str]) -> str:
        name = match[1]
        if len(name) > 1:
            return _character(int(name[1:], 16), line)
        if name not in _ESCAPES:
            raise ConversionError(f"`\\{name}` is not an escape of YAML", line)
        return _ESCAPES[name]

    text = _ESCAPE.sub(content, token[1:-1])
    # JSON writes characters above U+FFFF as two escapes.
    text = re.sub(
        r"[\ud800-\udbff][\udc00-\udfff]",
        lambda pair: pair.group().encode("utf-16", "surrogatepass").decode("utf-16"),
        text,
    )
    if re.search(r"[\ud800-\udfff]", text):
        raise ConversionError("an escape names half a character", line)
    return text


def _character(number: int, line: int) -> str:
    if number > 0x10FFFF:
        raise ConversionError(f"there is no character U+{number:X}", line)
    return chr(number)


class _UnfinishedError(Exception):
    """A flow collection goes on behind the text."""


_FLOW_PLAIN = re.compile(r"(?:\([^()]*\)|[^,\[\]{}:]|:(?![ \t,\]}]))*")
"""A plain scalar; `Agent(a, b)` is one, as in Claude Code."""


def _flow_value(text: str, at: int, depth: int = 0) -> tuple[Any, int]:
    """A value of a flow collection, and the offset behind it."""
    at = _skip(text, at)
    if depth > _DEPTH:
        raise ConversionError(_TOO_DEEP)
    if text[at] == "[":
        return _flow_list(text, at + 1, depth)
    if text[at] == "{":
        return _flow_mapping(text, at + 1, depth)
    if text[at] in "\"'":
        length = _closing_quote(text[at:])
        if length < 0:
            raise _UnfinishedError
        return _quoted(text[at : at + length], 0), at + length
    match = _FLOW_PLAIN.match(text, at)
    assert match is not None
    return _resolved(match.group().strip()), match.end()


def _flow_list(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    while text[(at := _skip(text, at))] != "]":
        item, at = _flow_value(text, at, depth + 1)
        items.append(item)
        at = _separated(text, at, "]")
    return items, at + 1


def _flow_mapping(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    values: dict[str, Any] = {}
    while text[(at := _skip(text, at))] != "}":
        key, at = _flow_value(text, at, depth + 1)
        at = _skip(text, at)
        value = None
        if text[at] == ":":
            at = _skip(text, at + 1)
            if text[at] not in ",}":
                value, at = _flow_value(text, at, depth + 1)
        values[str(key)] = value
        at = _separated(text, at, "}")
    return values, at + 1


def _separated(text: str, at: int, closing: str) -> int:
    at = _skip(text, at)
    if text[at] == ",":
        return at + 1
    if text[at] != closing:
        raise ConversionError(f"there should be `,` or `{closing}` in front of `{text[at]}`")
    return at


def _skip(text: str, at: int) -> int:
    """Behind the blanks."""
    while at < len(text) and text[at] in " \t":
        at += 1
    if at == len(text):
        raise _UnfinishedError
    return at


# -- writing

_SAFE = re.compile(r"[A-Za-z](?:[\w ./()-]*[\w./()-])?", re.ASCII)
_RESERVED = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def yaml_scalar(value: object) -> str:
    """A value on one line that every YAML parser reads as this value, also those of YAML 1.1."""
    if isinstance(value, str):
        if _SAFE.fullmatch(value) and value.lower() not in _RESERVED:
            return value
        return _in_quotes(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_in_flow(each) for each in value)}]"
    return json.dumps(value)


def _in_flow(value: object) -> str:
    return _in_quotes(value) if isinstance(value, str) else yaml_scalar(value)


def _in_quotes(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return _NOT_IN_YAML.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted)


def yaml_lines(key: str, value: object, indent: str = "") -> list[str]:
    """The lines of `key: value`; mappings and lists of mappings go below the key."""
    name = f"{indent}{yaml_scalar(key)}:"
    if isinstance(value, Mapping) and value:
        return [name, *(line for k, v in value.items() for line in yaml_lines(k, v, indent + "  "))]
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        lines = [name]
        for item in value:
            inner = [line for k, v in item.items() for line in yaml_lines(k, v, indent + "    ")]
            lines += [f"{indent}  - {inner[0].lstrip()}", *inner[1:]]
        return lines
    return [f"{name} {yaml_scalar(value) if not isinstance(value, Mapping) else '{}'}"]
