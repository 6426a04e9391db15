"""Whether agents may change things, as the command line says it."""

from __future__ import annotations

from collections.abc import Callable

from axe_lsp.agentfile.text import quoted
from axe_lsp.runtime.approval import Approve, Wish, allowed, nobody_to_ask


def approval(yes: bool, warn: Callable[[str], None]) -> Approve:
    """Agree to everything or to nothing; the first call that is refused tells the user why."""
    if yes:
        return allowed
    told: set[str] = set()

    async def refuse(wish: Wish) -> str:
        if not told:
            warn(
                f"agent {quoted(wish.run.agent)} wanted to use {wish.tool}, which needs your "
                "approval: run it with --yes to let tools change files and run commands"
            )
        told.add(wish.tool)
        return await nobody_to_ask(wish)

    return refuse
