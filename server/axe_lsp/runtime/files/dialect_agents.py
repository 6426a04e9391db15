"""Agents of other dialects on disk: the roles of Codex, the agents of Mistral Vibe, and agents in Markdown.

Which file a name means, and what it inherits, follows the rules of each program. A text that is open in
an editor wins over the file. Everything here may block.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition, valid_values
from axe_lsp.agentfile.codex_agent import codex_agent, codex_objection
from axe_lsp.agentfile.other_programs import (
    AGENTS,
    CODEX,
    IN_MARKDOWN,
    OPENCODE,
    VIBE,
    Program,
    stem_of,
)
from axe_lsp.agentfile.text.reading import values_of
from axe_lsp.agentfile.vibe_agent import is_subagent, prompt_file, vibe_agent, vibe_objection
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.plain_text import shown_path

CONFIG = "config.toml"
PROMPTS = "prompts"
"""The folder of prompts of Vibe, beside that of agents."""

Read = Callable[[Path], str]
"""The text of a file. Raises OSError, or ValueError if the file is not text."""


class DialectAgent(Struct, frozen=True):
    """One agent. `path` is its file; that is config.toml for a role of Codex that has no other.

    `inherited` is what counts where the file says nothing: from config.toml, which may have
    declared the role, and from a role of the same name in a lower layer. `is_outside` says that a
    project has declared a file that is not its own.
    """

    name: str
    path: Path
    inherited: Mapping[str, Any] = field(default_factory=dict)
    is_declared: bool = False
    is_outside: bool = False


class DialectAgents(Struct, frozen=True):
    """The agents of one dialect by name, as they are visible from a folder.

    `session` are the values of config.toml that agents inherit, `callable` the names that agents of
    the dialect may call. `is_main` is whether a person names them, and not another agent.
    """

    dialect: Program
    agents: Mapping[str, DialectAgent]
    callable: tuple[str, ...] = ()
    session: Mapping[str, Any] = field(default_factory=dict)
    read_prompt: Callable[[str], str] = lambda _: ""
    is_main: bool = False

    def definition(self, agent: DialectAgent, text: str) -> AgentDefinition:
        """Return the meaning of an agent's file. Raises DefinitionError, and ConfigError for a refused file."""
        if agent.is_outside:
            shown = shown_path(agent.path)
            if self.dialect in IN_MARKDOWN:
                raise ConfigError(f"{shown} is a link to a file outside its project")
            raise ConfigError(f"config.toml names {shown} as a role, which is outside its project")
        if self.dialect in IN_MARKDOWN:
            from axe_lsp.agentfile.markdown_agent import markdown_agent

            return markdown_agent(
                self.dialect, text, agent.name, self.callable, is_main=self.is_main
            )
        if self.dialect is VIBE:
            values = valid_values(text, vibe_objection)
            file = prompt_file(values)
            prompt = self.read_prompt(file) if file else ""
            return vibe_agent(values, agent.name, self.callable, prompt)
        check = partial(codex_objection, inherited=agent.inherited, is_declared=agent.is_declared)
        own = {} if agent.path.name == CONFIG else valid_values(text, check)
        values = {**agent.inherited, **own}
        return codex_agent(values, agent.name, self.session, self.callable)


def codex_agents(layers: Sequence[Path], home: Path | None, read: Read) -> DialectAgents:
    """Return the roles of the `.codex` folders in `layers`, of which the last one wins.

    `home` is the user's own of these. All others may declare only files of their project, since the
    text of a role goes to a provider.
    """
    project = next((each.parent for each in layers if each != home), None)
    found: dict[str, DialectAgent] = {}
    session: dict[str, Any] = {}
    for layer in layers:
        config = _values(layer / CONFIG, read) or {}
        names = ("agents", "mcp_servers")
        tables = {name: {**_table(session, name), **_table(config, name)} for name in names}
        session = {**session, **config, **tables}
        within = project if layer != home else None
        for role in _roles_of_layer(layer, config, read):
            lower = found.get(role.name)
            found[role.name] = replace(
                role,
                inherited={**lower.inherited, **role.inherited} if lower else role.inherited,
                is_outside=within is not None and not _is_below(role.path, within),
            )
    return DialectAgents(CODEX, found, tuple(found), session)


def vibe_agents(folders: Sequence[Path], read: Read) -> DialectAgents:
    """Return the agents in folders, of which the first one wins."""
    found: dict[str, DialectAgent] = {}
    subagents = []
    for folder in folders:
        for path in _files_in(folder, VIBE):
            if path.stem in found or path.stem.casefold() == "main":
                continue
            values = _values(path, read)
            found[path.stem] = DialectAgent(path.stem, path)
            if values is not None and is_subagent(values):
                subagents.append(path.stem)
    prompts = [each.parent / PROMPTS for each in folders]
    return DialectAgents(
        VIBE, found, tuple(subagents), read_prompt=partial(read_prompt, prompts, read)
    )


