"""The reach of an agent outside its workspace: the rights of `agentfile/rights.py`, applied to real paths.

A link counts as the place that it leads to. Nothing here reads a file; the file system is asked about links.
"""

from __future__ import annotations

import os
import re
from base64 import urlsafe_b64decode
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from msgspec import Struct

from axe_lsp.agentfile import rights
from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.rights import Asked, Reach, Server
from axe_lsp.agentfile.schema.providers import is_secret_variable
from axe_lsp.agentfile.text.addresses import without_passwords
from axe_lsp.agentfile.text.globs import BadPatternError, has_magic, segments_of
from axe_lsp.agentfile.text.secrets import find_secrets
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import (
    Environment,
    config_folder,
    data_folder,
    expand_path,
    homes_of_dialects,
    skill_path,
)
from axe_lsp.runtime.files.user_config import logins_in, usable_config
from axe_lsp.runtime.plain_text import shown_path, valid_text
from axe_lsp.runtime.safety.redaction import redact

_AGENT_FOLDER = "agents"
_CONFIG = "config.toml"


def is_users(path: Path | str, environment: Environment) -> bool:
    """Return whether an agent file is the user's own: below the folder of axe's configuration, or a dialect's.

    The path does not matter. A link in that folder is the user's, wherever it leads. A file that is reached by a
    link from elsewhere belongs to the owner of the folder that contains it.
    """
    try:
        own = [
            config_folder(environment),
            *(Path(home) for _, home in homes_of_dialects(environment)),
        ]
    except ConfigError:  # There is no home folder, so nothing is the user's.
        return False
    folders = [_real(each / inside) for each in own for inside in ("", _AGENT_FOLDER)]
    path = Path(path)
    return any(
        _is_below(each, folder) for each in (_real(path.parent), _real(path)) for folder in folders
    )


def reaches(
    asked: Asked,
    workspace: Path,
    environment: Environment,
    *,
    skill: str = "",
    workdir: str = "",
) -> tuple[Reach, ...]:
    """Return the values of a file that lead outside `workspace`, in the order of its keys.

    `skill` and `workdir` are the user's own, or those of a caller, and stand in for those of the file.
    What cannot be a path at all is left to the run, which says so.
    """
    found: list[Reach] = []
    with suppress(ConfigError, ValueError):  # No home folder; a NUL in a path.
        if asked.skill and not skill:
            path = skill_path(asked.skill, environment)
            found += _of_skill(path, _real(path), workspace, environment)
    folder = workspace
    with suppress(ConfigError, ValueError):
        folder = _real(workspace / expand_path(workdir or asked.workdir, environment))
        if not workdir and not _is_below(folder, _real(workspace)):
            found.append(Reach(rights.WORKDIR, shown_path(folder)))
    with suppress(ConfigError, ValueError):
        found += _of_files(asked.files, folder, workspace, environment)
    with suppress(ConfigError, ValueError):
        config = asked.memory
        if config.enabled and config.path and config.scope != "run":
            path = _real(workspace / expand_path(config.path, environment))
            found += _of_memory(path, workspace, environment)
    for index, server in enumerate(asked.servers):
        found.append(_of_server(index, server, environment))
    found += (rights.reach_of_web_tool(tool, asked.hosts) for tool in asked.web)
    return tuple(found)


class Admitted(Struct, frozen=True):
    """What an agent may read outside of its workspace: the `reaches` that the user has decided about.

    The checks raise ConfigError.
    """

    reaches: Collection[Reach]
    definition: AgentDefinition
    workspace: Path
    environment: Environment

    def check_skill(self, path: Path, place: Path) -> None:
        """Raise ConfigError unless the agent may read its skill at `path`, which resolves to `place` now."""
        if self._is_strangers:
            found = _of_skill(path, place, self.workspace, self.environment)
            _require_admitted(found, self.reaches)

    def check_memory(self, place: Path) -> None:
        """Raise ConfigError unless the agent may have its memory at `place`."""
        config = self.definition.memory
        if config.path and config.scope != "run" and self._is_strangers:
            found = _of_memory(place, self.workspace, self.environment)
            _require_admitted(found, self.reaches)

    @property
    def _is_strangers(self) -> bool:
        """Whether the agent has a file that is not the user's own."""
        source = self.definition.source
        return source is not None and not is_users(source.path, self.environment)


def _require_admitted(found: Iterable[Reach], admitted: Collection[Reach]) -> None:
    """Raise ConfigError for what the user has not decided about: a link has been changed since."""
    known = {(each.key, each.place) for each in admitted}
    for each in found:
        if each.refused:
            raise ConfigError(f"{each.place}: {each.refused}")
        if (each.key, each.place) not in known:
            raise ConfigError(
                f"{each.key} leads to {each.place} since a link was changed, and you have not trusted that"
            )


def _refused_memory(path: Path, workspace: Path, environment: Environment) -> str:
    """Return why a workspace's agent must not write its memory to `path`, or ""."""
    real, data = _real(path), data_folder(environment)
    if any(_is_below(real, _real(each)) for each in (workspace, data)):
        return ""
    return f"a memory is written below the workspace or below {shown_path(data)} only"


def _of_skill(
    path: Path, place: Path, workspace: Path, environment: Environment
) -> Iterator[Reach]:
    if _is_config(path, environment) or _is_config(place, environment):
        yield Reach(rights.SKILL, shown_path(path), refused=_KEYS_OF_USER)
        return
    own = config_folder(environment)
    if not _is_below(place, _real(workspace)) and not _is_below(path, own):
        yield Reach(rights.SKILL, shown_path(place))


