"""What tests of agents read, and changes of it, after which a result may be another one.

Changes are those since a commit (`axe-lsp test --changed`), or from now on (`--watch`). git only names the contents of
the commit; those of the disk are read here, so that no filter of the repository is executed. Where it is not known what
a case reads, the case counts as affected. What is not a coroutine may block.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.check.agent_tests import Cases
from axe_lsp.agentfile.check.cases import Case
from axe_lsp.agentfile.lookup_order import AGENT_FOLDERS, Caller
from axe_lsp.agentfile.text.globs import BadPatternError, segments_of
from axe_lsp.runtime.copies.git import GitError, common_commit, files_in_commit, repository_of
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.agent_files import Lookup, agent_places, caller_of
from axe_lsp.runtime.files.context_files import matching_files
from axe_lsp.runtime.files.folders import Environment, config_folder, expand_path, skill_path
from axe_lsp.runtime.files.regular_files import is_folder, read_file
from axe_lsp.runtime.plain_text import shown_path
from axe_lsp.runtime.safety.trust import callable_by
from axe_lsp.testing.suite import Suite, files_below


def agents_of(cases: Cases, wanted: Iterable[Case]) -> frozenset[str]:
    """Return the names of the agents that the wanted cases of a file run: the tested one, and judges."""
    judges = (judge.agent for case in wanted for judge in case.judges)
    return frozenset((cases.agent, *judges))


class Inputs(Struct, frozen=True):
    """What an agent reads: its own file, others, and patterns of files below a folder of its own.

    Without such a folder, its patterns are about the copied workspace.
    """

    own: Path
    named: tuple[Path, ...] = ()
    folder: Path | None = None
    patterns: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that are known without a look at the disk."""
        return self.own, *self.named

    def beside(self) -> Iterator[Path]:
        """Yield what is read beside its own file: the others, and those that match the patterns now."""
        yield from self.named
        if self.folder is None or not is_folder(self.folder):
            return
        for pattern in self.patterns:
            try:
                segments = segments_of(pattern)
            except BadPatternError:  # A run says so.
                continue
            yield from (path for _, path in matching_files(segments, self.folder))


class AgentInputs:
    """What the agents of a project read, with those that they call. Raises ConfigError without a home folder."""

    def __init__(self, project: Path, environment: Environment) -> None:
        self._resolve = Lookup(agent_places([project], environment)).resolver()
        self._project = project
        self._environment = environment

    def of(self, names: Iterable[str]) -> Iterator[Inputs | None]:
        """Yield the inputs of each agent and of those it may call, once; None for an agent that is missing or invalid."""
        seen: set[str] = set()
        waiting = deque((name, Caller()) for name in names)
        while waiting:
            agent, seen_from = waiting.popleft()
            try:
                definition = self._resolve(agent, seen_from)
                below = caller_of(definition, "", self._project, self._environment)
                folder = Path(expand_path(definition.workdir, self._environment))
            except ConfigError:  # A run says so.
                yield None
                continue
            if definition.source is None or definition.source.path in seen:
                continue
            seen.add(definition.source.path)
            yield Inputs(
                own=Path(definition.source.path),
                named=tuple(self._named_by(definition)),
                folder=folder if folder.is_absolute() else None,
                patterns=definition.files,
            )
            waiting.extend((each, below) for each in callable_by(definition))

    def _named_by(self, definition: AgentDefinition) -> Iterator[Path]:
        """Yield the skill, and the programs of the MCP servers that are named by absolute paths."""
        if definition.skill:
            yield skill_path(definition.skill, self._environment)
        for server in definition.mcp_servers:
            named = map(Path, (server.command, *server.args))
            yield from (each for each in named if each.is_absolute())


# -- since a commit


