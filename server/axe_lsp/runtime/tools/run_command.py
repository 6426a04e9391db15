"""`run_command`: a command for the shell, in the working directory."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

import anyio

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.files.search_path import find_program
from axe_lsp.runtime.files.user_config import key_variables, known_secrets
from axe_lsp.runtime.messages import Tool, ToolCall, ToolParameter
from axe_lsp.runtime.safety.approval import Rehearsal
from axe_lsp.runtime.tools.commands import clean_environment, run_to_end
from axe_lsp.runtime.tools.editor import RunCommand, changing_disk
from axe_lsp.runtime.tools.long_output import shown_end, shown_output
from axe_lsp.runtime.tools.read_only import is_enforceable, without_writing
from axe_lsp.runtime.tools.tool import (
    BuiltinTool,
    ToolError,
    Workplace,
    required,
    without_colours,
)

_TIME_LIMIT = 600.0
"""Seconds for one command. Mostly the run's own time is over before."""

_KEPT_IN_TERMINALS = 4 * 1024 * 1024
"""Bytes of an output that an editor keeps. It drops the beginning of a longer one."""

_IN_TERMINALS = {"GIT_PAGER": "cat", "PAGER": "cat"}
"""Pagers, for which programs would assume a reader at a terminal, and wait for a key."""


async def _run_command(call: ToolCall, workplace: Workplace) -> str:
    command = required(call, "command")
    with changing_disk(workplace.editor):
        told = await _run_in_editor(call, command, workplace)
        return await run_shell(command, workplace, _TIME_LIMIT) if told is None else told


async def _rehearse(call: ToolCall, workplace: Workplace) -> Rehearsal:
    command = required(call, "command")
    check_command(command, workplace.folders)
    subject = f"{workplace.folder}\n{command}"
    return Rehearsal("run a command", command, subject=subject, for_run="this command")


async def run_shell(command: str, workplace: Workplace, limit: float) -> str:
    """Return the output of a command. Raises ToolError if it fails, with its code and output."""
    check_command(command, workplace.folders)
    environment = clean_environment(workplace)
    shell = find_program("sh", environment)
    if shell is None:
        raise ToolError("there is no shell (sh) on this machine")
    in_shell = [shell, "-c", command]
    try:
        if workplace.read_only and is_enforceable():
            async with _scratch_folder() as scratch:
                environment["TMPDIR"] = scratch
                program = without_writing(in_shell, scratch)
                ended = await run_to_end(program, workplace.folder, environment, limit)
        else:
            ended = await run_to_end(in_shell, workplace.folder, environment, limit)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the command.
        raise ToolError(f"the command could not be started: {error}") from error
    secrets = known_secrets(workplace.environment)
    return _checked(ended.code, ended.output.text(secrets), limit)


async def _run_in_editor(call: ToolCall, command: str, workplace: Workplace) -> str | None:
    """Return the output of a command in a terminal of the editor; None if it has to be run without one.

    A terminal can't keep a command from writing. Raises ToolError if the command fails.
    """
    editor = workplace.editor
    if editor is None or not editor.can("terminal") or workplace.read_only:
        return None
    check_command(command, workplace.folders)
    request = RunCommand(
        call_id=call.event_id,
        command=("sh", "-c", command),
        folder=str(workplace.folder),
        environment={**clean_environment(workplace), **_IN_TERMINALS, **_emptied(workplace)},
        limit=_TIME_LIMIT,
        keep=_KEPT_IN_TERMINALS,
    )
    answer = await editor.ask(request)
    if answer.outcome == "failed":
        return None
    if answer.outcome == "refused":
        raise ToolError(answer.why)
    secrets, text = known_secrets(workplace.environment), without_colours(answer.text)
    output = shown_output(text, secrets) if answer.is_all else shown_end(text, secrets)
    if answer.outcome != "done":
        raise ToolError(f"{answer.why}; it is not known what the command has done\n{output}")
    if answer.signal:
        raise ToolError(f"ended by {answer.signal}\n{output}")
    return _checked(answer.code, output, _TIME_LIMIT)


