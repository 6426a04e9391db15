"""Completion in the front matter of agents in Markdown, and the key under a cursor.

Lines of YAML are enough to know where a cursor is: keys of agents stand at the start of a line, and values behind them or as
items of a list below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from axe_lsp.agentfile.dialects import CLAUDE, COPILOT, OPENCODE, OPENCODE_COMMANDS
from axe_lsp.agentfile.schema.key_spec import KeySpec, KeyType
from axe_lsp.agentfile.text.front_matter import MarkdownParse
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.features.completion.item import Completion, CompletionKind
from axe_lsp.features.describe import agent_markdown, key_markdown
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot

_KEY = re.compile(r"([A-Za-z_][\w-]*)?[ \t]*(:?)")
_ITEM = re.compile(r"[ \t]*-[ \t]+(['\"]?)([\w./:*-]*)$")
_WORD = re.compile(r"[\w./:*\[\]-]*$")
_WORD_AFTER = re.compile(r"[\w./:*-]*")
_PLACEHOLDERS = {KeyType.BOOLEAN: "${1|true,false|}", KeyType.STRINGS: "[$1]"}


class _Line(Struct, frozen=True):
    """The line of the cursor: where it begins, its text as far as the cursor, and the row of its key."""

    start: int
    typed: str
    spec: KeySpec | None


def is_front_matter(file: AgentFile) -> bool:
    """Return whether an open file has a front matter in place of TOML."""
    return file.place.kind.syntax is not None


def completion(snapshot: Snapshot, file: AgentFile, offset: int) -> list[Completion]:
    """Return the offers at `offset`: keys at the start of a line, words where a value is due, and names of agents."""
    names = list(_agents(snapshot, file, offset))
    if names:
        return names
    line = _line_at(file, offset)
    if line is None:
        return []
    if ":" not in line.typed and not line.typed[:1].isspace() and not line.typed.startswith("-"):
        return list(_keys(file, line, offset))
    return list(_values(file, line, offset)) if line.spec is not None else []


_CALL = re.compile(r"(?:Agent|Task)\((?:[^()]*,)?[ \t]*([^(),]*)$")
_LIST = re.compile(r"agents:[ \t]*\[?(?:[^\[\]]*,)?[ \t]*['\"]?([^\[\],'\"]*)$")
_HANDOFF = re.compile(r"[ \t]+(?:-[ \t]+)?agent:[ \t]*['\"]?([^'\"]*)$")
_ITEM_OF_AGENTS = re.compile(r"[ \t]*-[ \t]+['\"]?([^'\"]*)$")
_AGENT = re.compile(r"agent:[ \t]*['\"]?([^'\"]*)$")
_TASK = re.compile(r"[ \t]+['\"]?([^'\":]*)$")
_NAME_AFTER = re.compile(r"[^\s,()\[\]'\":]*")


def _agents(snapshot: Snapshot, file: AgentFile, offset: int) -> Iterator[Completion]:
    """Yield the agents of the program, where a name of one is due."""
    parse = _parse(file)
    matter = parse.parts.matter if parse is not None else None
    if parse is None or matter is None or not matter.start <= offset <= matter.end:
        return
    lines = parse.text[matter.start : offset].split("\n")
    typed = _typed_name(file, lines[:-1], lines[-1])
    after = _NAME_AFTER.match(parse.text, offset)
    if typed is None or after is None:
        return
    where = TextRange(offset - len(typed), after.end())
    for program, name in sorted(snapshot.layers.names):
        agent = snapshot.agent(name, file) if program == file.schema.program else None
        if agent is not None and agent.uri != file.uri:
            card = agent_markdown(agent)
            yield Completion(name, CompletionKind.AGENT, where, name, None, "agent", card)


def _typed_name(file: AgentFile, above: Sequence[str], line: str) -> str | None:
    """Return the part of an agent's name in front of the cursor; None where no name is due."""
    dialect, match = file.place.dialect, None
    if dialect is CLAUDE and _key_above(above, line, 0) == "tools":
        match = _CALL.search(line)
    elif dialect is COPILOT and _key_above(above, line, 0) == "agents":
        match = _LIST.match(line) or _ITEM_OF_AGENTS.match(line)
    elif dialect is COPILOT and _key_above(above, line, 0) == "handoffs":
        match = _HANDOFF.match(line)
    elif dialect is OPENCODE_COMMANDS:
        match = _AGENT.match(line)
    elif dialect is OPENCODE and _key_above(above, line, 0) == "permission":
        is_below_task = _key_above(above, line, _indent(line)) == "task"
        match = _TASK.match(line) if is_below_task else None
    return match.group(1) if match is not None else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _key_above(above: Sequence[str], line: str, indent: int) -> str:
    """Return the key whose value a line belongs to: the nearest one that is not indented, or with an `indent` one that is less so."""
    lines = [line, *reversed(above)] if indent == 0 else [*reversed(above)]
    for each in lines:
        depth = _indent(each)
        is_outer = depth < indent if indent else depth == 0 and not each.startswith("-")
        if each.strip() and is_outer:
            return each.strip().partition(":")[0]
    return ""


