"""A log of past runs, an agent's or a shared one, in a Markdown file (axe M6).

Runs append to it; `gc` trims it, and has a model analyse it (axe M7). It is an agent's own file, its workspace's, or one
that is gone when the run ends.

An entry is a `## ` heading with the time, the task on one line, and the result. People edit these
files, so whatever starts with `## ` counts as an entry, as in axe.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

import anyio
from msgspec import Struct

from axe_lsp.agentfile.agent_definition import MemoryConfig
from axe_lsp.agentfile.schema.providers import ModelNameError, parse_model_name
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.errors import AgentError, ConfigError, RunTimeoutError, timeout_message
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.files.folders import Environment, cache_folder, data_folder, expand_path
from axe_lsp.runtime.files.opening import opened_folder
from axe_lsp.runtime.files.regular_files import (
    read_file,
    read_place,
    require_content,
    write_whole_file,
)
from axe_lsp.runtime.messages import Message, Request
from axe_lsp.runtime.plain_text import decode, digest_of, os_fault
from axe_lsp.runtime.providers.provider import Exchange, Provider
from axe_lsp.runtime.runs import DEFAULT_TIMEOUT, new_run_id

MAX_RESULT = 1000
"""Characters of a result that are kept."""

_ONLY_THE_USER = 0o600

_LINES = r"[^\n]*\n|[^\n]+"
_HEADING = "## "


class Memory(Struct, frozen=True):
    """The loaded memory: its file, the number of entries, and the text of those that count.

    `error` says why nothing could be loaded; `path` is None if not even the place is known.
    """

    path: Path | None
    count: int = 0
    entries: str = ""
    error: str = ""


def load_memory(
    agent: str,
    config: MemoryConfig,
    workspace: Path,
    environment: Environment,
    root_run_id: str = "",
    *,
    check: Callable[[Path], None] | None = None,
) -> Memory:
    """Return the memory of `agent`. A missing file is an empty memory; nothing raises.

    `check` gets the place that its path leads to, which is the one that is read, and may raise ConfigError.
    """
    path = None
    try:
        path = memory_path(agent, config, workspace, environment, root_run_id)
        if path is None:
            return Memory(None)
        place = Path(os.path.realpath(path))
        if check is not None:
            check(place)
        lines = re.findall(_LINES, decode(read_place(place)))
    except FileNotFoundError:
        return Memory(path)
    except ConfigError as error:
        return Memory(path, error=str(error))
    except OSError as error:
        return Memory(path, error=os_fault(error))
    except ValueError as error:  # A NUL in the path, so that nothing can be written there either.
        return Memory(None, error=f"{quoted(config.path)}: {error}")
    starts = _headings(lines)
    return Memory(path, len(starts), _newest(lines, starts, config.last_n))


def append_memory(
    place: Path,
    task: str,
    result: str,
    author: str = "",
    *,
    now: datetime | None = None,
    unless_since: str = "",
) -> None:
    """Add one entry, in a single write so that parallel runs don't mix. Raises OSError.

    A run that is resumed adds none if the same entry was added since it had begun, `unless_since` that moment.

    In a memory that several agents share, it says which of them is its author. Nobody but the user may read the file.
    `place` has no links any more; one that takes its place in this moment is not followed.
    """
    time = (now or datetime.now(timezone.utc)).strftime("%Y-%m-%dT%H:%M:%SZ")
    task = task.replace("\n", " ") or "(none)"
    result = result or "(none)"
    if len(result) > MAX_RESULT:
        result = result[:MAX_RESULT] + "..."
    by = f"**Agent:** {author}\n" if author else ""
    rest = f"\n{by}**Task:** {task}\n**Result:** {result}\n\n"
    entry = f"{_HEADING}{time}{rest}"
    if unless_since and _has_entry(place, rest, unless_since):
        return
    with opened_folder(place.parent, make=True, mode=0o700) as folder:
        status = folder.status(place.name)
        if status is not None and not stat.S_ISLNK(status.st_mode):
            require_content(status, place)
        appending = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        descriptor = folder.open(place.name, appending, _ONLY_THE_USER)
    with os.fdopen(descriptor, "ab", buffering=0) as file:
        _close_to_others(descriptor)
        file.write(entry.encode("utf-8", "replace"))


def _has_entry(path: Path, rest: str, since: str) -> bool:
    """Return whether there is an entry with this text behind its time, of this time or later."""
    try:
        text = decode(read_place(path))
    except FileNotFoundError:
        return False
    moments = (before.rpartition("\n")[2] for before in text.split(rest)[:-1])
    return any(_HEADING + since[:19] <= moment for moment in moments)


def _close_to_others(descriptor: int) -> None:
    """Withdraw the rights of other users: a file of an earlier version, or one that the user has created, may have them."""
    if sys.platform == "win32":
        return
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) and stat.S_IMODE(mode) != _ONLY_THE_USER:
        with suppress(PermissionError):  # It belongs to another user, who lets us write.
            os.fchmod(descriptor, _ONLY_THE_USER)


def trim_memory(path: Path, keep: int) -> int:
    """Keep the newest `keep` entries, more than none; returns how many are gone (axe M7, 3.1).

    What stays is kept byte for byte. The file is replaced as a whole or not at all, and stays
    untouched if there is nothing to remove. Raises OSError.
    """
    # A byte is a character in here, so that also what is not UTF-8 stays as it is.
    lines = re.findall(_LINES, read_file(path).decode("latin-1"))
    starts = _headings(lines)
    removed = len(starts) - keep
    if removed <= 0:
        return 0
    write_whole_file(path, _newest(lines, starts, keep).encode("latin-1"))
    return removed


def _headings(lines: list[str]) -> list[int]:
    """Return the lines with which the entries begin."""
    return [index for index, line in enumerate(lines) if line.startswith(_HEADING)]


def _newest(lines: list[str], starts: list[int], last_n: int) -> str:
    """Return the last `last_n` entries; 0 means the whole file, also what people wrote above them."""
    if last_n == 0:
        return "".join(lines)
    return "".join(lines[starts[-last_n:][0] :]) if starts else ""


def memory_path(
    agent: str, config: MemoryConfig, workspace: Path, environment: Environment, root_run_id: str
) -> Path | None:
    """Return the file; None for the memory of a run where there is no run. Raises ConfigError."""
    if config.scope == "run":
        return _of_run(root_run_id, environment) if root_run_id else None
    if config.path:
        return workspace / expand_path(config.path, environment)
    folder = data_folder(environment) / "memory"
    return folder / (_of_workspace(workspace) if config.scope == "workspace" else f"{agent}.md")


def forget_run(root_run_id: str, environment: Environment) -> None:
    """Remove what agents have remembered for one run, which has ended."""
    with suppress(ConfigError, OSError):
        _of_run(root_run_id, environment).unlink()


def _of_run(root_run_id: str, environment: Environment) -> Path:
    return cache_folder(environment) / "memory" / f"{root_run_id}.md"


def _of_workspace(workspace: Path) -> str:
    """Return the file name of a workspace's memory: its last folder, and a digest of the whole path."""
    place = workspace.resolve()
    digest = digest_of(str(place).encode("utf-8", "surrogateescape"))
    return f"workspaces/{place.name}-{digest[:12]}.md"


