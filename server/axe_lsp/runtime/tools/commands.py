"""Commands as processes: limited in time and output, and leaving nothing behind."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
from msgspec import Struct

from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, cache_folder
from axe_lsp.runtime.files.search_path import with_search_path
from axe_lsp.runtime.processes import below_agents
from axe_lsp.runtime.tools.kept_process import KeptProcess, start_kept
from axe_lsp.runtime.tools.long_output import LongOutput
from axe_lsp.runtime.tools.tool import Workplace

_INHERITED = ("PATH", "LANG", "LC_ALL", "USER", "LOGNAME", "TERM")
_NEEDED_ON_WINDOWS = ("SYSTEMROOT", "COMSPEC", "PATHEXT")
"""Without them not even sockets work there."""


_NO_START_UP_FILES = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.bareRepository",
    "GIT_CONFIG_VALUE_0": "explicit",
    "PYTHONNOUSERSITE": "1",
    "WGETRC": os.devnull,
    "GOENV": "off",
    "HGRCPATH": "",
    "LESSSECURE": "1",
    "NPM_CONFIG_USERCONFIG": os.devnull,
    "PSQLRC": os.devnull,
}
"""Start-up files that another command may have left in the home of commands are not read. Nor does git take a folder
of a repository for a bare one, with a configuration in it."""

_OF_PROJECTS = frozenset(
    (
        *(".git", ".gitignore", ".gitattributes", ".gitmodules", ".github", ".gitlab-ci.yml"),
        *(".axe", ".editorconfig", ".venv"),
    )
)
"""Hidden files that no program looks for in a home folder, although it may be a whole repository."""

_HOME = "home"


class Ended(Struct, frozen=True):
    """A command that has ended; without a `code`, because its time was over.

    `output` is what it wrote, to standard output and error.
    """

    output: LongOutput
    code: int | None


async def run_to_end(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    limit: float,
    output: LongOutput | None = None,
) -> Ended:
    """Run a command for `limit` seconds at most. What it writes is added to the `output`.

    Raises OSError if it can't be started.
    """
    with anyio.CancelScope(shield=True):  # What was started half can't be ended.
        kept = await start_kept(command, folder, environment)
    output = output or LongOutput()
    try:
        with anyio.move_on_after(limit) as time:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_read, kept, output)
                await kept.process.wait()
                await kept.end_what_is_left()  # Or that would keep its output open.
    finally:
        with anyio.CancelScope(shield=True):
            await kept.end()
    code = None if time.cancelled_caught else kept.process.returncode
    return Ended(output, code)


async def _read(kept: KeptProcess, output: LongOutput) -> None:
    assert kept.process.stdout is not None
    async for piece in kept.process.stdout:
        output.add(piece)


def _may_be_looked_for(name: str) -> bool:
    """Return whether a program may look for it in a home folder: hidden files, `Library` on macOS, `_curlrc` on Windows."""
    beginnings = (".", "_") if sys.platform == "win32" else (".",)
    return name.startswith(beginnings) or name in ("AppData", "Library")


def _home(folder: Path, environment: Environment) -> str:
    """Return the home of commands: the working directory, as axe has it, unless something there could be a start-up file.

    A repository could bring its own `.curlrc`, `.aws` or `.sqliterc`, and any other that we do not know. Then it
    is a folder of ours, in which caches of programs are kept.
    """
    try:
        with os.scandir(folder) as entries:
            hidden = {each.name for each in entries if _may_be_looked_for(each.name)}
        if hidden <= _OF_PROJECTS:
            return str(folder)
        home = cache_folder(environment) / _HOME
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (OSError, ConfigError):  # There is no place for it.
        return os.devnull
    return str(home)


def clean_environment(workplace: Workplace) -> dict[str, str]:
    """Return the environment of a command: only what programs need, no keys or other secrets."""
    outside, folder = with_search_path(workplace.environment), workplace.folder
    home = _home(folder, workplace.environment)
    names = (*_INHERITED, *_NEEDED_ON_WINDOWS) if sys.platform == "win32" else _INHERITED
    inherited = {name: outside[name] for name in names if outside.get(name)}
    agents = below_agents(outside, workplace.agents)
    return {"HOME": home, "TMPDIR": str(folder), **_NO_START_UP_FILES, **inherited, **agents}
