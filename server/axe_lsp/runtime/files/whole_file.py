"""Writing a file as a whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from axe_lsp.runtime.files.opening import opened_folder


def write_whole_file(
    path: Path, content: bytes, *, mode: int | None = None, follows_links: bool = True
) -> None:
    """Give a file this content in one step: readers see the old one or the new one.

    A link leads to the file that changes, unless `path` is a place, whose links the caller has resolved
    already: then an error says that there is a link. A file that is there keeps its mode unless another one
    is given; there is no moment at which more people could read what is new. What is no regular file, such
    as a pipe, is written to. Raises OSError, and then nothing has changed.
    """
    place = path.resolve() if follows_links else path
    with opened_folder(place.parent) as folder:
        status = folder.status(place.name)
        if status is not None and not stat.S_ISREG(status.st_mode):
            descriptor = folder.open(place.name, os.O_WRONLY, waits=True)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            return
        if status is not None and mode is None:
            mode = stat.S_IMODE(status.st_mode)
        folder.replace(place.name, content, mode)
