"""Changing files of the workspace, whichever agents do it at the same time."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from axe_lsp.runtime.files.opening import open_place
from axe_lsp.runtime.tools.paths import speaking_of

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
        """Windows opens no folders: there, agents in processes of their own are not kept apart."""
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
