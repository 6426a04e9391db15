"""Writing a file as a whole or not at all."""

from __future__ import annotations

import os
import stat
import uuid
from pathlib import Path


def write_whole_file(path: Path, content: bytes) -> None:
    """Give a file this content in one step: readers see the old one or the new one.

    A link leads to the file that changes, a file that is there keeps its mode, and what is no
    regular file, such as a pipe, is written to. Raises OSError, and then nothing has changed.
    """
    path = path.resolve()
    mode = path.stat().st_mode if path.exists() else None
    if mode is not None and not stat.S_ISREG(mode):
        path.write_bytes(content)
        return
    new = path.with_name(f".{uuid.uuid4().hex}")
    try:
        with new.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            new.chmod(mode)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
