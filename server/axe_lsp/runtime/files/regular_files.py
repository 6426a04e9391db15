"""Files that are read or added to as a whole, and pipes in their place, where one would wait for somebody else."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_OF_PROCESSES = ("/dev/", "/proc/")
"""Where shells show what they hand over, as for `<(command)`: somebody does write there."""


def read_file(path: Path) -> bytes:
    """The content of a file. Raises OSError, for a pipe too."""
    refuse_pipe(path)
    return path.read_bytes()


def refuse_pipe(path: Path) -> None:
    """Raises OSError if there is a pipe, or nothing."""
    is_pipe = stat.S_ISFIFO(path.stat().st_mode)
    if is_pipe and not os.path.normpath(path).startswith(_OF_PROCESSES):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
