"""Waits until tests of agents may have another result: their files, recordings, workspaces or agents have changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from axe_lsp.agentfile.lookup_order import AGENT_FOLDERS
from axe_lsp.runtime.files.folders import Environment, config_folder
from axe_lsp.testing.inputs import AgentInputs, Inputs, agents_of
from axe_lsp.testing.suite import Suite, files_below

INTERVAL = 0.3
"""Seconds between two looks at the disk."""

Stamps = frozenset[tuple[str, int, int]]
"""Files: path, time of the last change, size."""


class Watched(Struct, frozen=True):
    """The files that may change a result: all files below the folders, and files that agents read elsewhere."""

    folders: frozenset[Path] = frozenset()
    inputs: frozenset[Inputs] = frozenset()

    def stamps(self) -> Stamps:
        """The state of all these files; those that go meanwhile are left out. May block."""
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
    """What is to be watched for these files of tests. May block. Raises ConfigError without a home folder."""
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
