"""Modules of ours as programs of their own."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def module_command(module: str) -> Sequence[str]:
    """The command that runs `main` of a module of ours in a process of its own.

    `-m` would import from the current directory first, which is a workspace: opening one must not run
    what lies there.
    """
    code = f"import sys; sys.path[:] = filter(None, sys.path); import {module} as it; it.main()"
    return sys.executable, "-c", code
