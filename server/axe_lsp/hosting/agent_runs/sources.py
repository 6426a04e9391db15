"""The sources of runs: axe-lsp's history, and the logs of programs that the user allows to be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from axe_lsp.hosting.agent_runs.claude import Claude
from axe_lsp.hosting.agent_runs.codex import Codex
from axe_lsp.hosting.agent_runs.index import RunIndex
from axe_lsp.hosting.agent_runs.opencode import Opencode
from axe_lsp.hosting.agent_runs.own_history import read_own_history
from axe_lsp.hosting.agent_runs.runs import ReadLog
from axe_lsp.hosting.history.database import history_file
from axe_lsp.runtime.files.folders import Environment, data_folder, homes_of_dialects

OWN = "axe"

TRIED = {"codex": "0.171.0", "claude": "2.1.332", "opencode": "1.18.33"}
"""The version of each program with which its reader was tried."""


def read_source(log: ReadLog, environment: Environment, since: float, index: RunIndex) -> None:
    """Fill `log` with the runs of its program that began since a time. Raises HistoryError for axe-lsp's own.

    What the `index` has is not read again.
    """
    index.begin(log.program)
    _READERS[log.program](environment, since, log, index)
    index.end(log, since)


def log_folder(program: str, environment: Environment) -> Path:
    """Return the folder in which another program keeps its logs."""
    if program == "opencode":
        return data_folder(environment).with_name("opencode")
    return Path(os.path.normpath(dict(homes_of_dialects(environment))[program]))


def _own(environment: Environment, since: float, log: ReadLog, index: RunIndex) -> None:
    read_own_history(history_file(environment), since, log, index)


def _codex(environment: Environment, since: float, log: ReadLog, index: RunIndex) -> None:
    Codex(log_folder("codex", environment), since, log, index).read()


def _claude(environment: Environment, since: float, log: ReadLog, index: RunIndex) -> None:
    Claude(log_folder("claude", environment), since, log, index).read()


def _opencode(environment: Environment, since: float, log: ReadLog, index: RunIndex) -> None:
    Opencode(log_folder("opencode", environment), since, log, index).read()


_READERS: Mapping[str, Callable[[Environment, float, ReadLog, RunIndex], None]] = {
    OWN: _own,
    "codex": _codex,
    "claude": _claude,
    "opencode": _opencode,
}

SOURCES = tuple(_READERS)
