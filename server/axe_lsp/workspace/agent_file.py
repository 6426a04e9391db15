"""One agent file as its workspace sees it: what it says about itself and about others.

An open config.toml is such a file, too, without statements about agents.

This is all that is kept of a file that nobody has open, so it must be small.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from posixpath import normpath
from zlib import crc32

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import DEFAULT_MAX_DEPTH
from axe_lsp.agentfile.check.agent_tests import RECORDINGS, outline
from axe_lsp.agentfile.check.axe import INPUT, OUTPUT
from axe_lsp.agentfile.check.check import Judge, check
from axe_lsp.agentfile.check.codex_tables import DECLARED_AGENTS, required_commands
from axe_lsp.agentfile.check.copilot import is_plain
from axe_lsp.agentfile.check.front_matter import agents_named, is_meant_as_agent, skills_named
from axe_lsp.agentfile.check.ignores import Ignore, read_ignores
from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.check.secret_values import discreet
from axe_lsp.agentfile.dialects import (
    AGENT_TESTS,
    AXE,
    CLAUDE,
    CODEX,
    COPILOT,
    GEMINI_COMMANDS,
    HOOKS,
    OPENCODE,
    RULES,
    SERVER,
    VIBE,
)
from axe_lsp.agentfile.other_programs import OF_AXE
from axe_lsp.agentfile.schema.agent_types import filled_by
from axe_lsp.agentfile.schema.key_spec import ANY_NAME, KeyPath, Names, Schema
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.nested import Node, nested, nested_in
from axe_lsp.agentfile.schema.schema_keywords import Member, members_of
from axe_lsp.agentfile.schema.tools import SIDE_RUN_TOOLS, tools_meant
from axe_lsp.agentfile.text.front_matter import MarkdownParse
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.ranges import TextRange
from axe_lsp.agentfile.text.values import decode
from axe_lsp.workspace.file_values import FileValues, Written
from axe_lsp.workspace.outside_values import (
    NOTHING,
    Outside,
    Question,
    question,
    read_outside,
    web_of_vibe,
)
from axe_lsp.workspace.places import Place, Scope

SYNTAX = "syntax"
SUB_AGENTS: KeyPath = ("sub_agents",)
TASK_TYPES: KeyPath = ("task", "types")
HOOKS_KEY: KeyPath = ("hooks",)
HOOKS_FILE = "hooks.json"
"""The file beside the settings of Codex that may have hooks, too."""
RULES_FOLDER = "rules"
"""The folder beside the settings of Codex with rules for commands."""
FURTHER_INSTRUCTIONS = "project_doc_fallback_filenames"
"""The key of further names of such files, for folders that have none of these."""

INSTRUCTION_FILES = ("AGENTS.override.md", "AGENTS.md")
"""The files with instructions for Codex in a folder, of which the first one counts."""

_FURTHER_INSTRUCTIONS = (FURTHER_INSTRUCTIONS,)
CALLS: KeyPath = ("case", "expect", "tools", "calls", "name")
RECORDING: KeyPath = ("case", "replay")
"""The key of recordings of tests, also where a case names none and has the usual one."""
PROMPT: KeyPath = ("prompt",)
_PLACEHOLDER = re.compile(r"@\{([\w.-][\w./ -]*)\}")
"""A file in a prompt of Gemini CLI, by a plain path from the project."""
MAX_MAX_DEPTH = 5
"""Deeper than this no agent is called, whatever the files say."""
_NOWHERE = TextRange(0, 0)


class Reference(Written, frozen=True, gc=False):
    """One name in a list that names agents. `key` is the list's.

    `callers` are in tests, where the agent is expected to be called: who calls whom, from the agent of the case on.
    """

    callers: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name as it is written."""
        return self.value


class Declaration(Struct, frozen=True, gc=False):
    """An agent that a program's settings declare. `file` is the path as it is written, or "".

    `names` are the places that name it: headers, and the fronts of dotted keys.
    """

    name: str
    names: tuple[TextRange, ...]
    file: str = ""
    file_range: TextRange | None = None
    has_description: bool = False

    @property
    def range(self) -> TextRange:
        """The first place that names it."""
        return self.names[0] if self.names else _NOWHERE


