"""Semantic tokens, for words that a grammar can't classify: valid keys, agents, tools.

Strings, numbers, comments and punctuation are left to the editor's TOML grammar.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from msgspec import Struct

from axe_lsp.agentfile.schema.key_spec import ANY_NAME, KeyPath, KeySpec, Names, Schema
from axe_lsp.agentfile.schema.tools import TOOL_ALIASES, TOOLS
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.tree import KeyPart, Located, Table, Value, ValueKind
from axe_lsp.agentfile.text.values import content_range
from axe_lsp.workspace.agent_file import AgentFile


class TokenKind(Enum):
    """The kind of a word."""

    KEY = "key"
    TABLE = "table"
    AGENT = "agent"
    TOOL = "tool"
    PROVIDER = "provider"
    CHOICE = "choice"
    """One of a few words that a key allows, or a model of a provider."""
    UNKNOWN = "unknown"
    """A key or a tool that does not exist."""


class Token(Struct, frozen=True):
    """A word. `is_declaration` where it gives something its name."""

    range: TextRange
    kind: TokenKind
    is_declaration: bool = False


def semantic_tokens(file: AgentFile, within: TextRange | None = None) -> list[Token]:
    """Return the tokens of an open file, or of the statements that touch `within`, in written order."""
    if file.open is None:
        return []
    text, document = file.open.parse.text, file.open.parse.document
    found = [
        *(
            token
            for table in document.tables
            if _is_near(table.header_range, within)
            for token in _of_header(file.open.schema, table)
        ),
        *(
            token
            for item in file.open.located
            if _is_near(item.entry.range, within)
            for token in _of_entry(file.open.schema, text, item)
        ),
        *_of_name(file, text),
    ]
    return sorted((token for token in found if token.range.of(text)), key=_place)


def _place(token: Token) -> TextRange:
    return token.range


def _is_near(where: TextRange, within: TextRange | None) -> bool:
    return within is None or (where.start <= within.end and within.start <= where.end)


# -- keys


def _of_header(of: Schema, table: Table) -> Iterator[Token]:
    if table.header is not None:
        yield from _of_parts(of, table.header.parts, (), TokenKind.TABLE)


def _of_parts(
    of: Schema, parts: tuple[KeyPart, ...], above: KeyPath, known: TokenKind
) -> Iterator[Token]:
    path = above
    for part in parts:
        path = (*path, part.name)
        spec = of.find(path)
        if spec is not None and spec.names is Names.PROVIDER:
            yield Token(part.range, TokenKind.PROVIDER)
        elif spec is not None and spec.path[-1] == ANY_NAME:
            yield Token(part.range, TokenKind.AGENT, is_declaration=True)
        elif spec is not None or of.is_open(path[:-1]):
            yield Token(part.range, known)
        else:
            yield Token(part.range, TokenKind.UNKNOWN)


def _of_entry(of: Schema, text: str, item: Located) -> Iterator[Token]:
    parts = item.entry.key.parts
    above = item.path[: len(item.path) - len(parts)]
    yield from _of_parts(of, parts, above, TokenKind.KEY)
    spec, value = of.find(item.path), item.entry.value
    if spec is None or value is None or not (spec.choices or spec.names in _WORDS):
        return
    for each in (value, *value.items):
        if each.kind is ValueKind.STRING and each.complete:
            yield from _of_string(text, spec, each)


# -- values


def _of_name(file: AgentFile, text: str) -> Iterator[Token]:
    if file.name is not None:
        name = content_range(text, Value(file.name.range, ValueKind.STRING))
        yield Token(name, TokenKind.AGENT, is_declaration=True)


_WORDS = (Names.AGENT, Names.TASK_TYPE, Names.TOOL, Names.MODEL)
"""The strings that get a colour of their own."""


def _of_string(text: str, spec: KeySpec, value: Value) -> Iterator[Token]:
    where = content_range(text, value)
    word = where.of(text)
    if spec.names in (Names.AGENT, Names.TASK_TYPE):
        yield Token(where, TokenKind.AGENT)
    elif spec.names is Names.TOOL:
        yield Token(where, _tool(word))
    elif spec.names is Names.MODEL:
        yield from _of_model(where, word)
    elif word in spec.choices:
        yield Token(where, TokenKind.CHOICE)


def _tool(word: str) -> TokenKind:
    is_known = word in TOOLS or word in TOOL_ALIASES
    is_glob = any(character in word for character in "*?[")
    return TokenKind.TOOL if is_known or is_glob else TokenKind.UNKNOWN


def _of_model(where: TextRange, word: str) -> Iterator[Token]:
    slash = word.find("/")
    if slash > 0:
        yield Token(TextRange(where.start, where.start + slash), TokenKind.PROVIDER)
        where = TextRange(where.start + slash + 1, where.end)
    yield Token(where, TokenKind.CHOICE)
