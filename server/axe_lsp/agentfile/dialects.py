"""The dialects: whose agent files these are. One row for each program, and nothing else asks which it is.

A dialect says which keys its files may have, which problems they can have beyond their schema, and how an
agent gets its name; `other_programs.py` says where the files lie. A further one is a schema and a row in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Protocol, TypedDict

from msgspec import Struct

from axe_lsp.agentfile import other_programs
from axe_lsp.agentfile.check.agent_tests import agent_tests
from axe_lsp.agentfile.check.axe import axe_agent, axe_config
from axe_lsp.agentfile.check.check import Judge
from axe_lsp.agentfile.check.claude import claude_agent
from axe_lsp.agentfile.check.codex import codex_agent, codex_project_config, codex_user_config
from axe_lsp.agentfile.check.codex_layers import codex_settings
from axe_lsp.agentfile.check.copilot import copilot_agent
from axe_lsp.agentfile.check.cursor import cursor_agent, kiro_agent
from axe_lsp.agentfile.check.gemini import gemini_agent, gemini_command
from axe_lsp.agentfile.check.opencode import opencode_agent, opencode_command
from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.check.vibe import vibe_agent, vibe_config
from axe_lsp.agentfile.lookup_order import AGENT_FOLDERS, SUFFIX, TEST_FOLDERS
from axe_lsp.agentfile.other_programs import SETTINGS_FILE, Program, program_by_keys
from axe_lsp.agentfile.schema.agent_keys import AGENT
from axe_lsp.agentfile.schema.codex_keys import (
    CODEX_AGENT,
    CODEX_PROJECT_CONFIG,
    CODEX_USER_CONFIG,
)
from axe_lsp.agentfile.schema.codex_names import BUILT_IN_AGENTS
from axe_lsp.agentfile.schema.config_keys import CONFIG
from axe_lsp.agentfile.schema.key_spec import KeyPath, Schema
from axe_lsp.agentfile.schema.markdown_keys import (
    CLAUDE_AGENT,
    CLAUDE_BUILT_IN,
    COPILOT_AGENT,
    CURSOR_AGENT,
    GEMINI_AGENT,
    GEMINI_BUILT_IN,
    GEMINI_COMMAND,
    KIRO_AGENT,
    OPENCODE_AGENT,
    OPENCODE_BUILT_IN,
    OPENCODE_COMMAND,
)
from axe_lsp.agentfile.schema.nested import Node
from axe_lsp.agentfile.schema.test_keys import TESTS
from axe_lsp.agentfile.schema.vibe_keys import BUILT_IN_AGENTS as VIBES_OWN_AGENTS
from axe_lsp.agentfile.schema.vibe_keys import RESERVED_NAME, VIBE_AGENT, VIBE_CONFIG
from axe_lsp.agentfile.text.front_matter import (
    CLAUDE_SYNTAX,
    COMMAND_SYNTAX,
    COPILOT_SYNTAX,
    GEMINI_SYNTAX,
    LENIENT_SYNTAX,
    OPENCODE_SYNTAX,
    MarkdownParse,
    Syntax,
)
from axe_lsp.agentfile.text.parse import Parse
from axe_lsp.agentfile.text.toml import parse_tree

if TYPE_CHECKING:
    from typing_extensions import Unpack  # `typing` has it from Python 3.11 on.


class MergedJudge(Protocol):
    """Finds the problems of settings in the tree of their values, merged over that of all lower layers.

    The texts of all layers are free of syntax errors if `is_whole`.
    """

    def __call__(self, schema: Schema, root: Node, *, is_whole: bool) -> Iterator[Problem]: ...


class FileKind(Struct, frozen=True, eq=False):
    """A kind of file: an agent, or the settings of the program. There is one object for each kind in a process.

    `judge` finds what the rows of the schema can't express. Of settings that the program merges with those of
    other layers, `judge_merged` finds what only the merged values show. A file in Markdown has a `syntax` of its front
    matter, and its `judge` finds everything; files in TOML have none.
    """

    schema: Schema
    judge: Judge
    is_agent: bool = True
    judge_merged: MergedJudge | None = None
    syntax: Syntax | None = None

    def parse(self, text: str, before: Parse | None = None) -> Parse:
        """Return the parse of a text; `before` is that of the text before an edit."""
        if self.syntax is not None:
            return MarkdownParse(text, self.syntax, before)
        return Parse(text, before)

    def __repr__(self) -> str:
        return f"FileKind({self.schema.name!r})"

    def __reduce__(self) -> tuple[Callable[[str], FileKind], tuple[str]]:
        return _kind_of, (self.schema.name,)  # Another process has its own object.


class Dialect(Struct, frozen=True, eq=False):
    """The agents of one program, which is None for axe.

    `config` is the kind of a project's settings, `user_config` that of the user's own if that is another one.
    An agent is named by the key `name` if it `has_names`, else by its file. It needs the keys in `needed`
    unless settings declare it. Of the files that the settings name, those of the keys in `read_at_start` have to be
    there, with such a content. `prompt` is the key of the system prompt in TOML. `built_in` are the names of the program's own agents, and `reserved` those
    that no agent may have.
    """

    agent: FileKind
    config: FileKind
    program: Program | None = None
    user_config: FileKind | None = None
    has_names: bool = False
    needed: tuple[str, ...] = ()
    prompt: KeyPath = ()
    built_in: tuple[str, ...] = ()
    reserved: tuple[str, ...] = ()
    read_at_start: Mapping[KeyPath, str] = {}


class _Columns(TypedDict, total=False):
    built_in: tuple[str, ...]


TEXT, CATALOG, HOOKS = "text", "catalog of models", "hooks"
RULES, SERVER = "rules", "program of a server"
"""The kinds of files that a program reads at its start, or starts."""

AXE = Dialect(
    FileKind(AGENT, axe_agent),
    FileKind(CONFIG, axe_config, is_agent=False),
    prompt=("system_prompt",),
)

CODEX = Dialect(
    FileKind(CODEX_AGENT, codex_agent),
    FileKind(
        CODEX_PROJECT_CONFIG, codex_project_config, is_agent=False, judge_merged=codex_settings
    ),
    other_programs.CODEX,
    FileKind(CODEX_USER_CONFIG, codex_user_config, is_agent=False, judge_merged=codex_settings),
    has_names=True,
    needed=("name", "description", "developer_instructions"),
    prompt=("developer_instructions",),
    built_in=BUILT_IN_AGENTS,
    read_at_start={
        ("model_instructions_file",): TEXT,
        ("experimental_compact_prompt_file",): TEXT,
        ("model_catalog_json",): CATALOG,
    },
)

VIBE = Dialect(
    FileKind(VIBE_AGENT, vibe_agent),
    FileKind(VIBE_CONFIG, vibe_config, is_agent=False),
    other_programs.VIBE,
    built_in=VIBES_OWN_AGENTS,
    reserved=(RESERVED_NAME,),
)

_TESTS = FileKind(TESTS, agent_tests, is_agent=False)
AGENT_TESTS = Dialect(_TESTS, _TESTS)
"""Tests of axe's agents. They name agents and are none, and have no settings."""


