"""Conversion of a text from one format to another: text in, text and notes out; the formats, a row each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from axe_lsp.agentfile import dialects
from axe_lsp.agentfile.convert.axe import AXE
from axe_lsp.agentfile.convert.claude import CLAUDE
from axe_lsp.agentfile.convert.codex import CODEX
from axe_lsp.agentfile.convert.copilot import COPILOT
from axe_lsp.agentfile.convert.formats import PLAIN, Format, Reading, Writing
from axe_lsp.agentfile.convert.gemini import GEMINI
from axe_lsp.agentfile.convert.intermediate import FIELDS, ConversionError, Note, NoteKind, slug
from axe_lsp.agentfile.convert.opencode import OPENCODE
from axe_lsp.agentfile.convert.output_file import (
    OutputFile,
    read_markdown,
    read_toml,
    write_markdown,
    write_toml,
)
from axe_lsp.agentfile.convert.vibe import VIBE
from axe_lsp.agentfile.other_programs import program_of
from axe_lsp.agentfile.text.parse import Parse


class Converted(Struct, frozen=True):
    """A new file: its name in the folder of the format, its text, and what became of each key."""

    file_name: str
    text: str
    kept: tuple[str, ...]
    notes: tuple[Note, ...]

    @property
    def lost(self) -> tuple[str, ...]:
        """The keys that the new file does not have, each once."""
        return tuple(dict.fromkeys(n.key for n in self.notes if n.kind is NoteKind.LOST))


def _nothing_beside(_: str) -> str:
    return ""


def convert(
    text: str,
    stem: str,
    source: Format,
    target: Format,
    model: str = "",
    *,
    beside: Callable[[str], str] = _nothing_beside,
) -> Converted:
    """Return the text in the other format. `stem` is the name of the file without its suffix.

    `model` stands in for one that the file does not name. `beside` returns the text of a file that the source
    format keeps beside its agents, such as a prompt, "" if there is none. Raises ConversionError for a file that
    can't be read.
    """
    syntax = source.syntax
    written = read_markdown(text, syntax) if syntax is not None else read_toml(Parse(text))
    return convert_file(written, stem, source, target, model, beside=beside)


def convert_file(
    written: OutputFile,
    stem: str,
    source: Format,
    target: Format,
    model: str = "",
    *,
    beside: Callable[[str], str] = _nothing_beside,
) -> Converted:
    """Return the same for a file that was read before, which stays as it is. Raises ConversionError."""
    if source.is_markdown and not written.values and "name" in source.required:
        raise ConversionError(
            "the file has no front matter: it has to begin with `---` and keys", 1
        )
    reading = read_agent(written, stem, source, beside)
    if model and not reading.agent.model:
        reading.agent.model = model
        reading.notes.added("model", f"`{model}`, as was asked for")
    name = slug(reading.agent.name) or slug(stem) or "agent"
    writing = _write(reading, name, target)
    _carry_comments(written, reading, writing)
    new = write_markdown(writing.written) if target.is_markdown else write_toml(writing.written)
    kept = [key or "instructions" for key in reading.source_keys.values()]
    changed = {note.key for note in reading.notes.all}
    return Converted(
        name + target.suffix,
        new,
        tuple(dict.fromkeys(key for key in kept if key not in changed)),
        tuple(dict.fromkeys(reading.notes.all)),
    )


def read_agent(
    written: OutputFile,
    stem: str,
    source: Format,
    beside: Callable[[str], str] = _nothing_beside,
) -> Reading:
    """Return the agent of a file, with a note about each key that has no counterpart. Raises ConversionError."""
    reading = Reading(source, written, stem, beside)
    # The prompt first, as a type of axe puts its own text in front.
    for name in ("prompt", *(each for each in FIELDS if each != "prompt")):
        reader = source.readers.get(name)
        if reader is not None:
            reader(reading)
        elif source.keys.get(name) == "":
            reading.agent.prompt = written.body
            reading.source_keys[name] = ""
        elif name in source.keys and name in PLAIN:
            reading.take_field(name)
    reading.take_rest()
    if not reading.agent.name.strip():
        reading.agent.name = stem
        reading.notes.added("name", f"{stem!r}, as the file is called")
    return reading


def write_agent(reading: Reading, stem: str, target: Format) -> OutputFile:
    """Return the keys of an agent in a format. What the format can't hold is noted in `reading`."""
    return _write(reading, stem, target).written


