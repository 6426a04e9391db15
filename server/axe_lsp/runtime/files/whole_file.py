"""Writing a file as a whole or not at all."""

from __future__ import annotations

import os
import stat
import uuid
from functools import partial
from pathlib import Path


def write_whole_file(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Give a file this content in one step: readers see the old one or the new one.

    A link leads to the file that changes. A file that is there keeps its mode unless another one is
    given; there is no moment at which more people could read what is new. What is no regular file,
    such as a pipe, is written to. Raises OSError, and then nothing has changed.
    """
    path = path.resolve()
    before = path.stat().st_mode if path.exists() else None
    if before is not None and not stat.S_ISREG(before):
        path.write_bytes(content)
        return
    mode = stat.S_IMODE(before) if mode is None and before is not None else mode
    new = path.with_name(f".{uuid.uuid4().hex}")
    try:
        with open(new, "xb", opener=partial(os.open, mode=0o666 if mode is None else mode)) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            new.chmod(mode)  # The mask of the process may have taken something off.
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