def _of_files(
    patterns: tuple[str, ...], folder: Path, workspace: Path, environment: Environment
) -> Iterator[Reach]:
    """Yield the patterns that lead outside by their names. Targets of links outside are never read for a pattern."""
    allowed = (folder, _real(workspace))
    config = _ConfigFile(environment) if patterns else None
    for index, pattern in enumerate(patterns):
        with suppress(BadPatternError):  # The run will say so.
            names = _names_before_magic(segments_of(pattern))
            # A text: to make a path of it takes longer than all else.
            place = os.path.normpath(os.path.join(folder, *names))  # noqa: PTH118
            if config is not None and config.is_at(place):
                yield Reach(rights.FILES, shown_path(Path(place)), index, refused=_KEYS_OF_USER)
            elif not any(_is_below(place, each) for each in allowed):
                yield Reach(rights.FILES, shown_path(_real(Path(place))), index)


def _of_memory(place: Path, workspace: Path, environment: Environment) -> Iterator[Reach]:
    if not _is_below(place, _real(workspace)):
        refused = _refused_memory(place, workspace, environment)
        yield Reach(rights.MEMORY, shown_path(place), refused=refused)


def _of_server(index: int, server: Server, environment: Environment) -> Reach:
    return Reach(
        rights.SERVER,
        valid_text(without_passwords(server.place)),
        index,
        server.variables,
        _refused_variables(server.variables, environment),
        tuple(_resemblance(name, environment.get(name, "")) for name in server.variables),
    )


def _refused_variables(variables: tuple[str, ...], environment: Environment) -> str:
    """Return why the values of variables must not be sent where a workspace's file says, or ""."""
    config = usable_config(environment)
    names, keys = config.key_variables(), config.provider_secrets()
    for name in variables:
        value = environment.get(name, "").strip()
        if name.upper() in names or value in keys:
            return f"${name} is the key of a provider, which goes to that provider only"
        if any(key in text for text in _decoded(value) for key in keys):
            return f"${name} contains the key of a provider, which goes to that provider only"
    return ""


def _decoded(value: str) -> Iterator[str]:
    """Yield `value`, and its text behind percent-encoding and Base64, as in `Basic dXNlcjprZXk=`."""
    yield value
    yield unquote(value)
    for match in re.finditer(r"[\w+/-]{8,}", value):
        whole = match[0] + "=" * (-len(match[0]) % 4)
        with suppress(ValueError):
            yield urlsafe_b64decode(whole.replace("+", "-").replace("/", "_")).decode("latin-1")


def _resemblance(name: str, value: str) -> str:
    """Return the kind of secret that a variable seems to hold, as the end of "$NAME, which …", or ""."""
    owner = next((secret.owner for secret in find_secrets(value)), "")
    if owner:
        return f"looks like a key of {owner}"
    if redact(value) != value:
        return "contains a password in an address" if logins_in(value) else "looks like a key"
    if "PRIVATE KEY-----" in value:
        return "looks like a private key"
    if logins_in(value):
        return "contains a password"
    return "has the name of a secret" if is_secret_variable(name) else ""


_KEYS_OF_USER = "it holds the keys of the user"


def _is_config(path: Path, environment: Environment) -> bool:
    """Return whether a file is the user's config.toml, or one that an editor has left beside it."""
    return _ConfigFile(environment).is_at(path)


class _ConfigFile:
    """The user's config.toml, which is looked at once for any number of paths."""

    def __init__(self, environment: Environment) -> None:
        path = config_folder(environment) / _CONFIG
        folders = str(path.parent), os.path.realpath(path.parent)
        self._folders = frozenset(map(os.path.normcase, folders))
        self._real = os.path.realpath(path)
        self._status: os.stat_result | None = None
        self._real_folders: dict[str, str] = {}
        with suppress(OSError):
            self._status = path.stat()

    def is_at(self, path: str | Path) -> bool:
        """Return whether it is at a path, or what an editor has left beside it."""
        real = self._without_links(os.fspath(path))
        folder, name = os.path.split(real)
        if os.path.normcase(folder) in self._folders and name.lower().lstrip(".#").startswith(
            _CONFIG
        ):
            return True
        # Not all file systems tell names apart by their case, and a file may have two.
        with suppress(OSError):
            if self._status is not None:
                return os.path.samestat(os.stat(real), self._status)  # noqa: PTH116
        return os.path.normcase(real) == os.path.normcase(self._real)

    def _without_links(self, path: str) -> str:
        """Return the real path. Many paths are in few folders, whose links are followed once."""
        folder, name = os.path.split(path)
        if folder not in self._real_folders:
            self._real_folders[folder] = os.path.realpath(folder)
        real = os.path.join(self._real_folders[folder], name)  # noqa: PTH118
        return os.path.realpath(real) if os.path.islink(real) else real  # noqa: PTH114


def _names_before_magic(segments: tuple[str, ...]) -> list[str]:
    names: list[str] = []
    for segment in segments:
        if has_magic(segment):
            break
        names.append(segment)
    return names


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _is_below(path: str | Path, folder: Path) -> bool:
    # As texts: to make all the folders above a path, and to compare them, takes ten times as long.
    inner, outer = os.path.normcase(path), os.path.normcase(folder)
    return inner == outer or inner.startswith(outer.rstrip(os.sep) + os.sep)
