"""The folders of the process and of its user; axe's are where axe itself looks for them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from axe_lsp.agentfile.other_programs import ALL_PROGRAMS, Program
from axe_lsp.agentfile.schema.providers import is_secret_variable
from axe_lsp.runtime.errors import ConfigError

Environment = Mapping[str, str]

_VARIABLE = r"\$(?:(\w+)|\{(\w+)\})"


def working_folder() -> Path:
    """Return the current folder. Raises ConfigError if it has been deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        message = "failed to get working directory: it has been deleted; change to another folder"
        raise ConfigError(message) from None


def config_folder(environment: Environment) -> Path:
    """Return `$XDG_CONFIG_HOME/axe`, else the system's folder for configuration."""
    explicit = _absolute(environment, "XDG_CONFIG_HOME")
    if explicit:
        return _path(explicit, "axe")
    if sys.platform == "win32":
        return _path(_variable(environment, "APPDATA", "configuration"), "axe")
    if sys.platform == "darwin":
        return _path(_home(environment), "Library", "Application Support", "axe")
    return _path(_home(environment), ".config", "axe")


def homes_of_dialects(environment: Environment) -> tuple[tuple[str, str], ...]:
    """Return the folders of the user's configuration of other dialects, with the dialect's name (`Program.homes_in`).

    Without a home folder there are only those that a variable names.
    """
    home = environment.get(_home_variable())
    return tuple(
        (each.name, _path(folder).as_posix())
        for each in ALL_PROGRAMS
        for folder in _user_layers(each, home, environment)
        if folder
    )


def _user_layers(program: Program, home: str | None, environment: Environment) -> Iterator[str]:
    """Yield the user's folders of a program, the weakest first; "" for one that is not set."""
    set_folder = _absolute(environment, program.home_variable) if program.home_variable else ""
    own = _user_layer(program, home, environment) if home else ""
    if not program.upper_user_layer:
        yield set_folder or own
        return
    yield own
    yield f"{home}/{program.upper_user_layer}" if home else ""
    yield set_folder


def _user_layer(program: Program, home: str, environment: Environment) -> str:
    below = program.user_layer or program.layer
    base = _absolute(environment, "XDG_CONFIG_HOME") if below.startswith(".config/") else ""
    return f"{base}/{below.removeprefix('.config/')}" if base else f"{home}/{below}"


def data_folder(environment: Environment) -> Path:
    """Return `$XDG_DATA_HOME/axe`, else `~/.local/share/axe`."""
    explicit = _absolute(environment, "XDG_DATA_HOME")
    if explicit:
        return Path(explicit, "axe")
    return Path(_home(environment), ".local", "share", "axe")


def state_folder(environment: Environment) -> Path:
    """Return `$XDG_STATE_HOME/axe`, else `~/.local/state/axe`, the folder of history and locks."""
    explicit = _absolute(environment, "XDG_STATE_HOME")
    if explicit:
        return Path(explicit, "axe")
    return Path(_home(environment), ".local", "state", "axe")


def cache_folder(environment: Environment) -> Path:
    """Return `$XDG_CACHE_HOME/axe`, else `~/.cache/axe`, the folder of data that can be made again."""
    explicit = _absolute(environment, "XDG_CACHE_HOME")
    if explicit:
        return Path(explicit, "axe")
    return Path(_home(environment), ".cache", "axe")


def expand_path(path: str, environment: Environment) -> str:
    """Expand `~` at the start, then `$VAR` and `${VAR}`. An unset variable is empty, as in axe.

    So is one that holds a secret: paths are shown and logged.
    """
    if path == "~" or path.startswith(("~/", "~" + os.sep)):
        path = _home(environment) + path[1:]
    if "$" not in path:
        return path
    return re.sub(_VARIABLE, lambda match: _part(match[1] or match[2], environment), path)


def _part(variable: str, environment: Environment) -> str:
    return "" if is_secret_variable(variable) else environment.get(variable, "")


def _absolute(environment: Environment, variable: str) -> str:
    """Return the value of a variable, or "" if it depends on the current folder: a repository would be the user's folder.

    For the variables of XDG their standard has it so, too.
    """
    value = environment.get(variable, "")
    return value if Path(value).is_absolute() else ""


@lru_cache(maxsize=32)
def _path(*parts: str) -> Path:
    """Join path parts. Cached: every request looks up the configuration."""
    return Path(*parts)


def _home(environment: Environment) -> str:
    return _variable(environment, _home_variable(), "home")


def _home_variable() -> str:
    return "USERPROFILE" if sys.platform == "win32" else "HOME"


def _variable(environment: Environment, name: str, purpose: str) -> str:
    value = environment.get(name)
    if not value:
        hint = f"Set {name}, or XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME and XDG_CACHE_HOME."
        raise ConfigError(f"unable to determine {purpose} directory: ${name} is not set", hint=hint)
    return value


def skill_path(skill: str, environment: Environment) -> Path:
    """Return where a skill lies: a path, absolute or below the configuration folder, or a bare name.

    The name `review` also finds `skills/review/SKILL.md`.
    """
    folder = config_folder(environment)
    path = Path(os.path.normpath(folder / expand_path(skill, environment)))
    by_name = folder / "skills" / skill / "SKILL.md"
    try:
        is_name = Path(skill).name == skill and by_name.is_file() and not path.exists()
    except (OSError, ValueError):  # No file system can hold such a name; reading it will say so.
        return path
    return by_name if is_name else path
