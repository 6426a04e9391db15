"""TOML strings that hold a text exactly, in the form that is easiest to read (TOML 1.0, "String")."""

from __future__ import annotations

import re

from axe_lsp.agentfile.text.splices import literal

_PLAIN = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f]*")
"""Text without control characters other than tab and line feed."""

_ESCAPED = re.compile(r'\\|"""|"\Z|[\x00-\x08\x0b-\x1f\x7f]')


def toml_string(content: str) -> str:
    """A TOML string whose value is `content`, on several lines if `content` has several.

    Parsers may normalise line ends inside a string, so a carriage return is always an escape.
    """
    if "\n" not in content:
        return literal(content)
    if "'''" not in content and not content.endswith("'") and _PLAIN.fullmatch(content):
        has_escapes = "\\" in content or '"""' in content or content.endswith('"')
        if has_escapes:
            return f"'''\n{content}'''"
    return f'"""\n{_ESCAPED.sub(_escape, content)}"""'


def _escape(match: re.Match[str]) -> str:
    found = match.group()
    if found == '"""':
        return '""\\"'
    return _SHORT.get(found) or f"\\u{ord(found):04x}"


_SHORT = {"\\": "\\\\", '"': '\\"', "\r": "\\r", "\b": "\\b", "\f": "\\f"}