def markdown_agents(
    program: Program, layers: Sequence[Path], homes: Sequence[Path], read: Read, *, is_main: bool
) -> DialectAgents:
    """Return the agents of a program in Markdown in `layers`, the user's `homes` first and then outer ones first.

    Of several of one name the program's rules choose, and what it does not load comes last. A link that leads out of the
    project is not followed, since the text goes to a provider.
    """
    found: dict[str, tuple[DialectAgent, bool]] = {}
    for layer, path in _from_weakest(program, layers, next(iter(homes), None)):
        from axe_lsp.agentfile.markdown_agent import called_in, first_fault

        try:
            text = read(path)
        except (OSError, ValueError):
            continue
        called = called_in(program, text, _name_by_path(path, layer, program))
        if called is None or (called.name in found and first_fault(program, text) is not None):
            continue
        is_outside = layer not in homes and not _is_below(path, layer.parent)
        agent = DialectAgent(called.name, path, is_outside=is_outside)
        found[called.name] = agent, called.is_callable
    agents = {name: agent for name, (agent, _) in sorted(found.items())}
    names = tuple(name for name in agents if found[name][1])
    return DialectAgents(program, agents, names, is_main=is_main)


def _from_weakest(
    program: Program, layers: Sequence[Path], home: Path | None
) -> Iterator[tuple[Path, Path]]:
    """Yield the layers and files in them; of files of one name the last one wins."""
    users, project = ([each for each in layers if (each == home) is own] for own in (True, False))
    project = project[::-1] if program.outer_wins else project
    for layer in [*project, *users] if program.user_wins else [*users, *project]:
        files = list(_markdown_files(layer, program))
        for path in files if program.last_wins else reversed(files):
            yield layer, path


def _markdown_files(layer: Path, program: Program) -> Iterator[Path]:
    for folder in program.folders:
        found = _files_in(layer / folder, program, is_recursive=program.is_recursive)
        # opencode reads files in folders after those beside them.
        yield from sorted(found, key=lambda each: len(each.parts)) if program is OPENCODE else found


def _name_by_path(path: Path, layer: Path, program: Program) -> str:
    """Return the name of a file without a `name`: for opencode its path below the folder of agents."""
    if program is not OPENCODE:
        return stem_of(path.name)
    inside = path.relative_to(layer).with_suffix("")
    return "/".join(inside.parts[1:])


def read_prompt(folders: Sequence[Path], read: Read, file: str) -> str:
    """Return the text of a prompt in the first of some folders that has it, "" if none has.

    A link that leads out of the project is not followed, since the text goes to a provider.
    """
    for folder in folders:
        path = folder / file
        if path.is_file() and _is_below(path, folder.parent.parent):
            try:
                return read(path).strip()
            except (OSError, ValueError):
                return ""
    return ""


def _roles_of_layer(layer: Path, config: Mapping[str, Any], read: Read) -> Iterator[DialectAgent]:
    """Yield the roles that a layer declares, then those whose files stand alone; each name once."""
    declared, names = set(), set()
    for name, role in _table(config, "agents").items():
        if not isinstance(role, Mapping):
            continue  # A setting of all agents, such as `max_depth`.
        file = role.get("config_file")
        path = Path(os.path.normpath(layer / file)) if isinstance(file, str) else layer / CONFIG
        values = _values(path, read) if isinstance(file, str) else {}
        if values is None and not path.is_file():
            continue  # Codex drops a role whose file is not there.
        declared.add(path)
        known = _name(values or {}) or name.strip()
        names.add(known)
        said = {**_description(role), **_description(values or {})}
        yield DialectAgent(known, path, said, is_declared=True)
    for path in _files_in(layer / AGENTS, CODEX, is_recursive=True):
        values = _values(path, read)
        known = _name(values or {}) or path.stem
        if path not in declared and known not in names:
            names.add(known)
            yield DialectAgent(known, path, _description(values or {}))


def _is_below(path: Path, folder: Path) -> bool:
    real = Path(os.path.realpath(path))
    return Path(os.path.realpath(folder)) in real.parents


def _description(values: Mapping[str, Any]) -> Mapping[str, Any]:
    description = values.get("description")
    return {"description": description} if isinstance(description, str) else {}


def _table(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a table of a config.toml, empty if it has none."""
    table = config.get(name)
    return table if isinstance(table, Mapping) else {}


def _name(values: Mapping[str, Any]) -> str:
    name = values.get("name")
    return name.strip() if isinstance(name, str) else ""


def _values(path: Path, read: Read) -> Mapping[str, Any] | None:
    """Return the values of a file; None if it is not there or is no TOML."""
    try:
        return values_of(read(path))
    except (OSError, ValueError):
        return None


def _files_in(folder: Path, program: Program, *, is_recursive: bool = False) -> Iterator[Path]:
    """Yield the agent files in a folder, in the order of their paths. A link to a folder is one, once."""
    waiting, seen = [folder], set()
    while waiting:
        path = waiting.pop()
        if program.is_agent_file(path.name) and path.is_file():
            yield path
        elif path == folder or (is_recursive and path.is_dir()):
            real = os.path.realpath(path)
            if real in seen:
                continue
            seen.add(real)
            try:
                waiting += sorted(path.iterdir(), reverse=True)
            except OSError:
                continue