def _alone(kind: FileKind, program: Program, **columns: Unpack[_Columns]) -> Dialect:
    """Return the dialect of a program whose settings are not read."""
    return Dialect(kind, kind, program, **columns)


CLAUDE = _alone(
    FileKind(CLAUDE_AGENT, claude_agent, syntax=CLAUDE_SYNTAX),
    other_programs.CLAUDE,
    built_in=CLAUDE_BUILT_IN,
)
COPILOT = _alone(
    FileKind(COPILOT_AGENT, copilot_agent, syntax=COPILOT_SYNTAX), other_programs.COPILOT
)
OPENCODE = _alone(
    FileKind(OPENCODE_AGENT, opencode_agent, syntax=OPENCODE_SYNTAX),
    other_programs.OPENCODE,
    built_in=OPENCODE_BUILT_IN,
)
GEMINI = _alone(
    FileKind(GEMINI_AGENT, gemini_agent, syntax=GEMINI_SYNTAX),
    other_programs.GEMINI,
    built_in=GEMINI_BUILT_IN,
)
GEMINI_COMMANDS = _alone(
    FileKind(GEMINI_COMMAND, gemini_command, is_agent=False), other_programs.GEMINI_COMMANDS
)

OPENCODE_COMMANDS = _alone(
    FileKind(OPENCODE_COMMAND, opencode_command, is_agent=False, syntax=COMMAND_SYNTAX),
    other_programs.OPENCODE_COMMANDS,
)
CURSOR = _alone(FileKind(CURSOR_AGENT, cursor_agent, syntax=LENIENT_SYNTAX), other_programs.CURSOR)
KIRO = _alone(FileKind(KIRO_AGENT, kiro_agent, syntax=LENIENT_SYNTAX), other_programs.KIRO)

