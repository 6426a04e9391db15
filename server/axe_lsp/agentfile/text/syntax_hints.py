"""Likely intents behind syntax errors: the last part of a syntax message.

Each function looks at what stands where the parser gave up, and returns a hint, or "" where there
is nothing better to say than what was expected. Other notations and other keyboards are behind most
of these mistakes: YAML, JSON, Python, word processors, chat windows.
"""

from __future__ import annotations

import re

_TRUE, _FALSE = ("true", "yes", "on"), ("false", "no", "off")
_NOTHING = ("none", "null", "nil", "undefined", "~")
_PREFIXES = ("f", "r", "b", "u", "rb", "br")
_OTHER_QUOTES = "“”„«»‹›‘’‚`"
_OTHER_COMMENT = re.compile(r"//|/\*|--|;|%|<!--")
_CONFLICT = re.compile(r"<{7}|={7}|>{7}|\|{7}")
_INVISIBLE = "\u00a0\u00ad\u200b\u200c\u200d\u2060\ufeff\u2028\u2029\u202f\u3000"

_FOREIGN = re.compile(r"(?![A-Za-z0-9_-])[^\s\"'#=\[\]{},.:]+(?=[ \t]*[=.\]])")
"""A name, or the rest of one, that begins with what only stands in quotes (TOML 1.0, "Keys")."""

_COMMENT = "a comment begins with `#`"
_STRAIGHT = 'use straight quotes, `"`'
_NEEDS_QUOTES = "a string needs quotes"


def about_value(token: str, behind: str) -> str:
    """Return a hint for `token` in place of a value; `behind` is the rest of its line."""
    word = token.lower()
    if word in _TRUE + _FALSE:
        boolean = "true" if word in _TRUE else "false"
        return f"write `{boolean}`" + ("" if word == boolean else ", or put text into quotes")
    if word in _NOTHING:
        return "TOML has no such value: omit the key"
    if word in _PREFIXES and behind[:1] in ("'", '"'):
        return "a string has no prefix in TOML"
    if re.fullmatch(r"[|>][+-]?\d?", token) and not behind.strip():
        return 'text of several lines must be between `"""`'
    return _about_number(token) or _about_beginning(token[0])


def _about_beginning(character: str) -> str:
    """Describe a value that begins with a character that begins no value."""
    if character in _OTHER_QUOTES:
        return _STRAIGHT
    if character == "(":
        return "an array is written between `[` and `]`"
    return _NEEDS_QUOTES if character.isalpha() or character in "$./~*@" else ""


def about_key(line: str) -> str:
    """Return where a key or a header should begin stands `line`, the rest of its line."""
    if _OTHER_COMMENT.match(line):
        return _COMMENT
    if line.startswith("```"):
        return "a Markdown fence, which is not TOML"
    if _CONFLICT.match(line):
        return "a merge conflict that is not resolved"
    if line[:1] in ("{", "}"):
        return "this looks like JSON; agent files are TOML"
    return _about_character(line) or _about_name(line)


def about_header(line: str) -> str:
    """Return where the name of a table should begin or end stands `line`, the rest of its line."""
    if re.match(r"[A-Za-z0-9_-][^\]]*\]", line):
        return "the words of a name are joined by `_`"
    return _about_character(line) or _about_name(line)


def behind_key(line: str) -> str:
    """Return a hint for `line`, the rest of a line after a key without `=`."""
    if line.startswith("]") or line.rstrip() == ":":
        return "the header of a table is written between `[` and `]`"
    assignment = re.match(r":=|[+?]=|=>|->|:", line)
    if assignment is not None:
        return f"write `=` for `{assignment.group()}`"
    if hint := _about_character(line) or _about_name(line):
        return hint
    if re.match(r"[\w-]+(?:[ \t]+[\w-]+)*[ \t]*=", line):
        return "the words of a key are joined by `_`"
    if line[:1].isalpha():
        return "is it a comment? That begins with `#`"
    return ""


def behind_statement(before: str, line: str) -> str:
    """Return a hint for `line`, the text after a statement that ends with the character `before`."""
    if line.rstrip() in (";", ","):
        return f"a statement ends without `{line.rstrip()}`"
    if before.isdigit() and re.match(r",\d", line):
        thousands = re.match(r"(?:,\d{3})+(?!\d)", line)
        return "a number has no commas" if thousands else "a number has a decimal point"
    if _OTHER_COMMENT.match(line):
        return _COMMENT
    if before == '"' and '"' in line:
        return 'a quote inside of a string is written `\\"`'
    return _about_character(line)


def _about_number(token: str) -> str:
    number = re.match(r"[+-]?[\d_]*(?:\.[\d_]*)?(?:e[+-]?\d+)?", token)
    digits = number.group() if number is not None else ""
    rest = token[len(digits) :]
    if not any(map(str.isdigit, digits)):
        return ""
    if rest == ";":
        return "a statement ends without `;`"
    if not rest and digits.strip("+-").startswith("."):
        return f"write `{digits.replace('.', '0.')}`"
    if not rest and digits.endswith("."):
        return f"write `{digits}0`"
    return (
        "a number has no unit, and a string needs quotes" if rest.isalpha() or rest == "%" else ""
    )


def _about_character(line: str) -> str:
    if line[:1] and line[0] in _OTHER_QUOTES:
        return _STRAIGHT
    if line[:1] and (line[0] in _INVISIBLE or line[0] < " "):
        return f"there is an invisible character here, U+{ord(line[0]):04X}"
    return ""


def _about_name(line: str) -> str:
    return f"a name with `{line[0]}` needs quotes" if _FOREIGN.match(line) else ""