def _write(reading: Reading, stem: str, target: Format) -> Writing:
    agent = reading.agent
    writing = Writing(target, agent, stem, reading)
    if "description" in target.required and not agent.description.strip():
        agent.description = f"The agent {agent.name}"
        reading.notes.added("description", f"{target.title} requires one: {agent.description!r}")
    if "prompt" in target.required and not agent.prompt.strip():
        agent.prompt = agent.description
        reading.notes.added("prompt", f"{target.title} requires instructions: the description")
    for name in agent.__struct_fields__:
        value = getattr(agent, name)
        writer = target.writers.get(name)
        if writer is not None:
            writer(writing)
        elif value in ("", None, ()):
            continue
        elif name in target.keys:
            writing.set(target.keys[name], value)
        else:
            writing.lost(name, target.why_unwritten.get(name, ""))
    return writing


_SUPPRESSION = "# axe: ignore["


def _carry_comments(written: OutputFile, reading: Reading, writing: Writing) -> None:
    """Give each comment to the new key of its field; those of lost keys are at the end.

    Comments that suppress a diagnostic are left out: the new format has other diagnostics.
    """
    fields = {key: name for name, key in reading.format.keys.items()}
    for path, text in written.comments:
        if text.startswith(_SUPPRESSION):
            continue
        known = path
        while known not in fields and "." in known:
            known = known.rpartition(".")[0]
        key = writing.format.keys.get(fields.get(known, ""), "")
        is_there = _has(writing.written, key)
        writing.written.comments.append((key if is_there else "", text))


def _has(written: OutputFile, key: str) -> bool:
    table: object = written.values
    for name in key.split("."):
        if not isinstance(table, dict) or name not in table:
            return False
        table = table[name]
    return True


FORMATS: Mapping[str, Format] = {
    each.name: each for each in (AXE, CODEX, CLAUDE, COPILOT, GEMINI, OPENCODE, VIBE)
}
"""The formats by the names that `--to` and `--from` take."""

DEFAULT_MARKDOWN = CLAUDE
"""The format of a Markdown file that lies in no folder of agents."""


def format_of(path: str, text: str = "") -> Format:
    """Return the format of a file by its path, with `/` between the parts.

    TOML outside the folders of agents is read as Codex's if it has Codex's own key.
    """
    folder, _, name = f"/{path}".rpartition("/")
    program = program_of(folder)
    if program is not None and program.name in FORMATS and name.endswith(program.suffix):
        return FORMATS[program.name]
    if f"/{AXE.folder}/" in f"{folder}/" and name.endswith(AXE.suffix):
        return AXE
    if name.endswith(COPILOT.suffix):
        return COPILOT
    if name.endswith(".md"):
        return DEFAULT_MARKDOWN
    return CODEX if dialects.dialect_of_loose(name, text) is dialects.CODEX else AXE


def stem_of(path: str) -> str:
    """Return the name of a file without the suffix of its format."""
    name = path.rpartition("/")[2]
    for each in sorted(FORMATS.values(), key=lambda each: -len(each.suffix)):
        if name.endswith(each.suffix):
            return name.removesuffix(each.suffix)
    return name


_AGENT_IN_MARKDOWN = re.compile(
    r"\ufeff?---[ \t]*\r?\n(?=(?:(?!---).*\n)*?name[ \t]*:)(?=(?:(?!---).*\n)*?description[ \t]*:)"
)
"""Front matter with the two keys that every agent in Markdown has."""


def is_agent_in_markdown(text: str) -> bool:
    """Return whether Markdown begins as agents in Markdown do."""
    return _AGENT_IN_MARKDOWN.match(text) is not None
