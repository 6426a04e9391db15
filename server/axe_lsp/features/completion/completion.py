"""Completion at an offset."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from axe_lsp.agentfile.dialects import program_title
from axe_lsp.agentfile.lookup_order import SUFFIX
from axe_lsp.agentfile.schema.agent_types import BUILT_IN_TYPES
from axe_lsp.agentfile.schema.key_spec import KeySpec, KeyType, Names
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.models import LocalModel
from axe_lsp.agentfile.schema.test_keys import FORBIDDEN, TESTS
from axe_lsp.agentfile.schema.tools import TOOLS
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.splices import literal
from axe_lsp.agentfile.text.tree import ValueKind
from axe_lsp.agentfile.text.values import decode
from axe_lsp.features.completion import front_matter
from axe_lsp.features.completion.cursor import Cursor, Where, cursor_at
from axe_lsp.features.completion.expectation_offers import (
    argument_keys,
    callable_names,
    expected_tools,
    member_keys,
)
from axe_lsp.features.completion.fuzzy import shortlist
from axe_lsp.features.completion.item import Completion, CompletionKind, offer, separators
from axe_lsp.features.completion.key_offers import header_offers, key_offers, table_offers
from axe_lsp.features.completion.model_offers import model_offers
from axe_lsp.features.describe import agent_markdown, key_markdown, type_markdown
from axe_lsp.features.describe_facts import seen_tools
from axe_lsp.features.diagnostics import diagnostics, not_silenced
from axe_lsp.features.rules import RULES
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot

_FEW = 10
"""Numbers of a range that are worth listing."""


class _Asked(NamedTuple):
    """Everything that offers depend on. `typed` is the word as far as the cursor."""

    snapshot: Snapshot
    file: AgentFile
    text: str
    cursor: Cursor
    typed: str
    installed: Sequence[LocalModel]


def completion(
    snapshot: Snapshot, file: AgentFile, offset: int, installed: Sequence[LocalModel] = ()
) -> list[Completion]:
    """Return the offers at `offset` of an open file, the likely ones first and none twice.

    `installed` are the models of the Ollama that is running, if one is. Of too many agents only those are
    offered that fit best.
    """
    if file.open is None:
        return []
    if front_matter.is_front_matter(file):
        return front_matter.completion(snapshot, file, offset)
    cursor, text = cursor_at(file.open, offset), file.open.parse.text
    typed = text[cursor.range.start : offset]
    found: dict[str, Completion] = {}
    asked = _Asked(snapshot, file, text, cursor, typed, installed)
    in_comment = ignore_offers(snapshot, file, file.open, offset)
    for each in (*_offers(file.open, asked), *in_comment):
        found.setdefault(each.label, each)
    return list(found.values())


def _offers(lookup: Lookup, asked: _Asked) -> Iterator[Completion]:
    cursor = asked.cursor
    if cursor.where is Where.HEADER:
        yield from header_offers(lookup, cursor)
    elif cursor.where in (Where.KEY, Where.INNER_KEY):
        written = asked.snapshot, asked.file, lookup, cursor
        more = (*argument_keys(*written), *member_keys(*written))
        yield from key_offers(lookup, cursor, more)
        if cursor.where is Where.KEY:
            yield from table_offers(lookup, cursor)
    elif cursor.where in (Where.STRING, Where.VALUE):
        yield from _values(asked)


# -- values


def _values(asked: _Asked) -> Iterator[Completion]:
    cursor, text, spec = asked.cursor, asked.text, asked.cursor.spec
    if spec is None or "\n" in cursor.range.of(text):
        return  # Editors take what replaces a part of one line (LSP 3.17, "Completion Item").
    is_element = cursor.value is not None and cursor.value.kind is ValueKind.ARRAY
    if is_element and spec.type is not KeyType.STRINGS:
        return
    if cursor.where is Where.VALUE:
        for word in _bare_values(spec):
            yield _at(_described(word, spec), cursor, text, word)
    listed = _listed(cursor, text)
    for each in _strings(asked, spec, listed):
        if each.label not in listed and (placed := _quoted(each, cursor, text)) is not None:
            yield placed


def _bare_values(spec: KeySpec) -> list[str]:
    """Return the values of a boolean or of a small range of integers. The default comes last, since few people write it."""
    if spec.type is KeyType.BOOLEAN:
        return sorted(("true", "false"), key=lambda word: word == spec.default)
    if spec.type is not KeyType.INTEGER:
        return []
    first, last = spec.minimum or 0, spec.maximum
    if last is not None and last - first < _FEW:
        return [str(number) for number in range(first, last + 1)]
    return [spec.default] if spec.default is not None else []


def _described(word: str, spec: KeySpec) -> Completion:
    detail = "default" if spec.default in (word, f'"{word}"') else ""
    return offer(word, CompletionKind.CHOICE, detail, key_markdown(spec))


def _strings(asked: _Asked, spec: KeySpec, listed: set[str]) -> Iterator[Completion]:
    """Yield the strings that a key may hold; their place is decided by the caller."""
    file = asked.file
    if spec.names is Names.PRESET:
        yield from _types(BUILT_IN_TYPES)
    elif spec.choices or spec.suggestions:
        words = spec.choices or spec.suggestions
        yield from (_described(word, spec) for word in words)
    elif spec.names is Names.STEM and file.uri.endswith(SUFFIX):
        yield offer(file.place.stem, CompletionKind.CHOICE, "name of the file")
    elif spec.names is Names.AGENT:
        yield from _agents(asked, listed)
    elif spec.names is Names.TASK_TYPE:
        yield from _types(name for name in BUILT_IN_TYPES if name not in file.inline_types)
        for name in sorted(file.inline_types):
            yield offer(name, CompletionKind.CHOICE, "type of this file")
        yield from _agents(asked, listed)
    elif spec.names is Names.TOOL or spec.path == FORBIDDEN:
        yield from _tools(asked, spec)
    elif spec.names is Names.MODEL:
        yield from model_offers(asked.snapshot, file, asked.installed)


def _tools(asked: _Asked, spec: KeySpec) -> Iterator[Completion]:
    """Offer the built-in tools, and in `tool_policy.deny` those of MCP servers, which need no list.

    In files of tests, offer tools that a case can expect or forbid.
    """
    if asked.file.schema is TESTS:
        for tool, doc in expected_tools(asked.snapshot, asked.file, asked.cursor):
            yield offer(tool, CompletionKind.TOOL, doc)
        return
    for row in TOOLS.values():
        yield offer(row.name, CompletionKind.TOOL, row.documentation)
    if spec.path == ("tool_policy", "deny"):
        for name, (seen, server) in seen_tools(asked.snapshot, asked.file).items():
            yield offer(name, CompletionKind.TOOL, f"{server}: {seen.description}".rstrip(": "))


def _types(names: Iterable[str]) -> Iterator[Completion]:
    for name in names:
        built_in = BUILT_IN_TYPES[name]
        yield offer(
            name, CompletionKind.CHOICE, built_in.description, type_markdown(name, built_in)
        )


def _agents(asked: _Asked, listed: set[str]) -> Iterator[Completion]:
    snapshot = asked.snapshot
    names = {*snapshot.names, *snapshot.layers.names_for_axe} - listed
    likely = callable_names(asked.snapshot, asked.file, asked.cursor) & names
    for name in (*sorted(likely), *shortlist(names - likely, asked.typed)):
        agent = asked.snapshot.agent(name, asked.file)
        if agent is not None and agent.uri != asked.file.uri:
            model = agent.model.value if agent.model is not None else ""
            of = agent.place.dialect.program
            detail = f"{program_title(of)}: " if of is not None else ""
            detail += agent.description or model
            yield offer(name, CompletionKind.AGENT, detail, agent_markdown(agent))


def _listed(cursor: Cursor, text: str) -> set[str]:
    """Return the items of the array under the cursor, except the one at the cursor."""
    items = cursor.value.items if cursor.value is not None else ()
    names = (decode(text, item) for item in items if item is not cursor.item)
    return {name for name in names if isinstance(name, str)}


# -- their places


def _quoted(each: Completion, cursor: Cursor, text: str) -> Completion | None:
    """Return the offer at its place, with the quotes that are not there yet."""
    if cursor.where is Where.STRING and cursor.item is not None:
        opening = text[cursor.item.range.start : cursor.range.start]
        content = _between(opening, each.text)
        closing = "" if cursor.item.complete else opening
        return _at(each, cursor, text, content + closing) if content is not None else None
    quoted = literal(each.text)
    is_element = cursor.value is not None and cursor.value.kind is ValueKind.ARRAY
    is_wanted = cursor.value is None or cursor.value.kind is ValueKind.INVALID
    wants_array = cursor.spec is not None and cursor.spec.type is KeyType.STRINGS
    if is_element and cursor.value is not None:
        parts = [item.range for item in cursor.value.items]
        before, after = separators(text, parts, cursor.range)
        return _at(each, cursor, text, before + quoted + after)
    return _at(each, cursor, text, f"[{quoted}]" if wants_array and is_wanted else quoted)


def _between(quotes: str, content: str) -> str | None:
    """Return the text of `content` between such quotes, if it can be written so."""
    if '"' in quotes:
        return literal(content)[1:-1]
    return content if "'" not in content and content.isprintable() else None


def _at(each: Completion, cursor: Cursor, text: str, new: str) -> Completion:
    is_close = text[cursor.range.start - 1 : cursor.range.start] == "="
    return replace(each, replace=cursor.range, text=f" {new}" if is_close else new)


_CODES = re.compile(r"# *axe: *ignore *\[([^\]\r\n]*)(\]?)")
_CODE = re.compile(r"[\w-]*")
_MARKER = re.compile(r"#[ \t]*(\w[\w: ]*)")
_IGNORE = "axe: ignore"


def ignore_offers(
    snapshot: Snapshot, file: AgentFile, lookup: Lookup, offset: int
) -> Iterator[Completion]:
    """Yield the completions in the comment at `offset`, if there is one."""
    comments = lookup.parse.document.comments
    comment = next((each for each in comments if each.start < offset <= each.end), None)
    if comment is None:
        return
    text = lookup.parse.text
    codes = _CODES.search(text, *comment)
    if codes is None:
        marker = _MARKER.fullmatch(text, *comment)
        if marker is not None and _IGNORE.startswith(marker[1]):
            where = TextRange(*marker.span(1))
            new = f"{_IGNORE}[$1]"
            yield Completion(_IGNORE, CompletionKind.CHOICE, where, f"{_IGNORE}[]", new)
    elif codes.start(1) <= offset <= codes.end(1):
        in_file = {each.code for each in diagnostics(snapshot, file)}
        yield from _codes(codes, offset, in_file, not_silenced(file))


def _codes(
    comment: re.Match[str], offset: int, in_file: set[str], kept: frozenset[str]
) -> Iterator[Completion]:
    """Yield the codes that are not listed and not `kept`, those that the file has first."""
    text, end = comment.string, comment.end(1)
    words = [TextRange(*word.span()) for word in _CODE.finditer(text, *comment.span(1))]
    touched = (each for each in words if each.touches(offset))
    word = max(touched, key=lambda each: each.end - each.start, default=TextRange(offset, offset))
    listed = {each.of(text) for each in words if each != word}
    closing = "]" if word.end == end and not comment[2] else ""
    for rule in sorted(RULES, key=lambda rule: rule.code not in in_file):
        if rule.code not in listed and rule.code not in kept:
            yield Completion(
                label=rule.code,
                kind=CompletionKind.CHOICE,
                replace=word,
                text=rule.code + closing,
                detail="found in this file" if rule.code in in_file else "",
                documentation=rule.summary,
            )
