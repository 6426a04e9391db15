"""Changing files of the workspace, whichever agents do it at the same time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from axe_lsp.runtime.tools.places import speaking_of

_one_at_a_time = threading.Lock()


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Change a file while nobody else does, so that no change is lost. Raises ToolError."""
    with _one_at_a_time, speaking_of(path):
        yield
