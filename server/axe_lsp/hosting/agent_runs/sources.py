"""The sources of runs: axe-lsp's history, and the logs of programs that the user allows to be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from axe_lsp.hosting.agent_runs.claude import Claude
from axe_lsp.hosting.agent_runs.codex import Codex
from axe_lsp.hosting.agent_runs.opencode import read_opencode
from axe_lsp.hosting.agent_runs.own_history import read_own_history
from axe_lsp.hosting.agent_runs.runs import ReadLog
from axe_lsp.hosting.history.database import history_file
from axe_lsp.runtime.files.folders import Environment, data_folder, homes_of_dialects

OWN = "axe"


def read_source(program: str, environment: Environment, since: float) -> ReadLog:
    """Return the runs of one source that began since a time. Raises HistoryError for axe-lsp's own."""
    return _READERS[program](environment, since)


def _own(environment: Environment, since: float) -> ReadLog:
    return read_own_history(history_file(environment), since)


def _codex(environment: Environment, since: float) -> ReadLog:
    return Codex(_home("codex", environment), since).read()


def _claude(environment: Environment, since: float) -> ReadLog:
    return Claude(_home("claude", environment), since).read()


def _opencode(environment: Environment, since: float) -> ReadLog:
    return read_opencode(data_folder(environment).with_name("opencode"), since)


def _home(program: str, environment: Environment) -> Path:
    return Path(os.path.normpath(dict(homes_of_dialects(environment))[program]))


_READERS: Mapping[str, Callable[[Environment, float], ReadLog]] = {
    OWN: _own,
    "codex": _codex,
    "claude": _claude,
    "opencode": _opencode,
}

SOURCES = tuple(_READERS)