class AgentFile(Struct, frozen=True, dict=True):
    """The data of one file.

    `open` is there only while an editor has the file open. `typed` is where an agent with a typed input says so; `input` and `output` are what it is called
    with and answers, as far as they have names. `timeout` is its own, `call_timeout` that of its calls.
    `declarations` are in files of settings, whose values `settings` are if the program merges those of its layers. `offered` are the tools that its model gets, besides those of servers and
    of agents with an input, and `calls` those that tests expect to be called. `lacking` are the keys that its program wants of a file alone.
    One that `has_copy` works in a copy of its folder. `prompt_mark` is a checksum of the prompt, 0 without one.
    Markdown that `is_prose` lies in a folder of agents, and its program does not take it for one: a README.md.
    `refusal` is the fault for which another program that reads the folder, too, does not load the file.
    """

    place: Place
    name: Written | None
    model: Written | None
    description: str
    tools: tuple[str, ...]
    references: tuple[Reference, ...]
    max_depth: int
    outside: Outside
    typed: TextRange | None = None
    input: tuple[Member, ...] = ()
    output: tuple[Member, ...] = ()
    problems: tuple[Problem, ...] = ()
    inline_types: frozenset[str] = frozenset()
    ignores: tuple[Ignore, ...] = ()
    open: Lookup | None = None
    timeout: int = 0
    call_timeout: int = 0
    declarations: tuple[Declaration, ...] = ()
    settings: Node | None = None
    lacking: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    calls: tuple[Reference, ...] = ()
    has_copy: bool = False
    prompt_mark: int = 0
    is_prose: bool = False
    refusal: Problem | None = None

    @property
    def holds_agent(self) -> bool:
        """Whether it is an agent that others can find."""
        return self.place.holds_agent and not self.is_prose

    @property
    def schema(self) -> Schema:
        """The keys that it may have."""
        return self.place.kind.schema

    @property
    def uri(self) -> str:
        return self.place.uri

    @cached_property
    def called(self) -> str:
        """The name by which other agents call it: in Markdown the one in the file, else that of the file."""
        if self.place.kind.syntax is None:
            return self.place.stem
        return self.name.value if self.name is not None else self.place.name_by_path

    def listings(self, name: str) -> tuple[str, ...]:
        """Return the keys in `Snapshot.callers` under which files may list this agent by a name."""
        program = self.place.dialect.program
        prefixed = f"{OF_AXE if program is None else f'{program.name}:'}{name}"
        return tuple(dict.fromkeys((name, prefixed, self.listed(name))))

    def listed(self, name: str) -> str:
        """Return the key of a name that the file lists in `Snapshot.callers`: programs in Markdown have names of their own."""
        is_apart = self.place.kind.syntax is not None
        return f"{self.schema.program}\0{name}" if is_apart else name

    @cached_property
    def sub_agents(self) -> tuple[str, ...]:
        """The names of the agents that this one may call."""
        return tuple(each.name for each in self.references if each.key == SUB_AGENTS)

    @property
    def starts_side_runs(self) -> bool:
        """Whether calls of it can be side runs."""
        return any(name in self.offered for name in SIDE_RUN_TOOLS)

    @cached_property
    def problems_by_code(self) -> Mapping[str, Sequence[Problem]]:
        """The problems that the file has by itself; each is one rule's business."""
        by_code: defaultdict[str, list[Problem]] = defaultdict(list)
        for problem in self.problems:
            by_code[problem.code].append(problem)
        return by_code

    @cached_property
    def question(self) -> Question:
        """The question about things outside the file."""
        return question(self.outside, self.model)

    @property
    def workdir(self) -> str:
        """Its own working directory, or ""."""
        return self.outside.workdir.value if self.outside.workdir is not None else ""

    def is_placed_in(self, text: str) -> bool:
        """Return whether all places are certainly right in a text, as they are in the one that was read."""
        return self.open is not None and self.open.parse.text == text

    @property
    def depth_limit(self) -> int:
        """How deep calls may nest below this agent when it is the one that is run."""
        return min(self.max_depth, MAX_MAX_DEPTH) if self.max_depth > 0 else DEFAULT_MAX_DEPTH

    @property
    def program(self) -> str:
        """The name of the program whose agent it is, "axe" for our own."""
        program = self.place.dialect.program
        return program.name if program is not None else "axe"

    @property
    def start(self) -> TextRange:
        """The range to show for the agent."""
        return self.name.range if self.name is not None else _NOWHERE


