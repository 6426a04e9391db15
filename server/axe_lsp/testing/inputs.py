"""The files that agents of tests read beside their copied workspace. Everything here may block."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.check.agent_tests import Cases
from axe_lsp.agentfile.check.cases import Case
from axe_lsp.agentfile.lookup_order import Caller
from axe_lsp.agentfile.text.globs import BadPatternError, segments_of
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.agent_files import Lookup, agent_places, caller_of
from axe_lsp.runtime.files.context_files import matching_files
from axe_lsp.runtime.files.folders import Environment, expand_path, skill_path
from axe_lsp.runtime.files.regular_files import is_folder
from axe_lsp.runtime.safety.trust import callable_by


def agents_of(cases: Cases, wanted: Iterable[Case]) -> frozenset[str]:
    """The names of the agents that the wanted cases of a file run: the tested one, and judges."""
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
        """What is read beside its own file: the others, and those that match the patterns now."""
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
        """For each of the agents, and of those that they may call, once. None: it is gone, or wrong."""
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
        """Its skill, and the programs of its servers that are named by whole paths."""
        if definition.skill:
            yield skill_path(definition.skill, self._environment)
        for server in definition.mcp_servers:
            named = map(Path, (server.command, *server.args))
            yield from (each for each in named if each.is_absolute())
