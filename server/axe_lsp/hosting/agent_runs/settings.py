"""The user's answer to which programs' runs are read: `[run_log]` of config.toml. Nothing of a repository is read here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import tomli
from msgspec import Struct

from axe_lsp.agentfile.schema.config_keys import RUN_SOURCES
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, config_folder, state_folder
from axe_lsp.runtime.files.regular_files import read_file, write_whole_file
from axe_lsp.runtime.plain_text import os_fault, shown_path

MOST_DAYS = 365


class RunLogSettings(Struct, frozen=True):
    """The programs whose runs are read, and the days to look back. It `is_decided` if the user's file names the programs."""

    sources: tuple[str, ...] = ("axe",)
    days: int = 30
    is_decided: bool = False


def run_log_settings(environment: Environment) -> RunLogSettings:
    """Return the settings. Raises ConfigError."""
    path = config_folder(environment) / "config.toml"
    try:
        table = tomli.loads(read_file(path).decode("utf-8-sig")).get("run_log", {})
    except FileNotFoundError:
        table = {}
    except (OSError, tomli.TOMLDecodeError, UnicodeDecodeError) as error:
        reason = os_fault(error) if isinstance(error, OSError) else str(error)
        raise ConfigError(f"failed to read config file: {shown_path(path)}: {reason}") from error
    where = f"config file: {shown_path(path)}: run_log"
    if not isinstance(table, dict):
        raise ConfigError(f"{where} must be a table")
    usual = RunLogSettings()
    is_decided = "sources" in table
    allowed = [each for each, is_allowed in _answers(environment).items() if is_allowed]
    return RunLogSettings(
        _sources(table.get("sources", [*usual.sources, *allowed]), f"{where}.sources"),
        _days(table.get("days", usual.days), f"{where}.days"),
        is_decided,
    )


def unanswered(environment: Environment) -> tuple[str, ...]:
    """Return the programs about which the user has not been asked."""
    answers = _answers(environment)
    return tuple(each for each in RUN_SOURCES if each != "axe" and each not in answers)


def keep_answer(program: str, environment: Environment, *, is_allowed: bool) -> None:
    """Keep in the state folder whether the runs of another program may be read. Raises OSError."""
    path = _answers_file(environment)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    answers = {**_answers(environment), program: is_allowed}
    write_whole_file(path, msgspec.json.encode(answers), mode=0o600)


def _answers(environment: Environment) -> Mapping[str, bool]:
    try:
        found = msgspec.json.decode(read_file(_answers_file(environment)), type=dict[str, bool])
    except (OSError, msgspec.MsgspecError):
        return {}
    return {each: found[each] for each in RUN_SOURCES if each in found}


def _answers_file(environment: Environment) -> Path:
    return state_folder(environment) / "run-log.json"


def _sources(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ConfigError(f"{where} must be an array")
    unknown = [str(each) for each in value if each not in RUN_SOURCES]
    if unknown:
        known = ", ".join(RUN_SOURCES)
        raise ConfigError(
            f"{where}: there is no source {quoted(unknown[0])}", hint=f"There are {known}."
        )
    return tuple(dict.fromkeys(value))


def _days(value: Any, where: str) -> int:
    if type(value) is not int or not 1 <= value <= MOST_DAYS:
        raise ConfigError(f"{where} must be a whole number from 1 to {MOST_DAYS}")
    return value
