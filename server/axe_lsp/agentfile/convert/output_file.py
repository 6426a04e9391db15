"""An agent file as it is written: keys with values, comments, and the text below the front matter.

Both syntaxes, TOML and Markdown with front matter, are read into this form and written from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from axe_lsp.agentfile.convert.intermediate import ConversionError
from axe_lsp.agentfile.convert.yaml_subset import read_yaml, yaml_lines
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.splices import literal
from axe_lsp.agentfile.text.tree import walk


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
    """Raises ConversionError with the line of the first problem."""
    if parse.values is None:
        first = min(parse.problems, key=lambda each: each.range)
        line = parse.lines.line_at(first.range.start) + 1
        raise ConversionError(f"not valid TOML: {first.message}", line)
    return OutputFile(dict(parse.values), list(_toml_comments(parse)))


def _toml_comments(parse: Parse) -> Iterator[tuple[str, str]]:
    """Each comment with the key below it, on its line, or around it."""
    entries = sorted((each.entry.range.end, ".".join(each.path)) for each in walk(parse.document))
    index = 0
    for comment in parse.document.comments:
        while index < len(entries) and not _is_for(parse, entries[index][0], comment.start):
            index += 1
        yield entries[index][1] if index < len(entries) else "", comment.of(parse.text)


def _is_for(parse: Parse, entry_end: int, comment: int) -> bool:
    """Whether a comment is in front of the end of an entry, or on the line where it ends."""
    return comment < entry_end or not re.search(r"[\r\n]", parse.text[entry_end:comment])


def write_toml(written: OutputFile) -> str:
    """The keys of the root first, then a `[table]` for each mapping."""
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
    """Whether a value gets a header. Maps inside other tables are written inline."""
    if isinstance(value, Mapping):
        return not prefix
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def toml_value(value: Any) -> str:
    """A value as TOML."""
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
    """The TOML string that is easiest to read and whose value is `content`, on several lines if `content` has several.

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
    """The comments of a key, without characters that end a line or that TOML refuses."""
    return (_NOT_IN_COMMENTS.sub(" ", text) for where, text in written.comments if where == path)


# -- Markdown with front matter

_FRONT_MATTER = re.compile(
    r"---[ \t]*(\r\n|\n|\r)((?s:.*?)(?:\r\n|\n|\r))??---[ \t]*(?:\r\n|\n|\r|\Z)"
)
_BLANK_LINE = re.compile(r"\r\n|\n|\r")


def read_markdown(text: str) -> OutputFile:
    """The front matter and the text below it. Raises ConversionError."""
    text = text.removeprefix("\ufeff")
    match = _FRONT_MATTER.match(text)
    if match is None:
        if re.match(r"---[ \t]*(?:[\r\n]|\Z)", text):
            raise ConversionError("the front matter is never closed: there is no second `---`", 1)
        return OutputFile(body=text)
    front = read_yaml(match[2] or "", first_line=2)
    body = text[match.end() :]
    separator = _BLANK_LINE.match(body)
    return OutputFile(front.values, front.comments, body[separator.end() :] if separator else body)


def write_markdown(written: OutputFile) -> str:
    """The front matter, an empty line, and the body as it is."""
    lines: list[str] = []
    for key, value in written.values.items():
        lines += [*_comments_of(written, key), *yaml_lines(key, value)]
    lines += _comments_of(written, "")
    new = "\r\n" if re.match(r"[^\r\n]*\r\n", written.body) else "\n"
    return new.join(["---", *lines, "---", "", written.body])


def under(values: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """The table at a path, which is made if it is not there."""
    for name in path:
        values = values.setdefault(name, {})
    return values
