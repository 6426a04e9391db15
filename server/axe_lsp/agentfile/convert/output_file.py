"""An agent file as it is written: keys with values, comments, and the text below the front matter.

Both syntaxes, TOML and Markdown with front matter, are read into this form and written from it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from axe_lsp.agentfile.convert.intermediate import ConversionError
from axe_lsp.agentfile.text.front_matter import MarkdownParse, Syntax, mend_claude
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.splices import literal
from axe_lsp.agentfile.text.tree import walk
from axe_lsp.agentfile.text.yaml import Timestamp


class OutputFile(Struct):
    """The keys of a file, nested as in the file. `comments` go with the dotted path of a key.

    A comment behind the last key has the path "". `body` is the text of a Markdown file, without the
    empty line that separates it from the front matter.
    """

    values: dict[str, Any] = field(default_factory=dict)
    comments: list[tuple[str, str]] = field(default_factory=list)
    body: str = ""


# -- TOML


def read_toml(parse: Parse) -> OutputFile:
    """Read a file in TOML. Raises ConversionError with the line of the first problem."""
    if parse.values is None:
        raise _first_fault(parse, "not valid TOML: ")
    return OutputFile(dict(parse.values), list(_comments(parse)))


def _first_fault(parse: Parse, prefix: str = "") -> ConversionError:
    first = min(parse.problems, key=lambda each: each.range)
    line = parse.lines.line_at(first.range.start) + 1
    return ConversionError(f"{prefix}{first.message}", line)


def _comments(parse: Parse) -> Iterator[tuple[str, str]]:
    """Yield each comment with the key below it, on its line, or around it."""
    entries = sorted((each.entry.range.end, ".".join(each.path)) for each in walk(parse.document))
    index = 0
    for comment in sorted(parse.document.comments):
        while index < len(entries) and not _is_for(parse, entries[index][0], comment.start):
            index += 1
        yield entries[index][1] if index < len(entries) else "", comment.of(parse.text)


def _is_for(parse: Parse, entry_end: int, comment: int) -> bool:
    """Return whether a comment is in front of the end of an entry, or on the line where it ends."""
    return comment < entry_end or not re.search(r"[\r\n]", parse.text[entry_end:comment])


def write_toml(written: OutputFile) -> str:
    """Return the keys of the root first, then a `[table]` for each mapping."""
    root = [*_toml_table(written, written.values, "")]
    return "\n".join([*root, *_comments_of(written, ""), ""]).lstrip("\n")


def _toml_table(written: OutputFile, table: Mapping[str, Any], prefix: str) -> Iterator[str]:
    inner = {key: value for key, value in table.items() if _is_table(value, prefix)}
    for key, value in table.items():
        if key not in inner:
            yield from _comments_of(written, prefix + key)
            yield f"{_toml_key(key)} = {toml_value(value)}"
    for key, value in inner.items():
        header = prefix + _toml_key(key)
        for each in value if isinstance(value, list) else [value]:
            yield ""
            if isinstance(value, list):
                yield from _comments_of(written, prefix + key)
                yield f"[[{header}]]"
            else:
                yield f"[{header}]"
            yield from _toml_table(written, each, f"{prefix}{key}.")


def _is_table(value: object, prefix: str) -> bool:
    """Return whether a value gets a header. Maps inside other tables are written inline."""
    if isinstance(value, Mapping):
        return not prefix
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def toml_value(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_toml_key(k)} = {literal(v)}' for k, v in value.items())} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml_value, value))}]"
    return repr(value)


_PLAIN_TEXT = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f]*")
"""Text without control characters other than tab and line feed."""

_ESCAPED = re.compile(r'\\|"""|"\Z|[\x00-\x08\x0b-\x1f\x7f]')


def toml_string(content: str) -> str:
    """Return the TOML string that is easiest to read and whose value is `content`, on several lines if `content` has several.

    Parsers may normalise line ends inside a string, so a carriage return is always an escape.
    """
    if "\n" not in content:
        return literal(content)
    if "'''" not in content and not content.endswith("'") and _PLAIN_TEXT.fullmatch(content):
        has_escapes = "\\" in content or '"""' in content or content.endswith('"')
        if has_escapes:
            return f"'''\n{content}'''"
    return f'"""\n{_ESCAPED.sub(_escaped, content)}"""'


def _escaped(match: re.Match[str]) -> str:
    found = match.group()
    if found == '"""':
        return '""\\"'
    return _SHORT.get(found) or f"\\u{ord(found):04x}"


_SHORT = {"\\": "\\\\", '"': '\\"', "\r": "\\r", "\b": "\\b", "\f": "\\f"}


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key, re.ASCII) else literal(key)


_NOT_IN_COMMENTS = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def _comments_of(written: OutputFile, path: str) -> Iterator[str]:
    """Return the comments of a key, without characters that end a line or that TOML refuses."""
    return (_NOT_IN_COMMENTS.sub(" ", text) for where, text in written.comments if where == path)


# -- Markdown with front matter

_END_OF_MARKER = re.compile(r"[ \t]*(?:(?:\r\n|\n|\r)(?:\r\n|\n|\r)?|\Z)")
"""The rest of the line of the marker at the end, and an empty line below it."""


def read_markdown(text: str, syntax: Syntax) -> OutputFile:
    """Return the front matter and the text below it. Raises ConversionError.

    A program without a second try gets that of Claude Code: a colon in a description keeps no agent from being converted.
    """
    parse = MarkdownParse(text, replace(syntax, mend=syntax.mend or mend_claude))
    if parse.parts.matter is None:
        if re.match(r"\ufeff?---[ \t]*(?:[\r\n]|\Z)", text):
            raise ConversionError("the front matter is never closed: there is no second `---`", 1)
        return OutputFile(body=text.removeprefix("\ufeff"))
    if parse.problems:
        raise _first_fault(parse)
    values = dict(parse.values) if isinstance(parse.values, Mapping) else {}
    body = parse.body
    separator = _END_OF_MARKER.match(body)
    return OutputFile(
        {key: _plain(value) for key, value in values.items()},
        list(_comments(parse)),
        body[separator.end() :] if separator else body,
    )


def _plain(value: Any) -> Any:
    """Return a value of YAML, whose dates no format but its own has, with their text in place of them."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.text if isinstance(value, Timestamp) else value


def write_markdown(written: OutputFile) -> str:
    """Return the front matter, an empty line, and the body as it is."""
    lines: list[str] = []
    for key, value in written.values.items():
        lines += [*_comments_of(written, key), *yaml_lines(key, value)]
    lines += _comments_of(written, "")
    new = "\r\n" if re.match(r"[^\r\n]*\r\n", written.body) else "\n"
    return new.join(["---", *lines, "---", "", written.body])


def under(values: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """Return the table at a path, which is made if it is not there."""
    for name in path:
        values = values.setdefault(name, {})
    return values


# -- YAML

_SAFE = re.compile(r"[A-Za-z](?:[\w ./()-]*[\w./()-])?", re.ASCII)
_RESERVED = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def yaml_scalar(value: object) -> str:
    """Return a value on one line that every YAML parser reads as this value, also those of YAML 1.1."""
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
    """Return the lines of `key: value`; mappings and lists of mappings go below the key."""
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
