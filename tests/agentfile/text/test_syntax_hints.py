"""What people meant who wrote something else than TOML."""

from __future__ import annotations

import pytest

from axe_lsp.agentfile.text.parse import Parse

STRAIGHT = 'use straight quotes, `"`'
COMMENT = "a comment begins with `#`"
ABSENT = "TOML has no such value: omit the key"

HINTS = [
    # values
    ("stream = True", "write `true`"),
    ("stream = FALSE", "write `false`"),
    ("stream = yes", "write `true`, or put text into quotes"),
    ("stream = Off # x", "write `false`, or put text into quotes"),
    ("skill = None", ABSENT),
    ("skill = null", ABSENT),
    ("skill = ~", ABSENT),
    ("skill = “a b”", STRAIGHT),
    ("sub_agents = [‘a’]", STRAIGHT),
    ("skill = `a`", STRAIGHT),
    ('skill = f"x"', "a string has no prefix in TOML"),
    ("skill = |", 'text of several lines must be between `"""`'),
    ("skill = >-", 'text of several lines must be between `"""`'),
    ('files = ("a", "b")', "an array is written between `[` and `]`"),
    ("skill = review", "a string needs quotes"),
    ("skill = ./review", "a string needs quotes"),
    ("timeout = .5", "write `0.5`"),
    ("timeout = -.5", "write `-0.5`"),
    ("timeout = 1.", "write `1.0`"),
    ("timeout = 30s", "a number has no unit, and a string needs quotes"),
    ("timeout = 50%", "a number has no unit, and a string needs quotes"),
    ("timeout = 5;", "a statement ends without `;`"),
    # keys and headers
    ("description: x", "write `=` for `:`"),
    ("description += 'x'", "write `=` for `+=`"),
    ("system prompt = 'x'", "the words of a key are joined by `_`"),
    ("params]", "the header of a table is written between `[` and `]`"),
    ("params:", "the header of a table is written between `[` and `]`"),
    ("Be brief", "is it a comment? That begins with `#`"),
    ("// note", COMMENT),
    ("; note", COMMENT),
    ("```toml", "a Markdown fence, which is not TOML"),
    ("<<<<<<< HEAD", "a merge conflict that is not resolved"),
    ("{", "this looks like JSON; agent files are TOML"),
    ("“skill” = 1", STRAIGHT),
    ("\u200bskill = 1", "there is an invisible character here, U+200B"),
    ("skill\u00a0= 1", "there is an invisible character here, U+00A0"),
    ("skill\x1b = 1", "there is an invisible character here, U+001B"),
    ("$ref = 'x'", "a name with `$` needs quotes"),
    ("@type.x = 'x'", "a name with `@` needs quotes"),
    ("naïve = 1", "a name with `ï` needs quotes"),
    ("[input.$defs]", "a name with `$` needs quotes"),
    ("[naïve]", "a name with `ï` needs quotes"),
    ("[sub agents config]", "the words of a name are joined by `_`"),
    ("[“params”]", STRAIGHT),
    # behind a statement
    ("timeout = 5,", "a statement ends without `,`"),
    ('skill = "x";', "a statement ends without `;`"),
    ("timeout = 4,096", "a number has no commas"),
    ("timeout = 0,5", "a number has a decimal point"),
    ('skill = "x" // note', COMMENT),
    ('skill = "say "hello" to all"', 'a quote inside of a string is written `\\"`'),
]


@pytest.mark.parametrize(("text", "hint"), HINTS)
def test_common_mistake_is_one_problem_with_a_hint(text: str, hint: str) -> None:
    (problem,) = Parse(text + "\n[params]\n").problems
    assert problem.message.endswith(f" ({hint})")


@pytest.mark.parametrize(
    "text", ["skill = ", "skill", "?!", "skill => 1", "[", "files = [1 2]", "timeout = 1-2"]
)
def test_ambiguous_mistake_has_no_hint(text: str) -> None:
    assert all("(" not in each.message for each in Parse(text).problems)


WORDS = [
    ('skill = "a\x1bb"', "there is a control character here, U+001B, which TOML does not allow"),
    ("# \x00", "there is a control character here, U+0000, which TOML does not allow"),
    (
        "a = 1\rb = 2",
        "a carriage return alone does not end a line (lines end with LF or CR LF)",
    ),
    (
        r'skill = "C:\Users"',
        "`\\U` is not an escape without 8 hexadecimal digits (write `\\\\` for a backslash)",
    ),
    ('skill = "\\uD800"', "this escape does not name a character"),
]


@pytest.mark.parametrize(("text", "message"), WORDS)
def test_error_of_tomli_alone_is_explained_in_plain_words(text: str, message: str) -> None:
    (problem,) = Parse(text).problems
    assert problem.message == message
