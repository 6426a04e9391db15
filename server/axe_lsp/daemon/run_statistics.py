"""The runs of the agents of a workspace: which file each run means, and what the runs of a file were like."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import Source, load
from axe_lsp.agentfile.check.problem import DefinitionError
from axe_lsp.agentfile.dialects import CLAUDE, CODEX, DIALECTS, LAYERED
from axe_lsp.agentfile.text.front_matter import MarkdownParse
from axe_lsp.agentfile.text.reading import values_of
from axe_lsp.daemon import disk
from axe_lsp.daemon.uris import path_of, uri_of
from axe_lsp.hosting.agent_runs.index import FileVersion, RunIndex
from axe_lsp.hosting.agent_runs.runs import LoggedRun, ReadLog
from axe_lsp.hosting.agent_runs.sources import OWN
from axe_lsp.hosting.agent_runs.statistics import DefinedIn, statistics, with_price
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.workspace_folders import agent_folders_below
from axe_lsp.runtime.json_data import Json
from axe_lsp.runtime.plain_text import digest_of
from axe_lsp.runtime.prompt import definition_digest
from axe_lsp.workspace.agent_file import AgentFile, read_agent_file
from axe_lsp.workspace.places import Places, Scope
from axe_lsp.workspace.workspace import Change, Workspace

BUILT_IN = {
    dialect.program.name: frozenset(dialect.built_in)
    for dialect in DIALECTS
    if dialect.program is not None
}

_Key = tuple[str, str, str]
"""A program, the name of an agent, and the path of its file, "" without one."""


class DefinedAgent(Struct, frozen=True):
    """An agent with a file. Files of a project are for its own runs only."""

    name: str
    program: str
    file: AgentFile
    path: Path

    @property
    def is_users(self) -> bool:
        """Whether it is the user's own, for all workspaces."""
        return self.file.place.scope is Scope.USER

    def defined_in(self, index: RunIndex, root: Path, environment: Environment) -> DefinedIn:
        """Return the file with its versions, of which the present one is added to the index."""
        changed = 0.0
        with suppress(OSError):
            changed = self.path.stat().st_mtime
        tools = tuple(each for each in self.file.offered if "*" not in each)
        digest = _digest(self.file, self.path, root, environment)
        versions = index.versions(str(self.path), digest, changed)
        if self.program not in (OWN, "codex", "claude"):  # Its logs have no digests.
            versions = [FileVersion(each.since) for each in versions]
        return DefinedIn(str(self.path), tools, versions)


class WorkspaceRuns(Struct, frozen=True):
    """The agents of a workspace and the runs of each, in the logs of some programs."""

    root: Path
    logs: Sequence[ReadLog]
    agents: Mapping[_Key, DefinedAgent]
    files: Mapping[str, DefinedIn]
    runs: dict[_Key, list[LoggedRun]] = field(default_factory=dict)

    @property
    def started(self) -> set[str]:
        """The names of agents that a person has ever run."""
        return {name for log in self.logs for name in log.started}

    def has(self, folder: str) -> bool:
        """Return whether a folder that a log names lies in the workspace."""
        return bool(folder) and Path(os.path.normpath(folder)).is_relative_to(self.root)

    def unknown(self, log: ReadLog) -> Iterator[tuple[str, int]]:
        """Yield the names of agents that a program did not know, and how often they were called."""
        names = {agent.name for agent in self.agents.values() if agent.program == log.program}
        counts: dict[str, int] = {}
        for (folder, name), calls in log.unknown.items():
            if self.has(folder) and name not in names:
                counts[name] = counts.get(name, 0) + calls
        yield from sorted(counts.items())


def workspace_runs(
    root: Path, logs: Sequence[ReadLog], index: RunIndex, environment: Environment
) -> WorkspaceRuns:
    """Return the runs that agents of a workspace have made, and those of its user's own agents."""
    agents = {
        (each.program, each.name, str(each.path)): each for each in _agents(root, environment)
    }
    files = {str(each.path): each.defined_in(index, root, environment) for each in agents.values()}
    result = WorkspaceRuns(root, logs, agents, files)
    programs = {log.program for log in logs}
    by_name = {(each.program, each.name): key for key, each in agents.items()}
    by_path = {each.path: key for key, each in agents.items()}
    result.runs.update((key, []) for key, each in agents.items() if each.program in programs)
    for run in (run for log in logs for run in log.runs):
        own_file = by_path.get(Path(run.source)) if run.source else None
        found = own_file or by_name.get((run.program, run.agent))
        agent = agents[found] if found is not None else None
        if agent is None and run.agent in BUILT_IN.get(run.program, ()):
            continue
        if result.has(run.cwd) or (agent is not None and agent.is_users):
            key = (run.program, run.agent, found[2] if found is not None else "")
            is_of_program = agent is None or agent.program == run.program
            counted = run if is_of_program else replace(run, definitions=frozenset())
            result.runs.setdefault(key, []).append(with_price(counted))
    return result


