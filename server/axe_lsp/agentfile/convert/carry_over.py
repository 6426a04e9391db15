"""Carry changes of an agent over to its twin, the agent of the same name in the format of another program.

Only the keys of changed fields are rewritten; all else in the twin's file stays, since it may have no counterpart. Each
changed field is read back, and a field that would not read as intended stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from msgspec import Struct

from axe_lsp.agentfile.convert.claude import names_in
from axe_lsp.agentfile.convert.conversion import read_agent, write_agent
from axe_lsp.agentfile.convert.formats import Format, Reading, split_list
from axe_lsp.agentfile.convert.intermediate import FIELDS, Agent, ConversionError, Note, NoteKind
from axe_lsp.agentfile.convert.opencode import DENY, action_of
from axe_lsp.agentfile.convert.output_file import (
    OutputFile,
    read_markdown,
    read_toml,
    toml_value,
    yaml_lines,
)
from axe_lsp.agentfile.schema.tools import TOOLS
from axe_lsp.agentfile.text.front_matter import MarkdownParse
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.splices import Splice, line_break, line_start, spliced, with_line
from axe_lsp.agentfile.text.tree import Document, Entry

CARRIED = ("description", "prompt", "tools", "temperature", "max_turns", "timeout")
"""The fields that are carried over. Models and efforts are each program's own, and names are equal."""

_COMPARED = (*CARRIED, "model", "effort", "agents")


class TwinFile(Struct, frozen=True):
    """The file of an agent for one program. `beside` returns the text of a file that the format keeps beside its agents."""

    text: str
    stem: str
    format: Format
    beside: Callable[[str], str] = lambda _: ""

    @property
    def written(self) -> OutputFile:
        """The keys of the file. Raises ConversionError."""
        syntax = self.format.syntax
        return read_toml(Parse(self.text)) if syntax is None else read_markdown(self.text, syntax)

    def reading(self) -> Reading:
        """Return the agent of the file, with notes. Raises ConversionError."""
        return read_agent(self.written, self.stem, self.format, self.beside)


class CarriedOver(Struct, frozen=True):
    """The new text of a twin. `carried` are the fields that have changed in it, and `differing` those that still differ.

    `lost` are the notes about keys of the source that the twin's format does not have. Of a field that stays as it is in
    the twin, nothing is lost.
    """

    text: str
    carried: tuple[str, ...]
    differing: tuple[str, ...]
    lost: tuple[Note, ...]


def carry_over(source: TwinFile, twin: TwinFile, fields: Iterable[str] = CARRIED) -> CarriedOver:
    """Return the twin's text with the values of `fields` that the source has. Raises ConversionError."""
    reading = source.reading()
    current = twin.reading().agent
    written = write_agent(reading, twin.stem, twin.format)
    new = read_agent(written, twin.stem, twin.format).agent
    differing = [
        name
        for name in _COMPARED
        if _is_said(reading, name) and _form(new, name) != _form(current, name)
    ]
    carried = []
    for name in [each for each in differing if each in fields]:
        changed = _with_field(twin, name, written)
        if changed is not None and _is_carried(changed, twin, name, new):
            twin = changed
            carried.append(name)
            differing.remove(name)
    kept = [source.format.keys.get(name, "") for name in _COMPARED if name not in carried]
    lost = [
        each
        for each in reading.notes.all
        if each.kind is NoteKind.LOST and _key_of(each) not in kept
    ]
    return CarriedOver(
        twin.text,
        tuple(FIELDS[name] for name in carried),
        tuple(FIELDS[name] for name in differing),
        tuple(dict.fromkeys(lost)),
    )


_OF_TOOLS = frozenset(["disallowedTools"])
"""Further keys that are read into the field `tools`."""


def _key_of(note: Note) -> str:
    """Return the key that a note is about: `tools` of `tools: Read`, `permission` of `permission.task`."""
    key = re.split("[:.]", note.key)[0]
    return "tools" if key in _OF_TOOLS else key


def _is_said(reading: Reading, name: str) -> bool:
    """Return whether the source has a value of its own for a field: an agent that lists no tools has all."""
    if name in ("tools", "agents"):
        return name in reading.source_keys
    return getattr(reading.agent, name) not in ("", None)


def _form(agent: Agent, name: str) -> object:
    """Return the value of a field in the form in which it is compared: without white space around it, lists without order."""
    value = getattr(agent, name)
    if isinstance(value, str):
        return plain_text(value)
    return frozenset(value) if isinstance(value, tuple) else value


def plain_text(text: str) -> str:
    """Return a text without white space around it and with one kind of line ends."""
    return text.replace("\r\n", "\n").strip()


