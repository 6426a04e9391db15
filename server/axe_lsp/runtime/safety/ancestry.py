"""The agents above a process, as its environment names them: programs that agents start do not call those again."""

from __future__ import annotations

import json
from collections.abc import Sequence

from axe_lsp.runtime.files.folders import Environment

AGENTS_ABOVE = "AXE_RUN"
"""The variable: a JSON array of names, the root first."""


def named(agents: Sequence[str]) -> str:
    """The value of the variable."""
    return json.dumps(agents)


def agents_above(environment: Environment) -> tuple[str, ...]:
    """The agents that have led to the process of an environment, as its variable says; none without it."""
    try:
        found = json.loads(environment.get(AGENTS_ABOVE, "[]"))
    except ValueError:
        return ()
    return tuple(name for name in found if isinstance(name, str)) if isinstance(found, list) else ()
