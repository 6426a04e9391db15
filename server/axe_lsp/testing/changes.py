"""The cases that changes since a commit of git may affect (`axe-lsp test --changed`).

git only names the contents of the commit; those of the disk are read here, so that no filter of the repository is
executed. Where it is not known what a case reads, the case counts as affected. Everything here blocks.
"""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.check.agent_tests import Case
from axe_lsp.agentfile.lookup_order import Caller
from axe_lsp.runtime.copies.git import GitError, common_commit, files_in_commit, repository_of
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.agent_files import Lookup, agent_places, caller_of
from axe_lsp.runtime.files.folders import Environment, expand_path, skill_path
from axe_lsp.runtime.files.regular_files import read_file
from axe_lsp.runtime.plain_text import shown_path
from axe_lsp.runtime.safety.trust import callable_by
from axe_lsp.testing.suite import Suite, files_below


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
        """Whether a file has changed, has gone or is new. What is outside the repository has not."""
        return any(self._differs(each) for each in {path, Path(os.path.realpath(path))})

    def has_below(self, folder: Path) -> bool:
        """Whether a file below a folder has changed."""
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
        """The path from the repository's folder; None outside. The last part may be a link."""
        whole = os.path.join(os.path.realpath(path.parent), path.name)  # noqa: PTH118 - bytes
        raw = os.fsencode(whole)
        return raw[len(self._top) :] if raw.startswith(self._top) else None

    def _ids_now(self, path: Path) -> Iterator[str | None]:
        """The ids that git may have for the content: as it is, and with the line ends that git stores."""
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
    """The cases whose file, workspace, recording, agents or judges have changed. Raises ConfigError without a home."""
    if changes.has(suite.path):
        yield from cases
        return
    folder = suite.workspace
    if folder is not None and changes.has_below(folder):
        yield from cases
        return
    agents = _Agents(suite.project, changes, environment)
    for case in cases:
        names = (suite.cases.agent, *(each.agent for each in case.judges))
        if changes.has(suite.recording(case)) or any(map(agents.have_changed, names)):
            yield case


class _Agents:
    """The agents of a project, with those that they call."""

    def __init__(self, project: Path, changes: Changes, environment: Environment) -> None:
        self._resolve = Lookup(agent_places([project], environment)).resolver()
        self._project = project
        self._changes = changes
        self._environment = environment
        self.have_changed = cache(self._have_changed)

    def _have_changed(self, name: str) -> bool:
        """Whether an agent has changed, or one that it may call."""
        seen: set[str] = set()
        waiting = deque([(name, Caller())])
        while waiting:
            agent, seen_from = waiting.popleft()
            try:
                definition = self._resolve(agent, seen_from)
                below = caller_of(definition, "", self._project, self._environment)
                folder = Path(expand_path(definition.workdir, self._environment))
            except ConfigError:  # It may be gone, or wrong: a run says so.
                return True
            if definition.source is None or definition.source.path in seen:
                continue
            seen.add(definition.source.path)
            # Its files are those of the copied workspace, unless it works elsewhere: then nobody knows which.
            if folder.is_absolute() or any(map(self._changes.has, self._read(definition))):
                return True
            waiting.extend((each, below) for each in callable_by(definition))
        return False

    def _read(self, definition: AgentDefinition) -> Iterator[Path]:
        """Its file, its skill, and the programs of its servers that are named by whole paths."""
        if definition.source is not None:
            yield Path(definition.source.path)
        if definition.skill:
            yield skill_path(definition.skill, self._environment)
        for server in definition.mcp_servers:
            named = map(Path, (server.command, *server.args))
            yield from (each for each in named if each.is_absolute())
