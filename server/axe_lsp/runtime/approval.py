"""Who says whether an agent may change something. How they are asked is not decided here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from axe_lsp.agentfile.text import quoted
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.messages import Json


@dataclass(frozen=True, slots=True)
class Wish:
    """A call that somebody has to agree to before it is executed."""

    run: RunIds
    tool: str
    arguments: Mapping[str, Json]


Approve = Callable[[Wish], Awaitable[str]]
"""Decides: "" if the call may be executed, else why not, which the model is told."""


async def nobody_to_ask(_: Wish) -> str:
    """The decision where no user can be asked."""
    return "it needs the user's approval, and nobody can be asked here; go on without it"


def refusing(warn: Callable[[str], None], advice: str) -> Approve:
    """Nobody can be asked. When an agent first wants something, the user hears what can be done."""
    has_warned = False

    async def refuse(wish: Wish) -> str:
        nonlocal has_warned
        if not has_warned:
            has_warned = True
            agent = quoted(wish.run.agent)
            warn(f"agent {agent} wanted to use {wish.tool}, which needs your approval: {advice}")
        return await nobody_to_ask(wish)

    return refuse


async def allowed(_: Wish) -> str:
    """The decision of a user who has agreed to everything beforehand."""
    return ""