def read_agent_file(
    place: Place,
    text: str,
    *,
    is_open: bool = False,
    before: Lookup | None = None,
    fault: str = "",
    fault_at: int = 0,
) -> AgentFile:
    """Return the data of `text`, with its problems. Never raises.

    `before` is what was read of the text that an edit has made this one of. A `fault` of the file as such
    stands in for everything that its text might be blamed for.
    """
    kind = place.kind
    parse = kind.parse(text, before.parse if before is not None else None)
    lookup = Lookup(parse, kind.schema, before)
    there = TextRange(fault_at, min(fault_at + 1, len(text)))
    problems = (
        (Problem(SYNTAX, there, fault, (), 0),)
        if fault
        else tuple(_problems(parse, lookup, kind.judge))
    )
    said = _said if kind.schema is AXE.agent.schema else _said_in_layer
    file = replace(
        said(place, FileValues(lookup)),
        typed=lookup.place(INPUT),
        input=members_of(lookup, INPUT),
        output=members_of(lookup, OUTPUT),
        problems=problems,
        inline_types=_inline_types(lookup),
        ignores=read_ignores(parse),
        open=lookup if is_open else None,
        declarations=_declarations(lookup) if not kind.is_agent else (),
        prompt_mark=_prompt_mark(place, lookup),
        is_prose=_is_prose(place, parse),
        settings=nested_in(parse.document.tables, text) if kind.judge_merged is not None else None,
    )
    if fault:
        return replace(file, name=None, model=None)
    refusal = _refusal(file, text)
    return file if refusal is None else replace(file, refusal=refusal)


def _refusal(file: AgentFile, text: str) -> Problem | None:
    """Return the first fault for which Copilot CLI does not load an agent of a project that Claude Code loads."""
    place = file.place
    is_read = place.dialect is CLAUDE and place.scope is Scope.WORKSPACE and not file.is_prose
    if (
        not is_read
        or is_plain(text)
        or any(each.fatal and not each.is_warning for each in file.problems)
    ):
        return None
    kind = COPILOT.agent
    parse = kind.parse(text)
    problems = _problems(parse, Lookup(parse, kind.schema), kind.judge)
    faults = [each for each in problems if each.fatal and not each.is_warning]
    return min(faults, key=lambda each: each.range, default=None)


def _is_prose(place: Place, parse: Parse) -> bool:
    if not isinstance(parse, MarkdownParse) or parse.parts.matter is not None:
        return False
    return place.dialect is not OPENCODE and not is_meant_as_agent(parse.text)


def _said(place: Place, values: FileValues) -> AgentFile:
    """Return the data of a file, without the parts that only few files have."""
    filled = _filled(values)
    description = filled.get("description", values.decoded(("description",)))
    return AgentFile(
        place=place,
        name=values.string(("name",)),
        model=values.string(("model",)),
        description=description if isinstance(description, str) else "",
        tools=tuple(filled.get("tools", (each.value for each in values.strings(("tools",))))),
        references=(*_names(values, SUB_AGENTS), *_names(values, TASK_TYPES)),
        max_depth=_number(values, ("sub_agents_config", "max_depth")),
        outside=read_outside(values),
        offered=tuple(_offered(values, filled)),
        timeout=_number(values, ("timeout",)),
        call_timeout=_number(values, ("sub_agents_config", "timeout")),
        has_copy=values.decoded(("isolation", "mode")) == "copy",
    )


def _offered(values: FileValues, filled: Mapping[str, str | list[str]]) -> Iterator[str]:
    listed, allow, deny = (
        [each.value for each in values.strings(path)]
        for path in (("tools",), ("tool_policy", "allow"), ("tool_policy", "deny"))
    )
    yield from tools_meant([*listed, *filled.get("tools", ())], allow, deny)
    calling = [
        *(["call_agent"] if values.strings(SUB_AGENTS) else []),
        *(["Task"] if values.has(("task",)) else []),
    ]
    yield from calling
    if calling and values.decoded(("sub_agents_config", "background")) in ("optional", "always"):
        yield from SIDE_RUN_TOOLS


def _number(values: FileValues, path: KeyPath) -> int:
    value = values.decoded(path)
    return value if isinstance(value, int) else 0


def _said_in_layer(place: Place, values: FileValues) -> AgentFile:
    """Return the data of a file of another dialect: who it is, and not whom it calls."""
    description = values.decoded(("description",))
    return AgentFile(
        place=place,
        name=values.string(("name",)) if place.kind.is_agent else None,
        model=None,
        description=description if isinstance(description, str) else "",
        tools=(),
        references=tuple(_agents_named(place, values)),
        max_depth=0,
        outside=_outside_in_layer(place, values),
        lacking=_lacking(place, values),
        calls=tuple(_calls(place, values)),
    )