def _is_carried(changed: TwinFile, before: TwinFile, name: str, new: Agent) -> bool:
    """Return whether a field reads as intended after a change, and all other fields as before."""
    try:
        now, old = changed.reading().agent, before.reading().agent
    except ConversionError:
        return False
    others = (each for each in FIELDS if each != name)
    return _form(now, name) == _form(new, name) and all(
        _form(now, each) == _form(old, each) for each in others
    )


def _with_field(twin: TwinFile, name: str, written: OutputFile) -> TwinFile | None:
    """Return the twin with the value of a field as it is `written`, None if its format has no simple key for it."""
    key = twin.format.keys.get(name)
    if key is None or "." in key:
        return None
    own = twin.written
    if not key:
        return _with_text(twin, _body_splice(twin, plain_text(written.body)))
    value = written.values.get(key)
    if value is None:
        return None
    if name == "tools":
        value = _merged_tools(twin, own.values.get(key), value)
    elif name == "prompt":
        value = _spaced_like(str(own.values.get(key) or ""), value)
    if value is None:
        return None
    syntax = twin.format.syntax
    if syntax is None:
        return _with_text(twin, _toml_splice(Parse(twin.text), key, value))
    return _with_text(twin, _yaml_splice(MarkdownParse(twin.text, syntax), key, value))


def _with_text(twin: TwinFile, splice: Splice | None) -> TwinFile | None:
    if splice is None:
        return None
    splice = splice._replace(text=splice.text.replace("\n", line_break(twin.text)))
    return TwinFile(spliced(twin.text, [splice]), twin.stem, twin.format, twin.beside)


def _spaced_like(old: str, new: str) -> str:
    """Return the new text with the white space around the old one."""
    new = plain_text(new)
    if not old.strip():
        return new
    start, end = len(old) - len(old.lstrip()), len(old.rstrip())
    return f"{old[:start]}{new}{old[end:]}"


def _body_splice(twin: TwinFile, prompt: str) -> Splice | None:
    syntax = twin.format.syntax
    if syntax is None:
        return None
    start = MarkdownParse(twin.text, syntax).parts.body
    body = twin.text[start:].replace("\r\n", "\n")
    new = _spaced_like(body, prompt) if body.strip() else f"\n\n{prompt}\n"
    return Splice(TextRange(start, len(twin.text)), new)


def _entry(document: Document, key: str) -> Entry | None:
    return next((each for each in document.tables[0].entries if each.key.names == (key,)), None)


def _toml_splice(parse: Parse, key: str, value: Any) -> Splice | None:
    entry = _entry(parse.document, key)
    if entry is None:
        return with_line(parse, (), f"{key} = {toml_value(value)}")
    return Splice(entry.value.range, toml_value(value)) if entry.value is not None else None


def _yaml_splice(parse: MarkdownParse, key: str, value: Any) -> Splice | None:
    if parse.parts.matter is None or parse.problems:
        return None
    lines = "\n".join(yaml_lines(key, value))
    entry = _entry(parse.document, key)
    if entry is not None:
        return Splice(entry.range, lines)
    end = line_start(parse.text, parse.parts.end.start)
    return Splice(TextRange(end, end), f"{lines}\n")


# -- tools

_OWN_NAMES = {name: frozenset([name]) for name in TOOLS}
"""The names in the list of axe, whose format has no table of them."""


def _merged_tools(twin: TwinFile, old: Any, new: Any) -> Any:
    """Return the twin's own list with the tools that the source has. Names without a counterpart stay in it.

    None for permissions that depend on arguments, which nobody but their author can change.
    """
    if isinstance(new, Mapping):
        return _merged_permissions(twin, old, new)
    if old is None:
        return new
    is_text = isinstance(old, str)
    split = partial(split_list, at=",") if twin.format.name != "claude" else names_in
    names = split(old) if is_text else [each for each in old if isinstance(each, str)]
    known = {**twin.format.tool_aliases, **twin.format.tools} or _OWN_NAMES
    added = split(new) if isinstance(new, str) else list(new)
    tools = frozenset[str]().union(*(known.get(each, frozenset()) for each in added))
    kept = [each for each in names if known.get(each, frozenset()) <= tools]
    covered = frozenset[str]().union(*(known.get(each, frozenset()) for each in kept))
    merged = [*kept, *(each for each in added if not known.get(each, covered) <= covered)]
    return ", ".join(merged) if is_text else merged


def _merged_permissions(twin: TwinFile, old: Any, new: Mapping[str, Any]) -> Any:
    if old is None:
        return new
    if not isinstance(old, Mapping) or not all(isinstance(each, str) for each in old.values()):
        return None
    merged = dict(old)
    for name in twin.format.tools:
        rules = [("", rule, action) for rule, action in merged.items()]
        action = new.get(name, DENY)
        if (action_of(rules, name) == DENY) != (action == DENY):
            merged.pop(name, None)  # The last rule that matches counts.
            merged[name] = action
    return merged
