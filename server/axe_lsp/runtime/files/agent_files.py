"""Agents on disk: found by file name, in the order of `agentfile/lookup_order.py`.

A text that is open in an editor wins over the file, because it is what its author sees.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field, structs
from msgspec.structs import replace

from axe_lsp.agentfile import lookup_order
from axe_lsp.agentfile.agent_definition import AgentDefinition, Source, load
from axe_lsp.agentfile.check.problem import DefinitionError
from axe_lsp.agentfile.lookup_order import (
    SUFFIX,
    AgentPlaces,
    Caller,
    by_distance,
    is_reachable,
    layers_for_axe,
    layers_of,
    near_folders,
    nested_repository,
)
from axe_lsp.agentfile.other_programs import (
    AGENTS,
    CLAUDE,
    CODEX,
    COPILOT,
    OF_AXE,
    PROGRAMS,
    SETTINGS_FILE,
    VIBE,
    Program,
    program_by_keys,
    program_named,
    program_of,
    stem_of,
)
from axe_lsp.agentfile.text.nearest import nearest
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.agentfile.text.reading import NotUtf8Error, decode_utf8, values_of
from axe_lsp.runtime.errors import AgentFileError, ConfigError
from axe_lsp.runtime.files.folders import (
    Environment,
    config_folder,
    expand_path,
    homes_of_dialects,
)
from axe_lsp.runtime.files.regular_files import is_folder, is_there, read_file
from axe_lsp.runtime.files.workspace_folders import agent_folders_below, project_root
from axe_lsp.runtime.plain_text import shown_path

if TYPE_CHECKING:
    from axe_lsp.runtime.files.dialect_agents import DialectAgent, DialectAgents


class AgentFolders(Struct, frozen=True, dict=True):
    """Folders with agent files, in the order in which they are searched, and the open texts.

    `search` finds further folders, and `others` the agents of other dialects. They may take long,
    so they are called for names that no folder has. Names that a person gives are `typed`.
    """

    folders: Sequence[Path]
    open_buffers: Mapping[Path, str] = field(default_factory=dict)
    search: Callable[[], Sequence[Path]] = tuple
    users: Path | None = None
    others: Callable[[], Sequence[DialectAgents]] = tuple
    typed: bool = False

    @cached_property
    def all_folders(self) -> Sequence[Path]:
        """Those that are searched first, and all others."""
        return tuple(dict.fromkeys((*self.folders, *self.search())))

    def resolve(self, name: str) -> AgentDefinition:
        """Return the agent of a name. Raises ConfigError, in axe's words."""
        found = self._find(name)
        if isinstance(found, Path):
            text, hidden = self._read(name, found), self._hidden(found)
            source = Source(str(found), text, hidden)
            understand: Callable[[str], AgentDefinition] = _definition
        else:
            agents, agent = found
            text = self._read(name, agent.path)
            source = Source(str(agent.path), text, dialect=agents.dialect.name)
            understand = partial(agents.definition, agent)
        try:
            # Of axe's agents, those of axe are meant, as everybody expects.
            twins = self._twins(name) if self.typed or not isinstance(found, Path) else ()
            return replace(understand(text), source=replace(source, twins=twins))
        except DefinitionError as error:
            hint = f"The error is at {shown_path(source.path)}:{error.line}:{error.column}"
            is_ours = error.is_parse_error  # The parser of axe has other words for it.
            message = _unparsable(name, str(error)) if is_ours else str(error)
            raise AgentFileError(
                message, hint, shown_path(source.path), has_words_of_axe=not is_ours
            ) from error

    def find(self, name: str) -> Path:
        """Return the file of an agent, or its open buffer. Raises ConfigError."""
        found = self._find(name)
        return found if isinstance(found, Path) else found[1].path

    def _find(self, name: str) -> Path | tuple[DialectAgents, DialectAgent]:
        """Return an agent of axe, else one of another dialect, whose names may be any text. `PROGRAM:NAME` chooses the dialect."""
        objection = lookup_order.objection(name)
        found = next(self._of_all_programs(name), None)
        if found is not None:
            return found
        program = program_named(name)
        if program is not None or name.startswith(OF_AXE):
            chosen = name.partition(":")[2]
            for each in self._of_all_programs(chosen):
                if (each[0].dialect if isinstance(each, tuple) else None) is program:
                    return each
        if objection is not None:
            raise ConfigError(objection)
        raise ConfigError(f"agent config not found: {name}", hint=self._hint(name))

    def files_of(self, name: str) -> Iterator[tuple[str, Path]]:
        """Yield the files of an agent, that of axe first, then one of each program, with the program's name or ""."""
        for each in self._of_all_programs(name):
            yield ("", each) if isinstance(each, Path) else (each[0].dialect.name, each[1].path)

    def _twins(self, name: str) -> tuple[tuple[str, str], ...]:
        """Return the agents of this name that are not meant, as another program's is looked up first."""
        others = [each for each in self._of_all_programs(name) if isinstance(each, tuple)]
        is_axes = next(self._of_all_programs(name), None) not in others
        return tuple(
            (agents.dialect.name, str(agent.path))
            for agents, agent in (others if is_axes else others[1:])
        )

    def _of_all_programs(self, name: str) -> Iterator[Path | tuple[DialectAgents, DialectAgent]]:
        """Yield the agents of a name, that of axe first, then one of each program in their order."""
        if lookup_order.objection(name) is None:
            found = self._find_in(self.folders, name) or self._find_in(self.all_folders, name)
            if found is not None:
                yield found
        for agents in self.others():
            if name in agents.agents:
                yield agents, agents.agents[name]

    def _find_in(self, folders: Sequence[Path], name: str) -> Path | None:
        for folder in folders:
            path = _file_of(name, folder)
            if path in self.open_buffers or is_there(path):
                return path
        return None

    def _hidden(self, path: Path) -> str:
        """Return the file of that name in the user's own folder, if this is not the one."""
        if self.users is None or path.parent == self.users:
            return ""
        users = self.users / path.name
        try:
            return "" if path.samefile(users) else str(users)
        except OSError:  # Nearly always there is none; or the file is an unsaved text.
            return ""

    def _hint(self, name: str) -> str:
        """Return the likely name behind a name that no agent has."""
        known = {path.stem for folder in self.all_folders for path in _agent_files(folder)}
        known.update(each for agents in self.others() for each in agents.agents)
        meant = nearest(name.removesuffix(SUFFIX), known)
        if meant is not None:
            return f"Did you mean `{meant}`?"
        looked = ", ".join(shown_path(folder) for folder in self.folders)
        more = "`axe-lsp agents list` lists the agents" if known else "`axe-lsp init` creates one"
        return f"Searched folders: {looked}. {more}."

    def list(self) -> Iterator[tuple[str, Path, AgentDefinition | ConfigError]]:
        """Yield every agent by name, with its file and what it holds or why it holds no agent."""
        seen: set[str] = set()
        for folder in self.all_folders:
            unsaved = (path for path in self.open_buffers if path.parent == folder)
            for path in sorted({*_agent_files(folder), *unsaved}):
                if path.stem not in seen:
                    seen.add(path.stem)
                    yield path.stem, path, self._load(path.stem)
        for agents in self.others():
            for name, agent in agents.agents.items():
                if name not in seen:
                    seen.add(name)
                    yield name, agent.path, self._load(name)

    def _load(self, name: str) -> AgentDefinition | ConfigError:
        try:
            return self.resolve(name)
        except ConfigError as error:
            return error

    def _read(self, name: str, path: Path) -> str:
        try:
            return _text(path, self.open_buffers)
        except FileNotFoundError:  # It has gone since it was found.
            raise ConfigError(f"agent config not found: {name}") from None
        except OSError as error:
            reason = f"{shown_path(path)}: {error.strerror}"
            raise ConfigError(f"failed to read agent config {quoted(name)}: {reason}") from error
        except NotUtf8Error as error:
            shown = shown_path(path)
            message = _unparsable(name, f"{shown} is {error}")
            raise AgentFileError(message, "", shown, has_words_of_axe=False) from error


