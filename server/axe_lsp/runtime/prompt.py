"""The prompt of an agent's model: working directory, context files, skill, memory, user message.

Everything is read from the disk here, before the first request; nothing is sent.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, expand_path, skill_path
from axe_lsp.runtime.files.regular_files import read_file, read_place
from axe_lsp.runtime.messages import Image
from axe_lsp.runtime.plain_text import decode, digest_of, os_fault, shown_path, valid_text
from axe_lsp.runtime.runs import Order
from axe_lsp.runtime.safety.reach import Admitted

if TYPE_CHECKING:
    from axe_lsp.runtime.files.context_files import ContextFile
    from axe_lsp.runtime.memory import Memory

DEFAULT_USER_MESSAGE = "Execute the task described in your instructions."

_ABOUT_FOLDERS = (
    "Besides the working directory, your tools for files and commands may use these directories. "
    "Paths in them are absolute."
)

_DIVIDER = "\n\n---\n\n"


class Prompt(Struct, frozen=True):
    """The prompt and what it was made of.

    `workdir` is the working directory as it was given, `folder` the same as a path that stands on
    its own. `notes` are worth knowing only for those who ask; `warnings` for everybody.
    """

    workdir: str
    folder: Path
    system: str
    user_message: str
    skill: str
    skill_text: str
    files: tuple[ContextFile, ...]
    memory: Memory | None
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def images(self) -> tuple[Image, ...]:
        """The pictures among the files."""
        return tuple(file.image for file in self.files if file.image is not None)


def build_prompt(
    order: Order,
    definition: AgentDefinition,
    workspace: Path,
    environment: Environment,
    *,
    admitted: Admitted | None = None,
) -> Prompt:
    """Return the prompt of one run. Raises ConfigError for a bad glob or a missing skill.

    Outside of the workspace, the agent may read what it was `admitted` to; anything if that is None.
    """
    workdir = expand_path(order.workdir or definition.workdir, environment) or str(workspace)
    folder = folder_of(order, definition, workspace, environment)
    files: tuple[ContextFile, ...] = ()
    notes: tuple[str, ...] = ()
    if definition.files:
        from axe_lsp.runtime.files.context_files import find_context_files

        found = find_context_files(definition.files, folder)
        files, notes = found.files, found.notes
    skill = order.skill or definition.skill
    # What the user has named on the command line may be a pipe of their shell.
    check = None if order.skill or admitted is None else admitted.check_skill
    skill_text = load_skill(skill, environment, check)
    memory = None
    if definition.memory.enabled:
        from axe_lsp.runtime.memory import load_memory

        ids = order.ids
        memory = load_memory(
            ids.agent,
            definition.memory,
            workspace,
            environment,
            ids.root_run_id,
            check=None if admitted is None else admitted.check_memory,
        )
    entries = memory.entries if memory else ""
    system = system_prompt(definition.system_prompt, skill_text, files, entries, order.more_folders)
    return Prompt(
        workdir=shown_path(workdir),
        folder=folder,
        system=system,
        user_message=valid_text(order.message if order.message.strip() else DEFAULT_USER_MESSAGE),
        skill=skill,
        skill_text=skill_text,
        files=files,
        memory=memory,
        warnings=_memory_warnings(order.ids.agent, definition, memory),
        notes=notes,
    )


def folder_of(
    order: Order, definition: AgentDefinition, workspace: Path, environment: Environment
) -> Path:
    """Return the folder in which an agent works. Raises ConfigError."""
    workdir = expand_path(order.workdir or definition.workdir, environment)
    folder = workspace / workdir if workdir else workspace
    if order.copied is None:
        return folder
    return order.copied.folder(Path(os.path.realpath(folder)))


def system_prompt(
    own: str,
    skill_text: str,
    files: Sequence[ContextFile],
    memory: str = "",
    more_folders: Sequence[str] = (),
) -> str:
    """Return the agent's own prompt, its skill, its files, its further folders and its memory, each only if there is one."""
    parts = [own]
    if skill_text:
        parts.append(f"{_DIVIDER}## Skill\n\n{skill_text}")
    if files:
        shown = "\n\n".join(fenced(file) for file in files)
        parts.append(f"{_DIVIDER}## Context Files\n\n{shown}")
    if more_folders:
        named = "\n".join(f"- {shown_path(each)}" for each in more_folders)
        parts.append(f"{_DIVIDER}## Further Directories\n\n{_ABOUT_FOLDERS}\n\n{named}")
    if memory:
        parts.append(f"{_DIVIDER}## Memory\n\n{memory}")
    return "".join(parts)


def load_skill(
    skill: str, environment: Environment, check: Callable[[Path, Path], None] | None = None
) -> str:
    """Return the text of a skill. Raises ConfigError.

    `check` gets its path and the place that this leads to, which is the one that is read.
    """
    if not skill:
        return ""
    path = skill_path(skill, environment)
    try:
        if check is None:
            return decode(read_file(path))
        place = Path(os.path.realpath(path))
        check(path, place)
        return decode(read_place(place))
    except FileNotFoundError:
        message = f"skill not found: {shown_path(path)}"
    except OSError as error:
        message = f"failed to read skill: {os_fault(error)}"
    except ValueError as error:  # A NUL in the path.
        message = f"failed to read skill: {error}"
    raise ConfigError(message, step="failed to load skill for agent")


def definition_digest(
    definition: AgentDefinition, workspace: Path, environment: Environment
) -> str:
    """Return the identity of a version of an agent: the SHA-256 of its definition with its skill's text, without its path.

    Comments, order and layout of the file do not count.
    The text of a skill for which the user would have to trust the file does not count: it is not read for this.
    """
    skill = ""
    with suppress(ConfigError):
        check = Admitted((), definition, workspace, environment).check_skill
        skill = load_skill(definition.skill, environment, check)
    content = replace(definition, source=None, read_only=False, notes=(), beyond_first_axe=False)
    values = to_builtins(content, enc_hook=str)
    return digest_of(json.dumps([values, skill], sort_keys=True))


def fenced(file: ContextFile) -> str:
    """Return a file as a model reads it."""
    if file.image is not None:
        return f"### {file.path}\n(a picture, which comes with the first message)"
    extension = file.path.rpartition("/")[2].rpartition(".")
    language = extension[2] if extension[1] else ""
    return f"### {file.path}\n```{language}\n{file.content}\n```"


def _memory_warnings(
    agent: str, definition: AgentDefinition, memory: Memory | None
) -> tuple[str, ...]:
    if memory is None:
        return ()
    if memory.error:
        return (f"failed to load memory for {quoted(agent)}: {memory.error}",)
    limit = definition.memory.max_entries
    if limit and memory.count >= limit:
        return (
            f"agent {quoted(agent)} memory has {memory.count} entries (max_entries: {limit}). "
            f"Run 'axe gc {agent}' to trim.",
        )
    return ()
