"""The folders in which programs are looked for: those of `PATH` that do not depend on the current folder.

Commands run in a workspace. With `./node_modules/.bin` or an empty folder in `PATH`, as some users have it, a
repository would bring its own `git` or `rg`. On Windows the system itself looks in the current folder first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.regular_files import is_file


def search_path(environment: Environment) -> str:
    """Return the value of `PATH` for a program of ours; "" if it has no such folder."""
    folders = environment.get("PATH", "").split(os.pathsep)
    return os.pathsep.join(each for each in folders if Path(each).is_absolute())


def with_search_path(environment: Environment) -> dict[str, str]:
    """Return the same variables with such a `PATH`; without one, if it would have no folder."""
    path = search_path(environment)
    others = {name: value for name, value in environment.items() if name != "PATH"}
    return {**others, "PATH": path} if path else others


def find_program(name: str, environment: Mapping[str, str]) -> str | None:
    """Return the absolute path of a program; None if there is none."""
    endings = ("", *environment.get("PATHEXT", "").split(";")) if sys.platform == "win32" else ("",)
    for folder in (search_path(environment) or os.defpath).split(os.pathsep):
        for ending in endings:
            path = Path(folder, name + ending)  # `name` may be absolute.
            if is_file(path) and os.access(path, os.X_OK):
                return str(path)
    return None