class Lookup:
    """Finds agents for callers in one workspace. It may be asked for a whole run.

    `others` are folders of agents that are known besides `places`. Folders below the roots are searched
    for once, when the first name is missing in those that are searched before them.
    """

    def __init__(
        self,
        places: AgentPlaces,
        others: Sequence[str] = (),
        open_buffers: Mapping[Path, str] | None = None,
    ) -> None:
        self._places = places
        self._others = others
        self._open_buffers = open_buffers or {}
        self._folders: dict[Caller, AgentFolders] = {}
        self._found: tuple[Path, ...] | None = None
        self._repository_of = cache(partial(_nested_repository_of, roots=places.roots))

    def seen_from(self, caller: Caller) -> AgentFolders:
        """Return the folders of agents in the order in which names of a caller are looked up."""
        if caller not in self._folders:
            others = cache(partial(self._others_of, caller))
            near = near_folders(caller, self._places) if not caller.dialect else ()
            users = Path(self._places.user) if self._places.user else None
            reachable = partial(self._reachable, caller)
            search = partial(self._search, reachable) if not caller.dialect else tuple
            folders = tuple(reachable(map(Path, near)))
            typed = not caller.folder and not caller.dialect
            self._folders[caller] = AgentFolders(
                folders, self._open_buffers, search, users, others, typed
            )
        return self._folders[caller]

    def resolver(self, agent_file: Path | None = None) -> Callable[[str, Caller], AgentDefinition]:
        """Find the agent that a caller means. `agent_file` is the one that a person has named, if any."""

        def resolve(name: str, caller: Caller) -> AgentDefinition:
            if agent_file is not None and not caller.folder:
                return self._named(agent_file, name, caller)
            return self.seen_from(caller).resolve(name)

        return resolve

    def _named(self, file: Path, name: str, caller: Caller) -> AgentDefinition:
        """Return the agent in a file that a person has named."""
        folder = file.parent.as_posix()
        dialect = program_of(folder, self._places.homes) or self._program_by_text(file)
        if dialect is None and file.name.endswith(CLAUDE.suffix):
            dialect = COPILOT if file.name.endswith(".agent.md") else CLAUDE
        if dialect is None:
            folders = structs.replace(
                self.seen_from(caller), folders=(file.parent,), search=tuple, others=tuple
            )
            return folders.resolve(name)
        from axe_lsp.runtime.files.dialect_agents import DialectAgent

        seen_from = Caller(folder, caller.base, dialect.name)
        seen, agents = self.seen_from(seen_from), self._agents_of(dialect, seen_from)
        here = (each for each in agents.agents.values() if each.path == file)
        agent = next(here, DialectAgent(stem_of(file.name), file))
        alone = structs.replace(agents, agents={name: agent}, is_main=True)
        return structs.replace(seen, others=lambda: (alone,)).resolve(name)

    def _program_by_text(self, file: Path) -> Program | None:
        """Return the program of an agent in none of the usual folders; None for axe's, and if it can't be read as TOML."""
        try:
            text = _text(file, self._open_buffers) if file.name != SETTINGS_FILE else ""
        except (OSError, NotUtf8Error):
            return None
        return program_by_keys(values_of(text) or ())

    def _others_of(self, caller: Caller) -> Sequence[DialectAgents]:
        """Return the agents of other dialects that a caller can mean.

        A person and a file of axe mean agents of all of them, other files those of their own dialect only.
        """
        return [
            self._agents_of(program, caller)
            for program in PROGRAMS
            if (not caller.dialect or program.name == caller.dialect)
            and any(map(is_folder, self._layers_of(program, caller)))
        ]

    def _agents_of(self, program: Program, caller: Caller) -> DialectAgents:
        from axe_lsp.runtime.files.dialect_agents import (
            codex_agents,
            markdown_agents,
            vibe_agents,
        )

        read = partial(_text, open_buffers=self._open_buffers)
        homes = [Path(each) for each in self._places.users(program.name)]
        layers = self._layers_of(program, caller)
        users = homes[0] if homes else None
        if program is CODEX:
            return codex_agents(layers, users, read)
        if program is VIBE:
            return vibe_agents([each / AGENTS for each in reversed(layers)], read)
        is_main = not caller.dialect and not caller.folder
        return markdown_agents(program, layers, homes, read, is_main=is_main)

    def _layers_of(self, program: Program, caller: Caller) -> tuple[Path, ...]:
        """Return the folders of a program that count for a caller, whether or not they exist."""
        seen_from = structs.replace(caller, dialect=program.name)
        if caller.folder and not caller.dialect:
            layers = layers_for_axe(
                seen_from,
                self._places,
                program.layer,
                self._repository_of,
                is_recursive=program.is_recursive,
            )
            return tuple(map(Path, layers))
        names = layers_of(seen_from, self._places, program.layer, is_recursive=program.is_recursive)
        users = self._places.users(program.name)
        own = self._repository_of(names[-1]) if names else ""
        return tuple(
            Path(each) for each in names if each in users or self._repository_of(each) == own
        )

    def _reachable(self, caller: Caller, folders: Iterable[Path]) -> Iterator[Path]:
        """Yield the folders whose agents the file of a caller may name."""
        for each in folders:
            if is_reachable(each.as_posix(), caller, self._places, self._repository_of):
                yield each

    def _search(self, reachable: Callable[[Iterable[Path]], Iterator[Path]]) -> Sequence[Path]:
        if self._found is None:
            roots = map(Path, self._places.roots)
            below = (each.as_posix() for root in roots for each in agent_folders_below(root))
            found = sorted({*self._others, *below}, key=by_distance)
            self._found = tuple(map(Path, found))
        return tuple(reachable(self._found))


