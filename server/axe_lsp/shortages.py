"""Errors that mean that the process may open no further file, or has no memory: the user has to configure that."""

from __future__ import annotations

import errno
import os
import sys

OUT_OF_RESOURCES = 2
"""Exit code of a process that ends for that reason."""

_FILES = "no further file can be opened: the limit is reached. `ulimit -n 1024` raises it"
_MEMORY = (
    "the memory does not suffice, or no further thread may be started. `ulimit -a` shows the limits"
)


def shortage(error: BaseException | None) -> str:
    """Return which resource of the process is used up, and what helps; "" if the error has another cause."""
    while error is not None:
        number = error.errno if isinstance(error, OSError) else None
        # The dynamic linker has a text only, with the system's words.
        is_library = isinstance(error, ImportError) and os.strerror(errno.EMFILE) in str(error)
        if number in (errno.EMFILE, errno.ENFILE) or is_library:
            return _FILES
        has_no_thread = isinstance(error, RuntimeError) and "start new thread" in str(error)
        if isinstance(error, MemoryError) or number == errno.ENOMEM or has_no_thread:
            return _MEMORY
        error = error.__cause__ or error.__context__
    return ""


def end_process(reason: str) -> None:
    """End the process at once, with one sentence, where an exception would reach only the log of an event loop."""
    sys.stderr.write(f"axe-lsp: {reason}\n")
    sys.stderr.flush()
    os._exit(OUT_OF_RESOURCES)