INSTRUCTIONS = """\
You analyze the memory of an AI agent. You are given the log of its past tasks and their results.
Write a report of exactly three sections, under exactly these headings:

## Patterns Found
Themes, kinds of tasks and ways of working that come up again and again. Without any, write "No \
clear patterns detected."

## Repeated Work
Tasks that were done more than once with the same or nearly the same input. Without any, write "No \
repeated work detected."

## Recommendations
What the user could change in the agent's configuration, its skill or the way it is used, as \
concrete steps that follow from the above. Without any, write "No specific recommendations."

Be brief, and name entries by their timestamps where that helps.
"""

_TEMPERATURE = 0.3
_MAX_TOKENS = 4096


async def analyze(agent: str, model: str, entries: str, provider: Provider, workspace: Path) -> str:
    """Ask `model` (as provider/model-name) what `entries` have in common: one request, no tools.

    Raises RunError.
    """
    try:
        chosen = parse_model_name(model)
    except ModelNameError as error:
        raise AgentError(str(error)) from error
    provider.check(chosen, workspace)
    run_id = new_run_id()
    request = Request(
        model=chosen.name,
        system=INSTRUCTIONS,
        messages=(Message("user", entries),),
        temperature=_TEMPERATURE,
        max_tokens=_MAX_TOKENS,
    )
    exchange = Exchange(RunIds(run_id, run_id, agent), chosen, 1, request, workspace)
    try:
        with anyio.fail_after(DEFAULT_TIMEOUT):
            return (await provider.send(exchange, on_delta=None)).content
    except TimeoutError as error:
        raise RunTimeoutError(timeout_message(DEFAULT_TIMEOUT)) from error