def agent_statistics(found: WorkspaceRuns, names: Sequence[str] = ()) -> dict[str, Json]:
    """Return the statistics of the agents of a workspace, of those with some `names` only if there are any."""
    rows = [
        statistics(name, program, found.files.get(path), runs)
        for (program, name, path), runs in found.runs.items()
        if not names or name in names
    ]
    return {
        "sources": [_source(each) for each in found.logs],
        "agents": sorted(
            rows, key=lambda row: (-_count(row), str(row["agent"]), str(row["program"]))
        ),
        "unknownAgents": [
            {"agent": name, "program": log.program, "calls": calls}
            for log in found.logs
            for name, calls in found.unknown(log)
            if not names or name in names
        ],
    }


def _count(row: Mapping[str, Json]) -> int:
    count = row["runs"]
    assert isinstance(count, int)
    return count


def _digest(file: AgentFile, path: Path, root: Path, environment: Environment) -> str:
    """Return the digest of what a file says, as the logs of its program have it if they have any."""
    content = disk.read(path)
    if content is None:
        return ""
    parse = file.place.kind.parse(content.text)
    dialect = file.place.dialect
    if dialect is CLAUDE and isinstance(parse, MarkdownParse):
        return digest_of(parse.body.strip())
    if dialect is CODEX:
        prompt = (values_of(content.text) or {}).get("developer_instructions")
        return digest_of(prompt.strip()) if isinstance(prompt, str) else ""
    if dialect.program is not None:
        return digest_of(content.text)
    with suppress(DefinitionError):
        definition = replace(load(content.text), source=Source(str(path), content.text))
        return definition_digest(definition, root, environment)
    return ""


def _source(log: ReadLog) -> dict[str, Json]:
    return {
        "program": log.program,
        "files": log.files,
        "bytes": log.size,
        "skipped": sum(log.skipped.values()),
        "state": "complete" if log.is_complete else "partial",
        **({"version": log.version} if log.version else {}),
    }


def _agents(root: Path, environment: Environment) -> Iterator[DefinedAgent]:
    """Yield the agents with files that the workspace and the user have, each name of a program once."""
    user_folder = disk.user_folder(environment)
    places = Places(
        user_folder=uri_of(user_folder) if user_folder is not None else "",
        roots=(uri_of(root),),
        homes=disk.user_layers(environment),
    )
    folders = [
        *agent_folders_below(root, tuple(LAYERED)),
        *disk.user_layer_folders(environment),
        *([user_folder] if user_folder is not None else []),
    ]
    paths = dict.fromkeys(path for folder in folders for path in disk.agent_files_in(folder))
    files = [
        read_agent_file(places.locate(uri_of(path)), content.text, fault=content.fault)
        for path in paths
        if (content := disk.read(path)) is not None
    ]
    yield from _named_agents(places, files)


def _named_agents(places: Places, files: Iterable[AgentFile]) -> Iterator[DefinedAgent]:
    changes = [Change(each.uri, None, file=each) for each in files]
    snapshot = Workspace(places).apply(changes).snapshot
    seen: set[tuple[str, str]] = set()
    for file in sorted((each for each in files if each.holds_agent), key=_precedence):
        program, path = file.place.dialect.program, path_of(file.uri)
        name = file.place.stem if program is None else snapshot.layers.name_of(file)
        key = (program.name if program is not None else OWN, name)
        if name and path is not None and key not in seen:
            seen.add(key)
            yield DefinedAgent(name, key[0], file, path)


def _precedence(file: AgentFile) -> tuple[bool, str]:
    """Return the sort key of files of one name: those of the project first, unless the program prefers the user's."""
    program = file.place.dialect.program
    user_wins = program is not None and program.user_wins
    return (file.place.scope is Scope.USER) is not user_wins, file.uri