def _nested_repository_of(folder: str, roots: Sequence[str]) -> str:
    """Return the repository below a workspace folder that a folder of agents or a layer lies in, "" for none."""
    repository = project_root(Path(folder).parent)
    return nested_repository(repository.as_posix(), roots) if repository is not None else ""


def agent_places(
    roots: Sequence[Path], environment: Environment, agents_dir: Path | None = None
) -> AgentPlaces:
    """Return the places of agents in a workspace. Raises ConfigError without a home folder."""
    return AgentPlaces(
        first=(agents_dir.as_posix(),) if agents_dir else (),
        roots=tuple(root.as_posix() for root in roots),
        user=(config_folder(environment) / "agents").as_posix(),
        homes=homes_of_dialects(environment),
    )


def caller_of(
    definition: AgentDefinition, workdir: str, workspace: Path, environment: Environment
) -> Caller:
    """Return an agent as its names of others are looked up; `workdir` stands in for that of its file.

    Raises ConfigError for a `~` that nobody knows.
    """
    source = definition.source
    base = base_of(workdir or definition.workdir, workspace, environment)
    if source is None:
        return Caller(base=base)
    return Caller(_folder_of(source.path), base, source.dialect)


def base_of(workdir: str, workspace: Path, environment: Environment) -> str:
    """Return the working directory that was given, or "". Raises ConfigError."""
    if not workdir:
        return ""
    return Path(os.path.normpath(workspace / expand_path(workdir, environment))).as_posix()


def check_name(name: str) -> None:
    """Refuse names that would leave the folders. Raises ConfigError."""
    message = lookup_order.objection(name)
    if message is not None:
        raise ConfigError(message)


@lru_cache(maxsize=256)
def _folder_of(path: str) -> str:
    """Return the folder of a file. Cached: many children come from one file."""
    return Path(path).parent.as_posix()


@lru_cache(maxsize=256)
def _file_of(name: str, folder: Path) -> Path:
    """Return the path of an agent in a folder. Cached: many children are looked for."""
    return folder / f"{name}{SUFFIX}"


@lru_cache(maxsize=256)
def _definition(text: str) -> AgentDefinition:
    """Return the definition in a text. Cached: many children have the same text."""
    return load(text)


def _text(path: Path, open_buffers: Mapping[Path, str]) -> str:
    """Return the text of a file as an editor has it, else of the file. Raises OSError and NotUtf8Error."""
    buffer = open_buffers.get(path)
    return buffer if buffer is not None else decode_utf8(read_file(path))


def _agent_files(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.suffix == SUFFIX and not path.is_dir()]
    except OSError:
        return []


def _unparsable(name: str, reason: str) -> str:
    return f"failed to parse agent config {quoted(name)}: {reason}"