def _outside_in_layer(place: Place, values: FileValues) -> Outside:
    paths = tuple(_paths(place, values))
    web = tuple(web_of_vibe(values)) if place.kind is VIBE.agent else ()
    skills = tuple(Written(*each) for each in skills_named(values.lookup))
    contents = tuple(_contents(place, paths, values))
    program = place.dialect.program if place.dialect is CODEX else None
    if not (paths or web or contents or program or skills):
        return NOTHING
    return Outside(
        paths=paths,
        tested=_tested(place, values) if paths else "",
        web=web,
        contents=contents,
        program=program.name if program is not None else "",
        instructions=tuple(_instruction_files(place, values.lookup)) if program is not None else (),
        inherits_instructions=place.kind.is_agent or not values.has(_FURTHER_INSTRUCTIONS),
        skills=skills,
    )


def _contents(
    place: Place, paths: Sequence[Written], values: FileValues
) -> Iterator[tuple[str, str]]:
    """Yield the files that the program of settings reads or starts at its start, each after its kind."""
    kinds = place.dialect.read_at_start if not place.kind.is_agent else {}
    if not kinds:
        return
    for each in paths:
        if each.key in kinds:
            yield kinds[each.key], each.value
    if values.has(HOOKS_KEY):
        yield HOOKS, HOOKS_FILE
    yield RULES, RULES_FOLDER
    servers = nested(values.lookup, ("mcp_servers",))
    yield from ((SERVER, each.value) for each in required_commands(servers))


def _instruction_files(place: Place, lookup: Lookup) -> Iterator[str]:
    """Yield the paths of which the first file has the instructions of the folder that a layer of Codex is about."""
    if not f"{place.folder}/".startswith(f"{place.layer}/"):
        return  # An agent that settings name, which ask for themselves.
    is_users = place.scope is Scope.USER
    depth = place.folder.count("/") - place.layer.count("/")
    up = "../" * (depth if is_users else depth + 1)
    further = None if place.kind.is_agent else lookup.decoded(_FURTHER_INSTRUCTIONS)
    for name in (*INSTRUCTION_FILES, *(further if isinstance(further, list) else ())):
        if isinstance(name, str) and is_instruction_file(name):
            yield f"{up}{name}"


def is_instruction_file(name: str) -> bool:
    """Return whether a name of a file with instructions is one without a folder; Codex ignores others."""
    return bool(name.strip()) and not {"/", "\\", "\0"} & {*name}


def _agents_named(place: Place, values: FileValues) -> Iterator[Reference]:
    """Yield the agents of axe that single keys name, in tests, and those of its own program that an agent in Markdown names."""
    lookup = values.lookup
    if place.kind.syntax is not None:
        for name, where, path in agents_named(lookup):
            yield Reference(name, where, path)
        return
    if place.dialect is not AGENT_TESTS:
        return
    tests = outline(lookup)
    for spec in lookup.schema.keys:
        if spec.names is Names.AGENT and len(spec.path) == 1:
            name = lookup.decoded(spec.path)
            value = lookup.value(spec.path)
            if value is not None and isinstance(name, str) and name.strip():
                yield Reference(name, value.range, spec.path)
    for start, piece in tests.pieces:
        for each in piece.agents:
            callers = () if each.callers is None else (tests.agent, *each.callers)
            yield Reference(each.name, each.range.moved(start), each.path, callers=callers)


def _calls(place: Place, values: FileValues) -> Iterator[Reference]:
    """Yield the tools that tests expect to be called, by whom; not those that need not be, or that may be missing."""
    if place.dialect is not AGENT_TESTS:
        return
    tests = outline(values.lookup)
    for start, piece in tests.pieces:
        for each in piece.tools:
            callers = (tests.agent, *each.callers)
            yield Reference(each.name, each.range.moved(start), CALLS, callers=callers)


def _paths(place: Place, values: FileValues) -> Iterator[Written]:
    """Yield the files that are named by a path from the folder of this one."""
    lookup = values.lookup
    if place.dialect is AGENT_TESTS:
        for start, piece in outline(lookup).pieces:
            for case in piece.cases:
                if case.name:
                    path = _recording_path(case.recording(place.stem))
                    yield Written(path, case.replay_range.moved(start), RECORDING)
        return
    if place.dialect is GEMINI_COMMANDS:
        yield from _placeholders(place, lookup)
    for item in lookup.located:
        spec = lookup.schema.find(item.path)
        if spec is None or spec.names is not Names.FILE or item.entry.value is None:
            continue
        if spec.path[0] == DECLARED_AGENTS:
            continue  # Agents, not just files.
        path = decode(lookup.parse.text, item.entry.value)
        if isinstance(path, str) and path.strip():
            yield Written(path, item.entry.value.range, item.path)


