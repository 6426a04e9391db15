"""Where runs of an agent start, by the folder that its file lies in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from axe_lsp.runtime.files.folders import working_folder

_AGENTS_PARENT = ("axe", ".axe")


def workplace(folder: Path | None, roots: Sequence[Path], user_folder: Path | None) -> Path:
    """The workspace folder that holds the agents, else their project, else ours.

    Raises ConfigError if ours has been deleted.
    """
    for root in roots:
        if folder is not None and (root == folder or root in folder.parents):
            return root
    if folder is not None and folder != user_folder:
        is_usual = folder.name == "agents" and folder.parent.name in _AGENTS_PARENT
        return folder.parent.parent if is_usual else folder
    return next(iter(roots), None) or working_folder()