DIALECTS = (
    *(AXE, AGENT_TESTS, CODEX, VIBE, CLAUDE, COPILOT, OPENCODE, GEMINI, GEMINI_COMMANDS),
    *(OPENCODE_COMMANDS, CURSOR, KIRO),
)
LAYERED: Mapping[Program, Dialect] = {
    each.program: each for each in DIALECTS if each.program is not None
}
"""The dialects whose files are in the folder of a program, by the program."""

_BY_KIND = {
    kind: each
    for each in DIALECTS
    for kind in (each.agent, each.config, each.user_config)
    if kind is not None
}


def dialect_of(kind: FileKind) -> Dialect:
    """Return the dialect of a kind of file."""
    return _BY_KIND[kind]


def _kind_of(schema: str) -> FileKind:
    return next(each for each in _BY_KIND if each.schema.name == schema)


_OTHERS = frozenset(LAYERED[each].agent.schema.program for each in other_programs.PROGRAMS)


def is_other_program(title: str) -> bool:
    """Return whether agents of the program of this title can be named by files of axe."""
    return title in _OTHERS


def program_title(program: Program | None) -> str:
    """Return the name of a program as people write it: `Claude Code`."""
    return (AXE if program is None else LAYERED[program]).agent.schema.program


def program_titled(title: str) -> Program:
    """Return the program of this title."""
    return next(each for each in LAYERED if program_title(each) == title)


def dialect_of_loose(name: str, text: str) -> Dialect:
    """Return the dialect of an agent in none of the usual folders, by the name of its file and the keys at its top."""
    if name == SETTINGS_FILE or not any(each.own_key in text for each in LAYERED if each.own_key):
        return AXE  # Without parsing: nearly all files.
    program = program_by_keys(top_names(text))
    return LAYERED[program] if program is not None else AXE


def top_names(text: str) -> set[str]:
    """Return the names of the keys and tables at the top of a TOML text, which may have errors."""
    tables = parse_tree(text)[0].tables
    names = {name for each in tables[:1] for entry in each.entries for name in entry.key.names[:1]}
    return names.union(name for each in tables[1:] for name in each.path[:1])


def kinds() -> Iterator[FileKind]:
    """Yield all kinds of files."""
    yield from _BY_KIND


# Globs of the files of all dialects, for editors: which files are served, and watched. `**/` stands for any
# number of folders, none included.


def agent_globs() -> Iterator[str]:
    """Yield the globs of agent files in TOML: `**/.codex/agents/**/*.toml`."""
    yield from (f"**/{folder}/*{SUFFIX}" for folder in AGENT_FOLDERS)
    yield from (glob for each in other_programs.IN_TOML for glob in _globs_of(each))


def markdown_globs() -> Iterator[str]:
    """Yield the globs of agents in Markdown, which keep their language: `**/.claude/agents/**/*.md`."""
    for program, dialect in LAYERED.items():
        if dialect.agent.syntax is not None:
            yield from _globs_of(program)


def user_markdown_globs() -> Iterator[str]:
    """Yield the globs of the user's agents in Markdown, where their folder has another name: `**/.copilot/agents/**/*.md`."""
    for program, dialect in LAYERED.items():
        if dialect.agent.syntax is not None and program.user_layer:
            yield from _globs_of(program, program.user_layer)


def _globs_of(program: Program, layer: str = "") -> Iterator[str]:
    below = "**/" if program.is_recursive else ""
    folders = (f"{layer or program.layer}/{each}" for each in program.folders)
    return (f"**/{folder}/{below}*{program.suffix}" for folder in folders)


def settings_globs() -> Iterator[str]:
    """Yield the globs of other files about agents: tests, settings of projects (`**/.codex/config.toml`), and commands."""
    yield from (f"**/{folder}/*{SUFFIX}" for folder in TEST_FOLDERS)
    yield from (f"**/{each.layer}/{each.settings}" for each in LAYERED if each.settings)
    yield from _globs_of(other_programs.GEMINI_COMMANDS)


def usual_folders() -> Iterator[str]:
    """Yield the folders of agents, of tests and of settings, below a project: `.codex/agents` and `.codex`."""
    yield from AGENT_FOLDERS
    yield from TEST_FOLDERS
    for program in LAYERED:
        yield from program.agents
        if program.settings:
            yield program.layer
