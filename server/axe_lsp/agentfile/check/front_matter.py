"""What the checks of all Markdown agents share: the front matter itself, and problems from faults of shapes."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping

from msgspec.structs import replace

from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.check.shapes import Fault, Field, Shape, fields_of, place_in
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.markdown_keys import (
    CLAUDE_AGENT,
    COPILOT_AGENT,
    OPENCODE_AGENT,
    OPENCODE_COMMAND,
)
from axe_lsp.agentfile.text.front_matter import MarkdownParse
from axe_lsp.agentfile.text.nearest import nearest_of
from axe_lsp.agentfile.text.ranges import TextRange, quoted
from axe_lsp.agentfile.text.tree import Entry


def parse_of(lookup: Lookup) -> MarkdownParse:
    """Return the parse of a Markdown file."""
    parse = lookup.parse
    assert isinstance(parse, MarkdownParse)
    return parse


def fields(lookup: Lookup) -> dict[str, Field]:
    """Return the values of the front matter by their keys."""
    return fields_of(lookup.parse.text, lookup.parse.document.tables[0].entries)


def entries(lookup: Lookup) -> tuple[Entry, ...]:
    """Return the entries of the front matter, half-typed ones too."""
    return lookup.parse.document.tables[0].entries


def error(fault: Fault) -> Problem:
    """Return the problem of a fault for which the program drops the file."""
    message = f"`{'.'.join(fault.path)}` {fault.message}"
    return Problem(fault.code, fault.range, message, fault.path, 0)


def warning(
    where: TextRange, path: tuple[str, ...], message: str, code: str = "no-effect"
) -> Problem:
    """Return the problem of a value that loads, but does not do what it says."""
    return Problem(code, where, message, path, 0, fatal=False, is_warning=True)


def without_front_matter(lookup: Lookup, message: str) -> Iterator[Problem]:
    """Yield the problem of a text in which the program sees no front matter, at its first line."""
    parse = parse_of(lookup)
    if parse.parts.matter is None:
        fault = f"{message}: {parse.parts.fault}"
        yield Problem("syntax", parse.first_line, fault, (), 0)


def is_meant_as_agent(text: str) -> bool:
    """Return whether a text has signs of an agent: markers, or a line with a name or a description."""
    head = text[:4000]
    return head.lstrip("\ufeff \t\r\n").startswith("--") or bool(
        re.search(r"^(?:name|description)[ \t]*:", head, re.MULTILINE)
    )


def missing(
    lookup: Lookup, fields: Mapping[str, Field], key: str, alike: Iterable[str], message: str
) -> Problem:
    """Return the problem of a key that is missing, at a key that was meant to be it or at the first line."""
    near = next((fields[name].key for name in alike if name in fields), None)
    if near is None:
        rows = frozenset(each.path[0] for each in lookup.schema.keys)
        near = next(
            (
                field.key
                for name, field in fields.items()
                if name not in rows and nearest_of(name, frozenset({key})) == key
            ),
            None,
        )
    return Problem("missing-key", near or parse_of(lookup).first_line, message, (key,), 0)


def unknown_keys(
    lookup: Lookup,
    fields: Mapping[str, Field],
    message: Callable[[str], str],
    meant: Mapping[str, str],
    *,
    reported: Container[str] = (),
    is_free: bool = False,
) -> Iterator[Problem]:
    """Yield a warning for each key that the program ignores, with the key that was meant if there is one.

    `message` says of a quoted name what happens to it; `meant` has the keys of other programs. Where keys are free
    (`is_free`), only those are told that look like another one. Those in `reported` are left out.
    """
    keys = frozenset(each.path[0] for each in lookup.schema.keys)
    for name, field in fields.items():
        if name in keys or name in reported:
            continue
        near = meant.get(name, meant.get(name.lower()))
        near = nearest_of(name, keys) if near is None else near
        if near is None and is_free:
            continue
        guess = f"; did you mean {quoted(near)}?" if near else ""
        text = f"{message(quoted(name))}{guess}"
        yield replace(warning(field.key, (name,), text, "unknown-key"), meant=near or "")


def cut_by_comment(lookup: Lookup) -> Iterator[Problem]:
    """Yield a warning for each ` #` in a value, behind which all is a comment."""
    text = lookup.parse.text
    for each in entries(lookup):
        value = each.value
        if value is None or "\n" in text[each.key.range.end : value.range.start]:
            continue
        line_end = text.find("\n", value.range.end)
        rest = text[value.range.end : line_end if line_end >= 0 else len(text)]
        is_plain = text[value.range.start : value.range.start + 1] not in (
            "'",
            '"',
            "[",
            "{",
            "|",
            ">",
            "",
        )
        if is_plain and re.match(r"[ \t]+#\S?.*\w", rest) and each.key.names[0] in _PROSE:
            where = TextRange(value.range.end, value.range.end + len(rest.rstrip()))
            what = quoted(rest.strip()[:40])
            yield warning(where, each.key.names, f"` #` begins a comment: {what} is not read")


_PROSE = frozenset(["description", "tools", "initialPrompt", "disallowedTools"])


def taken_as_property(lookup: Lookup) -> Iterator[Problem]:
    """Yield a warning for each `&word` or `!word` at the start of a value, which YAML does not read as text."""
    text = lookup.parse.text
    for each in entries(lookup):
        head = re.compile(r"[ \t]*([&!])(?!!)(\S+)[ \t]+\S").match(text, each.key.range.end + 1)
        names = text.count(f"*{head.group(2)}") if head is not None and head.group(1) == "&" else 0
        if (
            head is not None
            and not names
            and each.value is not None
            and isinstance(each.value.decoded, str)
        ):
            where = TextRange(head.start(1), head.end(2))
            what = "an anchor" if head.group(1) == "&" else "a tag"
            yield warning(
                where,
                each.key.names,
                f"{quoted(where.of(text))} is {what} in YAML, and not in the text",
            )


def check_keys(fields: Mapping[str, Field], shapes: Mapping[str, Shape]) -> Iterator[Fault]:
    """Yield the faults of all keys that have a shape."""
    for name, field in fields.items():
        if name in shapes:
            yield from shapes[name](field, (name,))


# -- names of skills and of other agents

SKILLS = ("skills",)
_SKILL = re.compile(r"[^,\s](?:[^,]*[^,\s])?")


def skills_named(lookup: Lookup) -> Iterator[tuple[str, TextRange, tuple[str, ...]]]:
    """Yield the skills that an agent of Claude Code names, each with its place and key: a list, or a text with commas."""
    is_there = lookup.schema is CLAUDE_AGENT and lookup.has(SKILLS)
    skills = fields(lookup).get("skills") if is_there else None
    if skills is None:
        return
    for field in skills.items or ():
        if field.text:
            yield field.text, field.range, SKILLS
    for name in _SKILL.finditer(skills.text or ""):
        yield name.group(), place_in(skills, *name.span()), SKILLS


TOOLS, AGENTS, HANDOFFS, TASK, AGENT, MENTION = (
    ("tools",),
    ("agents",),
    ("handoffs", "agent"),
    ("permission", "task"),
    ("agent",),
    ("@",),
)
"""The keys that name agents: `Agent(…)` of Claude Code, two of VS Code, that of opencode's agents, those of its commands."""

