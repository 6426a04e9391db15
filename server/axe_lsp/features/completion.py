"""What could be typed at an offset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from axe_lsp.agentfile import schema
from axe_lsp.agentfile.model_name import REPLAY_PROVIDER, RUNNABLE_PROVIDERS
from axe_lsp.agentfile.schema import KeyPath, KeySpec, KeyType, Names
from axe_lsp.agentfile.text import TextRange
from axe_lsp.agentfile.tree import Entry, ValueKind
from axe_lsp.agentfile.values import decode
from axe_lsp.features.cursor import Cursor, Where, cursor_at
from axe_lsp.features.describe import key_markdown
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.places import BUILT_IN_TYPES
from axe_lsp.workspace.snapshot import Snapshot


class CompletionKind(Enum):
    """What is offered; editors show an icon for it."""

    KEY = "key"
    TABLE = "table"
    AGENT = "agent"
    TOOL = "tool"
    MODEL = "model"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class Completion:
    """One offer: `text` in place of `replace`.

    `snippet` is the same with stops to jump to, for editors that can (LSP 3.17, "Snippet Syntax").
    """

    label: str
    kind: CompletionKind
    replace: TextRange
    text: str
    snippet: str | None = None
    detail: str = ""
    documentation: str = ""


def completion(snapshot: Snapshot, file: AgentFile, offset: int) -> list[Completion]:
    """The offers at `offset` of an open file, the likely ones first."""
    if file.open is None:
        return []
    cursor = cursor_at(file.open, offset)
    text = file.open.parse.text
    if cursor.where is Where.HEADER:
        return list(_headers(file, cursor, text))
    if cursor.where is Where.KEY:
        return [*_keys(cursor, text), *_tables(file, cursor)]
    if cursor.where is Where.INNER_KEY:
        return list(_keys(cursor, text))
    if cursor.where in (Where.STRING, Where.VALUE):
        return list(_values(snapshot, file, cursor, text))
    return []


# -- keys and tables


def _keys(cursor: Cursor, text: str) -> Iterator[Completion]:
    has_value = text[cursor.range.end :].lstrip(" \t").startswith("=")
    for spec in schema.keys_of(cursor.parent):
        name = spec.path[-1]
        if spec.is_table or name == schema.ANY_NAME or _is_set(cursor.siblings, name, cursor.range):
            continue
        snippet = None if has_value else f"{name} = {_placeholder(spec)}"
        yield Completion(
            label=name,
            kind=CompletionKind.KEY,
            replace=cursor.range,
            text=name if has_value else f"{name} = ",
            snippet=snippet,
            detail=_detail(spec),
            documentation=key_markdown(spec),
        )


def _is_set(siblings: Iterable[Entry], name: str, typing: TextRange) -> bool:
    return any(
        entry.key.names[:1] == (name,) and not entry.key.range.touches(typing.start)
        for entry in siblings
    )


def _placeholder(spec: KeySpec) -> str:
    if spec.choices:
        return f'"${{1|{",".join(spec.choices)}|}}"'
    if spec.type is KeyType.STRING:
        return '"$1"'
    if spec.type is KeyType.STRINGS:
        return '["$1"]'
    if spec.type is KeyType.BOOLEAN:
        return "${1|true,false|}"
    return f"${{1:{spec.default or 0}}}"


def _detail(spec: KeySpec) -> str:
    default = f" = {spec.default}" if spec.default is not None else ""
    return f"{spec.type.value}{default}{' (axe-lsp)' if spec.is_extension else ''}"


def _tables(file: AgentFile, cursor: Cursor) -> Iterator[Completion]:
    """Headers, unless keys follow that would fall into the new table."""
    if any(entry.range.start > cursor.range.end for entry in cursor.siblings):
        return
    for spec in _free_tables(file):
        header = f"[[{spec.dotted}]]" if spec.type is KeyType.TABLES else f"[{spec.dotted}]"
        yield _table(spec, header, cursor.range, f"{header}\n")


def _headers(file: AgentFile, cursor: Cursor, text: str) -> Iterator[Completion]:
    is_array = text[: cursor.range.start].endswith("[[")
    closing = "]]" if is_array else "]"
    end = "" if text.startswith(closing, cursor.range.end) else closing
    for spec in _free_tables(file, being_typed=cursor.path):
        if (spec.type is KeyType.TABLES) == is_array:
            yield _table(spec, spec.dotted, cursor.range, spec.dotted + end)


def _table(spec: KeySpec, label: str, replace: TextRange, text: str) -> Completion:
    return Completion(
        label=label,
        kind=CompletionKind.TABLE,
        replace=replace,
        text=text,
        detail="(axe-lsp)" if spec.is_extension else "",
        documentation=key_markdown(spec),
    )


def _free_tables(file: AgentFile, being_typed: KeyPath | None = None) -> Iterator[KeySpec]:
    """The tables that can be begun: those that may repeat, and those that are not there yet."""
    assert file.open is not None
    for spec in schema.KEYS:
        if not spec.is_table or schema.ANY_NAME in spec.path:
            continue
        is_there = file.open.has(spec.path) and spec.path != being_typed
        if spec.type is KeyType.TABLES or not is_there:
            yield spec


# -- values


def _values(snapshot: Snapshot, file: AgentFile, cursor: Cursor, text: str) -> Iterator[Completion]:
    spec = cursor.spec
    if spec is None or "\n" in cursor.range.of(text):
        return  # Editors take what replaces a part of one line (LSP 3.17, "Completion Item").
    if spec.type is KeyType.BOOLEAN and cursor.where is Where.VALUE:
        for word in ("true", "false"):
            yield Completion(word, CompletionKind.CHOICE, cursor.range, word)
        return
    listed = _listed(cursor, text)
    for offer in _strings(snapshot, file, spec):
        if offer.label not in listed:
            yield _quoted(offer, cursor, text)


def _strings(snapshot: Snapshot, file: AgentFile, spec: KeySpec) -> Iterator[Completion]:
    """The strings that a key may hold; their place is decided by the caller."""
    if spec.choices:
        for choice in spec.choices:
            yield _offer(choice, CompletionKind.CHOICE)
    elif spec.names is Names.AGENT:
        yield from _agents(snapshot, file)
    elif spec.names is Names.TASK_TYPE:
        for name in (*BUILT_IN_TYPES, *sorted(file.inline_types)):
            yield _offer(name, CompletionKind.CHOICE, "agent type")
        yield from _agents(snapshot, file)
    elif spec.names is Names.TOOL:
        for tool, doc in schema.TOOLS.items():
            yield _offer(tool, CompletionKind.TOOL, doc)
    elif spec.names is Names.MODEL:
        yield from _models(snapshot, file)


def _agents(snapshot: Snapshot, file: AgentFile) -> Iterator[Completion]:
    for agent in snapshot.visible(file.place):
        if agent.uri != file.uri:
            model = agent.model.value if agent.model is not None else ""
            detail = agent.description or model
            yield _offer(agent.place.stem, CompletionKind.AGENT, detail, agent.description)


def _models(snapshot: Snapshot, file: AgentFile) -> Iterator[Completion]:
    """Models that the workspace uses, then the providers."""
    used = {each.model.value for each in snapshot.files() if each.model and each is not file}
    for model in sorted(used):
        if "/" in model:
            yield _offer(model, CompletionKind.MODEL, "used in this workspace")
    for provider in (*RUNNABLE_PROVIDERS, REPLAY_PROVIDER):
        yield _offer(f"{provider}/", CompletionKind.MODEL, "provider")


def _offer(
    label: str, kind: CompletionKind, detail: str = "", documentation: str = ""
) -> Completion:
    nowhere = TextRange(0, 0)
    return Completion(label, kind, nowhere, label, None, detail, documentation)


def _listed(cursor: Cursor, text: str) -> set[str]:
    """What the array under the cursor holds already, elsewhere than at the cursor."""
    items = cursor.value.items if cursor.value is not None else ()
    names = (decode(text, item) for item in items if item is not cursor.item)
    return {name for name in names if isinstance(name, str)}


def _quoted(offer: Completion, cursor: Cursor, text: str) -> Completion:
    """The offer at its place, with the quotes that are not there yet."""
    if cursor.where is Where.STRING and cursor.item is not None:
        opening = text[cursor.item.range.start : cursor.range.start]
        closing = "" if cursor.item.complete else opening
        return _at(offer, cursor.range, offer.text + closing)
    if cursor.item is not None and cursor.item.kind is not ValueKind.INVALID:
        return _at(offer, cursor.range, f'"{offer.text}"')
    is_element = cursor.value is not None and cursor.value.kind is ValueKind.ARRAY
    wants_array = cursor.spec is not None and cursor.spec.type is KeyType.STRINGS
    quoted = f'"{offer.text}"'
    return _at(offer, cursor.range, f"[{quoted}]" if wants_array and not is_element else quoted)


def _at(offer: Completion, replace: TextRange, text: str) -> Completion:
    return Completion(
        offer.label, offer.kind, replace, text, None, offer.detail, offer.documentation
    )
