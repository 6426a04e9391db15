"""Waits until tests of agents may have another result: their files, recordings, workspaces or agents have changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from axe_lsp.agentfile.lookup_order import AGENT_FOLDERS
from axe_lsp.runtime.files.folders import Environment, config_folder
from axe_lsp.testing.suite import Suite, files_below

INTERVAL = 0.3
"""Seconds between two looks at the disk."""

Stamps = frozenset[tuple[str, int, int]]
"""The files below some folders: path, time of the last change, size."""


def watched_folders(suites: Sequence[Suite], environment: Environment) -> frozenset[Path]:
    """The folders in which a change may change a result. Raises ConfigError without a home folder."""
    return frozenset(_folders(suites, environment))


def _folders(suites: Sequence[Suite], environment: Environment) -> Iterator[Path]:
    yield config_folder(environment) / "agents"
    for suite in suites:
        yield suite.path.parent
        yield from (suite.project / folder for folder in AGENT_FOLDERS)
        if suite.workspace is not None:
            yield suite.workspace


def stamps(folders: Iterable[Path]) -> Stamps:
    """The state of all files below the folders; files that go meanwhile are left out. May block."""
    return frozenset(_stamps(folders))


def _stamps(folders: Iterable[Path]) -> Iterator[tuple[str, int, int]]:
    for folder in folders:
        for path in files_below(folder):
            try:
                found = path.stat()
            except OSError:
                continue
            yield str(path), found.st_mtime_ns, found.st_size


async def changed(folders: Iterable[Path], before: Stamps) -> None:
    """Wait until a file below the folders is not as `before`."""
    while True:
        await asyncio.sleep(INTERVAL)
        if await asyncio.to_thread(stamps, folders) != before:
            return
