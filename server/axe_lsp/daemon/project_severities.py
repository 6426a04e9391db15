"""Severities that a project sets for all who check it: `check.toml`, beside the folder of its agents.

    [diagnostics]
    name-mismatch = "off"

It counts for the agents and the tests beside it, wherever an editor or a command was started. What it says of
codes that protect the user may be stricter than usual, but not milder: the file is a part of what is checked.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tomli
from msgspec import Struct, field

from axe_lsp.agentfile.lookup_order import AGENT_FOLDERS, TEST_FOLDERS
from axe_lsp.agentfile.text.nearest import nearest
from axe_lsp.daemon import disk
from axe_lsp.daemon.uris import folder_of
from axe_lsp.features.diagnostics import Severities
from axe_lsp.features.finding import SEVERITY_NAMES
from axe_lsp.features.rules import RULES

CHECK_FILE = "check.toml"

_LARGEST, _LONGEST, _MOST = 100_000, 60, 10
"""Characters of the file and of a key that is shown, and how many complaints: a stranger may have written it."""

_TABLE = "diagnostics"
_ENDINGS = tuple(f"/{each}" for each in (*AGENT_FOLDERS, *TEST_FOLDERS))
_USUAL = {rule.code: rule.severity for rule in RULES}
_PROTECTING = {rule.code for rule in RULES if rule.is_protecting}


class Settled(Struct, frozen=True):
    """The severities of a file, and a sentence about each thing in it that does not count."""

    severities: Severities = field(default_factory=dict)
    complaints: tuple[str, ...] = ()


NOTHING = Settled()


def severities_for(folder: Path) -> Settled:
    """Return the severities that the project of a folder of agents, or of tests, sets. Blocks."""
    file = _file_for(folder)
    content = disk.read(file) if file is not None else None
    if content is None:
        return NOTHING
    if content.fault:
        return Settled({}, (f"{file}: {content.fault}",))
    if len(content.text) > _LARGEST:
        return Settled({}, (f"{file}: it has more than {_LARGEST:,} characters",))
    try:
        values = tomli.loads(content.text)
    except (ValueError, RecursionError) as error:
        return Settled({}, (f"{file}: {error}",))
    table = values.get(_TABLE, {})
    unknown = [key for key in values if key != _TABLE]
    complaints = [f"{_cut(key)!r} is unknown; there is [{_TABLE}]" for key in unknown[:_MOST]]
    if not isinstance(table, dict):
        complaints, table = [*complaints, f"{_TABLE!r} must be a table"], {}
    wrong = [code for code, level in table.items() if not _is_right(code, level)]
    severities = {code: SEVERITY_NAMES[table[code]] for code in table.keys() - {*wrong}}
    complaints += [_fault(code, table[code]) for code in wrong[: _MOST - len(complaints)]]
    more = len(unknown) + len(wrong) - len(complaints)
    complaints += [f"{more:,} more of its keys do not count"] if more > 0 else []
    return Settled(severities, tuple(f"{file}: {each}" for each in complaints))


class Remembered:
    """The severities of projects, looked for anew at most once a second, so that typing does not wait for a disk."""

    _SECONDS = 1.0

    def __init__(self) -> None:
        self._known: dict[Path, tuple[float, Any, Settled]] = {}
        self._told: set[str] = set()

    def of(self, uri: str, wanted: Mapping[str, str]) -> Severities:
        """Return the severities for a file; those that the user has `wanted` come first."""
        own = {code: SEVERITY_NAMES[name] for code, name in wanted.items()}
        folder = folder_of(uri)
        return {**self._look(folder).severities, **own} if folder is not None else own

    def news(self) -> Iterator[str]:
        """Yield the complaints that have not been reported yet."""
        for _, _, settled in self._known.values():
            for complaint in settled.complaints:
                if complaint not in self._told:
                    self._told.add(complaint)
                    yield complaint

    def _look(self, folder: Path) -> Settled:
        now = time.monotonic()
        looked, stamp, settled = self._known.get(folder, (-self._SECONDS, None, NOTHING))
        if now - looked < self._SECONDS:
            return settled
        file = _file_for(folder)
        found = _stamp(file) if file is not None else None
        if found != stamp:
            settled = severities_for(folder)
        self._known[folder] = now, found, settled
        return settled


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 7) of the file, for other programs."""
    codes = {
        rule.code: {
            "description": rule.summary,
            "enum": [level for level in SEVERITY_NAMES if _is_right(rule.code, level)],
            "default": rule.severity.name.lower() if rule.is_on else "off",
        }
        for rule in RULES
    }
    severities = {
        "description": "The severities of diagnostics, by their codes.",
        "type": "object",
        "properties": codes,
        "additionalProperties": False,
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "axe/check.toml",
        "type": "object",
        "properties": {_TABLE: severities},
        "additionalProperties": False,
    }


def _file_for(folder: Path) -> Path | None:
    return folder.parent / CHECK_FILE if folder.as_posix().endswith(_ENDINGS) else None


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        status = os.stat(file)  # noqa: PTH116 - half the time of Path.stat, for each folder
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _is_right(code: str, level: Any) -> bool:
    if code not in _USUAL or not isinstance(level, str) or level not in SEVERITY_NAMES:
        return False
    severity = SEVERITY_NAMES[level]
    return code not in _PROTECTING or (severity is not None and severity <= _USUAL[code])


def _fault(code: str, level: Any) -> str:
    """Return why an entry does not count."""
    if code not in _USUAL:
        meant = nearest(_cut(code), _USUAL)
        hint = f"; did you mean {meant!r}?" if meant is not None else ""
        return f"{_cut(code)!r} is not a diagnostic code{hint}"
    if not isinstance(level, str) or level not in SEVERITY_NAMES:
        return f"{code} is one of {', '.join(SEVERITY_NAMES)}, not {_cut(repr(level))}"
    usual = _USUAL[code].name.lower()
    return f"{code} can't be milder than {usual} in a project's own file"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
