"""The abilities of the editor of a session that runs of it may use."""

from __future__ import annotations

from axe_lsp.lsp.session import Session
from axe_lsp.runtime.tools.editor import Ability


def abilities(session: Session) -> tuple[Ability, ...]:
    """Return what the editor of a session does for its runs: it answers questions about code, or nothing."""
    return ("code",) if session.client.supports("experimental.axe.editor") else ()