def _emptied(workplace: Workplace) -> dict[str, str]:
    """Return the variables with keys, without their values: a terminal has the environment of its editor, too."""
    names = key_variables(workplace.environment)
    return dict.fromkeys((name for name in names if workplace.environment.get(name)), "")


def _checked(code: int | None, output: str, limit: float) -> str:
    """Return the output of a command that has ended well. Raises ToolError."""
    if code is None:
        raise ToolError(f"command timed out after {limit:g}s\n{output}")
    if code:
        raise ToolError(f"exit code {code}\n{output}")
    return output


@asynccontextmanager
async def _scratch_folder() -> AsyncIterator[str]:
    """Provide a folder for the time of a command."""
    folder = mkdtemp(prefix="axe-")
    try:
        yield folder
    finally:
        remove = partial(shutil.rmtree, folder, ignore_errors=True)
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(remove)


_URL = re.compile(r"https?://[^\s'`\"]+")
_WORD_END = r"\s'\"`;&|<>(){}=,:"
_WORD = re.compile(rf"[^{_WORD_END}]+")
_ABSOLUTE = re.compile(r"(?:^|^-\w+|[^\w.*?\]})$~+/-])(/.*)")
"""From the slash on that begins a path: the first one, or one behind an option or a sign such as `@`."""

_HOME = re.compile(rf"(?:^|(?<=[{_WORD_END}]))~(?:[A-Za-z_][\w-]*)?(?=[/{_WORD_END}]|$)")


def check_command(command: str, folders: Sequence[Path]) -> None:
    """Raise ToolError for a home folder, an absolute path or `..` that leads outside of all folders.

    The first one is that in which the command is executed. This keeps a model from straying, as in axe; it
    is no wall. A shell has endless ways to spell a path: who needs a wall runs axe-lsp in a container.
    """
    roots = [os.path.normpath(each) for each in folders]
    if os.sep in roots:
        return
    spoken = _URL.sub("_", command)
    if home := _HOME.search(spoken):
        raise ToolError(
            f"command rejected: home directory expansion {quoted(home[0])} is not allowed; "
            "use relative paths from the working directory instead"
        )
    for word in _WORD.findall(spoken):
        _check_word(word, roots)


def _check_word(word: str, roots: Sequence[str]) -> None:
    inside = _is_below(Path(os.path.normpath(Path(roots[0], word))), roots)
    if not inside and not word.startswith("/"):
        raise ToolError(
            f"command rejected: parent traversal in {quoted(word)} escapes the working directory "
            f"{quoted(roots[0])}; use relative paths that stay within the workdir"
        )
    absolute = _ABSOLUTE.search(word)
    if absolute and not _is_harmless(absolute[1], roots):
        raise ToolError(
            f"command rejected: absolute path {quoted(absolute[1])} is outside the working directory "
            f"{quoted(roots[0])}; use relative paths instead"
        )


def _is_harmless(path: str, roots: Sequence[str]) -> bool:
    """Return whether an absolute path is a device, or leads into one of the folders."""
    place = Path(os.path.normpath(path))
    return place.is_relative_to("/dev") or _is_below(place, roots)


def _is_below(path: Path, roots: Sequence[str]) -> bool:
    return any(path.is_relative_to(root) for root in roots)


TOOL = BuiltinTool(
    Tool(
        "run_command",
        "Execute a shell command in the agent's working directory via sh -c and return the "
        "combined stdout/stderr output. Commands are sandboxed to the working directory: absolute "
        "paths outside it are rejected, parent traversal (..) escaping it is rejected, and all "
        "file operations should use relative paths.",
        {"command": ToolParameter("string", "The shell command to execute.", required=True)},
    ),
    _run_command,
    _rehearse,
)
