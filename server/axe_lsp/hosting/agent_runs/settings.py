"""The user's answer to which programs' runs are read: `[run_log]` of config.toml. Nothing of a repository is read here."""

from __future__ import annotations

from typing import Any

import tomli
from msgspec import Struct

from axe_lsp.agentfile.schema.config_keys import RUN_SOURCES
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, config_folder
from axe_lsp.runtime.files.regular_files import read_file
from axe_lsp.runtime.plain_text import os_fault, shown_path

MOST_DAYS = 365


class RunLogSettings(Struct, frozen=True):
    """The programs whose runs are read, and the days to look back."""

    sources: tuple[str, ...] = ("axe",)
    days: int = 30


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
    return RunLogSettings(
        _sources(table.get("sources", list(usual.sources)), f"{where}.sources"),
        _days(table.get("days", usual.days), f"{where}.days"),
    )


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