_CALL = re.compile(r"\b(?:Agent|Task)\(([^()]*)\)?")
_NAME_IN_CALL = re.compile(r"[^,\s](?:[^,]*[^,\s])?")

AgentName = tuple[str, TextRange, tuple[str, ...]]
"""A name, its place with quotes, and the key that it belongs to."""


def agents_named(lookup: Lookup) -> Iterator[AgentName]:
    """Yield the names of other agents in a front matter, as far as its program takes them for such."""
    found = fields(lookup)
    if lookup.schema is CLAUDE_AGENT and "tools" in found:
        for field in found["tools"].items or (found["tools"],):
            yield from _in_calls(lookup.parse.text, field)
    elif lookup.schema is COPILOT_AGENT:
        agents = found["agents"].items if "agents" in found else ()
        yield from ((each.text, each.range, AGENTS) for each in agents or () if each.text)
        handoffs = found["handoffs"].items if "handoffs" in found else ()
        for handoff in handoffs or ():
            agent = (handoff.members or {}).get("agent")
            if agent is not None and agent.text:
                yield agent.text, agent.range, HANDOFFS
    elif lookup.schema is OPENCODE_AGENT and "permission" in found:
        task = (found["permission"].members or {}).get("task")
        for name, rule in ((task.members if task is not None else None) or {}).items():
            if name and not set("*?") & set(name):
                yield name, rule.key, TASK
    elif lookup.schema is OPENCODE_COMMAND:
        yield from _in_command(lookup, found)


_MENTION = re.compile(r"(?<![\w`.@])@(\w(?:[\w./-]*\w)?)")


def _in_command(lookup: Lookup, found: Mapping[str, Field]) -> Iterator[AgentName]:
    """Yield the agent of a command of opencode, and what stands behind an `@` in its text, files included."""
    agent = found.get("agent")
    if agent is not None and agent.text:
        yield agent.text, agent.range, AGENT
    parse = parse_of(lookup)
    for match in _MENTION.finditer(parse.text, parse.parts.body):
        yield match.group(1), TextRange(*match.span(1)), MENTION


def _in_calls(text: str, field: Field) -> Iterator[AgentName]:
    """Yield the names in each `Agent(a, b)` of a text. Where escapes are in the way there are none."""
    for call in _CALL.finditer(field.text or ""):
        for name in _NAME_IN_CALL.finditer(field.text or "", *call.span(1)):
            where = place_in(field, *name.span())
            if where.of(text) == name.group():
                yield name.group(), where, TOOLS