def _placeholders(place: Place, lookup: Lookup) -> Iterator[Written]:
    """Yield the files that a command of a project takes in with `@{path}`, which starts at the project."""
    value = lookup.value(PROMPT)
    if value is None or place.scope is Scope.USER:
        return
    project = place.layer.rpartition("/")[0]
    up = "../" * place.folder.removeprefix(project).count("/")
    for match in _PLACEHOLDER.finditer(lookup.parse.text, *value.range):
        yield Written(f"{up}{match.group(1)}", TextRange(*match.span()), PROMPT)


@lru_cache(maxsize=4096)
def _recording_path(recording: str) -> str:
    """Return the path from the folder of the file of tests. Each keystroke asks for those of all cases."""
    return normpath(f"{RECORDINGS}/{recording}")


def _tested(place: Place, values: FileValues) -> str:
    """Return the agent of a file of tests, "" for other files."""
    return outline(values.lookup).agent if place.dialect is AGENT_TESTS else ""


def _lacking(place: Place, values: FileValues) -> tuple[str, ...]:
    """Return the keys that a file alone needs and has not, or a blank one where the file is found by it."""
    if not place.kind.is_agent:
        return ()
    name = values.decoded(("name",))
    is_blank = isinstance(name, str) and not name.strip()
    return tuple(
        key
        for key in place.dialect.needed
        if not values.has((key,)) or (key == "name" and is_blank)
    )


def _declarations(lookup: Lookup) -> tuple[Declaration, ...]:
    """Return the agents that settings declare."""
    table = nested(lookup, (DECLARED_AGENTS,)) if lookup.schema.find((DECLARED_AGENTS,)) else None
    found = []
    places: defaultdict[str, list[TextRange]] = defaultdict(list)
    for part in lookup.names_below((DECLARED_AGENTS,)) if table is not None else ():
        places[part.name].append(part.range)
    for name, agent in ((table.members if table is not None else None) or {}).items():
        spec = lookup.schema.find((DECLARED_AGENTS, name))
        if agent.members is None or spec is None or spec.path[-1] != ANY_NAME:
            continue
        file = agent.members.get("config_file")
        is_named = file is not None and isinstance(file.value, str)
        found.append(
            Declaration(
                name=name,
                names=tuple(places[name]),
                file=file.value if file is not None and is_named else "",
                file_range=file.range if file is not None and is_named else None,
                has_description="description" in agent.members,
            )
        )
    return tuple(found)


def _problems(parse: Parse, lookup: Lookup, judge: Judge) -> Iterator[Problem]:
    for each, message in zip(
        parse.problems, discreet(lookup, [each.message for each in parse.problems]), strict=True
    ):
        yield Problem(SYNTAX, each.range, message, (), 0)
    yield from check(parse, lookup, judge)


def _prompt_mark(place: Place, lookup: Lookup) -> int:
    """Return a checksum of the prompt without white space around it, 0 if the file has none."""
    if not place.kind.is_agent:
        return 0
    parse, key = lookup.parse, place.dialect.prompt
    prompt: object = lookup.decoded(key) if key else None
    if isinstance(parse, MarkdownParse):
        prompt = parse.body
    if not isinstance(prompt, str) or not prompt.strip():
        return 0
    return crc32(prompt.replace("\r\n", "\n").strip().encode("utf-8", "surrogatepass"))


def _filled(values: FileValues) -> Mapping[str, str | list[str]]:
    """Return the keys that are not written and that the file's `type` fills in."""
    filled = filled_by(values.decoded(("type",)))
    return {name: value for name, value in filled.items() if not values.has((name,))}


def _inline_types(lookup: Lookup) -> frozenset[str]:
    table = ("task", "type")
    if not lookup.has(table):
        return frozenset()
    return frozenset(path[2] for path in lookup.paths if path[:2] == table and len(path) > 2)


def _names(values: FileValues, path: KeyPath) -> list[Reference]:
    strings = values.strings(path)
    return [Reference(each.value, each.range, path) for each in strings]
