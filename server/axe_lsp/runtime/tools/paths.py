"""Paths as models give them, and the places they lead to: always below the folders of the workplace.

Symbolic links are resolved before anything is opened, and the place that they lead to is the one
that is opened, so a link can't be passed off as a file of the workspace, not even a link that is created
meanwhile (`runtime/files/opening.py`). Calls of agents that change a file take turns.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from axe_lsp.runtime.files.opening import open_place, opened_file
from axe_lsp.runtime.messages import Message
from axe_lsp.runtime.plain_text import shown_path
from axe_lsp.runtime.tools.tool import ToolError, Workplace


def place(workplace: Workplace, path: str) -> Path:
    """Return where `path` leads, without links; whether something is there is not asked. Raises ToolError."""
    if Path(path).is_absolute() and not workplace.more_folders:
        raise ToolError("absolute paths are not allowed")
    if "\0" in path:  # Each version of Python has another sentence for it.
        raise ToolError("invalid path: embedded null byte")
    try:
        roots = [os.path.realpath(each) for each in workplace.folders]
        found = Path(os.path.realpath(Path(roots[0], path)))
    except (OSError, ValueError) as error:  # ValueError: what no file system can encode.
        raise ToolError(f"invalid path: {error}") from error
    written = Path(os.path.normpath(Path(roots[0], path)))
    spoken = [*roots, *map(str, workplace.more_folders)]  # Which may be links.
    if not (_is_below(found, roots) and _is_below(written, spoken)):
        raise ToolError("path escapes workdir")
    return found


def _is_below(path: Path, folders: Iterable[str]) -> bool:
    return any(path.is_relative_to(each) for each in folders)


def learn_files(workplace: Workplace, messages: Sequence[Message]) -> None:
    """Learn from the messages of a former process which files the agent has read and written."""

    def place_of(path: str) -> Path | None:
        try:
            return place(workplace, path)
        except ToolError:
            return None

    workplace.seen_files.learn(messages, place_of)


class NamedFile(Struct, frozen=True):
    """A file as people are asked about it: by the place that would be written.

    `shown` is the path from the working directory, absolute for one that is not below it, `through` the
    path of the model where links lead from that one to this.
    """

    place: Path
    shown: str
    through: str = ""


def named_file(workplace: Workplace, path: str) -> NamedFile:
    """Return the file that `path` leads to. Raises ToolError."""
    found = place(workplace, path)
    root = os.path.realpath(workplace.folder)
    shown = shown_path(found.relative_to(root) if found.is_relative_to(root) else found)
    is_link = os.path.normpath(Path(root, path)) != str(found)
    return NamedFile(found, shown, f" (through the link {shown_path(path)})" if is_link else "")


@contextmanager
def speaking_of(path: str) -> Iterator[None]:
    """Say what the system refuses in the words of the model: its own path, not where that leads."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise ToolError(f"{path}: {reason[:1].lower()}{reason[1:]}") from error


@contextmanager
def opened(found: Path) -> Iterator[BinaryIO]:
    """Provide a file of the workspace, by its place. Raises ToolError for what has no content that ends, and OSError."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(opened_file(found))
        except IsADirectoryError as error:
            raise ToolError("path is a directory, not a file") from error
        except OSError as error:
            if error.errno == errno.EINVAL:
                raise ToolError("path is not a regular file") from error
            raise
        yield file


_one_at_a_time = threading.Lock()


@contextmanager
def writing(found: Path, path: str) -> Iterator[None]:
    """Change a file while no other call does, so that no change is lost. Raises ToolError.

    `found` is the file, in a folder that exists, and `path` what the model calls it.
    """
    with _one_at_a_time, speaking_of(path), _folder_locked(found.parent):
        yield


if sys.platform == "win32":

    @contextmanager
    def _folder_locked(folder: Path) -> Iterator[None]:
        """Lock nothing: Windows opens no folders, so agents in separate processes are not kept apart."""
        yield

else:
    import fcntl

    @contextmanager
    def _folder_locked(folder: Path) -> Iterator[None]:
        """Keep other processes of ours from writing in the same folder. It leaves no file behind.

        A process that ends, however it ends, has no lock any more. Some file systems have no locks.
        """
        descriptor = open_place(folder)
        try:
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)