def _parse(file: AgentFile) -> MarkdownParse | None:
    parse = file.open.parse if file.open is not None else None
    return parse if isinstance(parse, MarkdownParse) else None


def _line_at(file: AgentFile, offset: int) -> _Line | None:
    """Return the line of a cursor in the front matter; None elsewhere, and in lines deeper than the keys' lists."""
    parse = _parse(file)
    matter = parse.parts.matter if parse is not None else None
    if parse is None or matter is None or not matter.start <= offset <= matter.end:
        return None
    start = parse.text.rfind("\n", 0, offset) + 1
    typed = parse.text[start:offset]
    above = start
    name = _KEY.match(typed)
    while name is None or not name.group(1):  # The key of a list stands above.
        if above <= matter.start or not re.match(r"[ \t]*(?:-|$)", parse.text[above:]):
            return _Line(start, typed, None) if not typed.strip() else None
        above = parse.text.rfind("\n", 0, above - 1) + 1
        name = _KEY.match(parse.text[above:])
    spec = file.schema.find((name.group(1),)) if name.group(2) else None
    is_in_list = above == start or (spec is not None and _ITEM.match(typed) is not None)
    return _Line(start, typed, spec if is_in_list else None)


def _keys(file: AgentFile, line: _Line, offset: int) -> Iterator[Completion]:
    assert file.open is not None
    written = {path[0] for path in file.open.paths if path}
    text = file.open.parse.text
    end = _word_end(text, offset)
    has_colon = re.match(r"[ \t]*:", text[end : end + 20]) is not None
    typed = text[line.start : end]
    for spec in file.schema.keys_of(()):
        name = spec.path[0]
        if (name in written and name != typed) or spec.no_effect or spec.deprecated:
            continue
        where = TextRange(line.start, end)
        plain = name if has_colon else f"{name}: "
        snippet = None if has_colon else f"{name}: {_placeholder(spec)}"
        detail = "required" if spec.required else spec.type.value
        yield Completion(
            name, CompletionKind.KEY, where, plain, snippet, detail, key_markdown(spec)
        )


def _word_end(text: str, offset: int) -> int:
    """Return where the word ends that a cursor is in."""
    match = _WORD_AFTER.match(text, offset)
    return match.end() if match is not None else offset


def _placeholder(spec: KeySpec) -> str:
    if spec.choices:
        return f"${{1|{','.join(spec.choices)}|}}"
    if spec.is_table or spec.takes_anything:
        return "\n  $1"
    return _PLACEHOLDERS.get(spec.type, "$1")


def _values(file: AgentFile, line: _Line, offset: int) -> Iterator[Completion]:
    assert file.open is not None
    spec, text = line.spec, file.open.parse.text
    assert spec is not None
    words: Sequence[str] = spec.choices or spec.suggestions
    if spec.type is KeyType.BOOLEAN:
        words = ("true", "false")
    match = _WORD.search(line.typed)
    start = line.start + match.start() if match is not None else offset
    end = _word_end(text, offset)
    listed = (
        set(re.findall(r"[\w*./-]+", text[line.start : start]))
        if spec.type is KeyType.STRINGS
        else set()
    )
    for word in words:
        if word not in listed:
            detail = "default" if spec.default in (word, f'"{word}"') else ""
            where = TextRange(start, end)
            yield Completion(
                word, CompletionKind.CHOICE, where, word, None, detail, key_markdown(spec)
            )


def key_at(file: AgentFile, offset: int) -> tuple[TextRange, KeySpec] | None:
    """Return the key of the front matter under a cursor, or the value of it, with the key's row."""
    if file.open is None:
        return None
    for entry in file.open.parse.document.tables[0].entries:
        spec = file.schema.find(entry.key.names)
        if spec is not None and entry.key.range.touches(offset):
            return entry.key.range, spec
        value = entry.value
        if (
            spec is not None
            and value is not None
            and value.range.touches(offset)
            and not value.entries
        ):
            return value.range, spec
    return None