class Changes:
    """The files of a repository that are not as a commit has them, untracked ones included.

    `revision` names the commit: the last one that it has in common with HEAD counts. Raises ConfigError.
    """

    def __init__(self, project: Path, revision: str, environment: Environment) -> None:
        try:
            repository = repository_of(project, environment)
            if repository is None:
                raise ConfigError(f"--changed needs git: {shown_path(project)} is in no repository")
            commit = common_commit(repository, revision, environment)
            self._ids = files_in_commit(repository, commit, environment)
        except GitError as error:
            raise ConfigError(f"--changed: {error}") from error
        self._top = os.fsencode(os.path.realpath(repository.top)) + b"/"
        self._hash = repository.object_format
        self._known: dict[bytes, bool] = {}

    def has(self, path: Path) -> bool:
        """Return whether a file has changed, has gone or is new. What is outside the repository has not."""
        return any(self._differs(each) for each in {path, Path(os.path.realpath(path))})

    def has_below(self, folder: Path) -> bool:
        """Return whether a file below a folder has changed."""
        below = self._name(folder / "_")
        if below is None:
            return False
        start = below[:-1]
        gone = (
            each
            for each in self._ids
            if each.startswith(start) and not os.path.lexists(self._top + each)
        )
        return any(True for _ in gone) or any(map(self.has, files_below(folder)))

    def _differs(self, path: Path) -> bool:
        name = self._name(path)
        if name is None:
            return False
        if name not in self._known:
            self._known[name] = self._ids.get(name) not in self._ids_now(path)
        return self._known[name]

    def _name(self, path: Path) -> bytes | None:
        """Return the path from the repository's folder; None outside. The last part may be a link."""
        raw = os.fsencode(Path(os.path.realpath(path.parent), path.name))
        return raw[len(self._top) :] if raw.startswith(self._top) else None

    def _ids_now(self, path: Path) -> Iterator[str | None]:
        """Yield the ids that git may have for the content: as it is, and with the line ends that git stores."""
        try:
            content = os.fsencode(path.readlink()) if path.is_symlink() else read_file(path)
        except OSError:
            yield None
            return
        for each in {content, content.replace(b"\r\n", b"\n")}:
            header = b"blob %d\0" % len(each)
            yield hashlib.new(self._hash, header + each, usedforsecurity=False).hexdigest()


def affected_cases(
    suite: Suite, cases: Sequence[Case], changes: Changes, environment: Environment
) -> Iterator[Case]:
    """Yield the cases whose file, workspace, recording, agents or judges have changed. Raises ConfigError without a home."""
    if changes.has(suite.path):
        yield from cases
        return
    folder = suite.workspace
    if folder is not None and changes.has_below(folder):
        yield from cases
        return
    inputs = AgentInputs(suite.project, environment)

    @cache
    def has_changed(agent: str) -> bool:
        """Return whether an agent has changed, or one that it may call."""
        return any(_has_changed(each, changes) for each in inputs.of([agent]))

    for case in cases:
        names = agents_of(suite.cases, [case])
        if changes.has(suite.recording(case)) or any(map(has_changed, names)):
            yield case


def _has_changed(inputs: Inputs | None, changes: Changes) -> bool:
    """Return whether an input has changed. Agents that work outside the copied workspace count as changed."""
    if inputs is None or inputs.folder is not None:
        return True
    return any(map(changes.has, inputs.files))


# -- from now on


INTERVAL = 0.3
"""Seconds between two looks at the disk."""

Stamps = frozenset[tuple[str, int, int]]
"""Files: path, time of the last change, size."""


class Watched(Struct, frozen=True):
    """The files that may change a result: all files below the folders, and files that agents read elsewhere."""

    folders: frozenset[Path] = frozenset()
    inputs: frozenset[Inputs] = frozenset()

    def stamps(self) -> Stamps:
        """Return the state of all these files; those that go meanwhile are left out. May block."""
        return frozenset(each for path in self._paths() if (each := _stamp(path)) is not None)

    def _paths(self) -> Iterator[Path]:
        for folder in self.folders:
            yield from files_below(folder)
        for inputs in self.inputs:
            yield inputs.own
            yield from inputs.beside()


def _stamp(path: Path) -> tuple[str, int, int] | None:
    try:
        found = path.stat()
    except (OSError, ValueError):  # It is gone; a NUL in the name of a skill.
        return None
    return str(path), found.st_mtime_ns, found.st_size


def watched_by(suites: Sequence[Suite], environment: Environment) -> Watched:
    """Return what is to be watched for these files of tests. May block. Raises ConfigError without a home folder."""
    return Watched(
        frozenset(_folders(suites, environment)), frozenset(_inputs(suites, environment))
    )


def _folders(suites: Sequence[Suite], environment: Environment) -> Iterator[Path]:
    yield config_folder(environment) / "agents"
    for suite in suites:
        yield suite.path.parent
        yield from (suite.project / folder for folder in AGENT_FOLDERS)
        if suite.workspace is not None:
            yield suite.workspace


def _inputs(suites: Sequence[Suite], environment: Environment) -> Iterator[Inputs]:
    names: dict[Path, set[str]] = {}
    for suite in suites:
        names.setdefault(suite.project, set()).update(agents_of(suite.cases, suite.cases.cases))
    for project, of_project in names.items():
        found = AgentInputs(project, environment).of(sorted(of_project))
        yield from (each for each in found if each is not None)


async def changed(watched: Watched, before: Stamps) -> None:
    """Wait until one of the files is not as `before`."""
    while True:
        await asyncio.sleep(INTERVAL)
        if await asyncio.to_thread(watched.stamps) != before:
            return
