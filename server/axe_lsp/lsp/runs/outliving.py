"""Runs that outlive their window: for how long, and how the next window of their folders gets them."""

from __future__ import annotations

import asyncio
import sys

from axe_lsp.lsp.session import Session

_SUPPORT = "experimental.axe.attach"
"""The capability of clients that show runs of a former window, and answer their questions."""


def grace_of(session: Session) -> int:
    """Return the seconds for which runs of this client go on without it; 0 if they end with it. May read files."""
    policy = _policy(session)
    if policy == "stop":
        return 0
    # Imported late: most clients have runs that end with them.
    from axe_lsp.hosting.executors.peers import is_below_agent
    from axe_lsp.hosting.protocol import ENDLESS

    if is_below_agent(session.daemon.environment):
        return 0  # Else the run would escape the end of the tree above.
    return ENDLESS if policy == "continue" else session.view.settings.run_grace


def begin_adopting(session: Session) -> None:
    """Take over the runs of the client's folders that have outlived their server, once, if its own runs would outlive it."""
    if session.adoption is None and _policy(session) != "stop":
        session.adoption = asyncio.get_running_loop().create_future()
        session.start(_adopt(session, session.adoption), name="adopting runs")


async def until_adopted(session: Session) -> None:
    """Wait until the first look for runs of a former server is over."""
    if session.adoption is not None:
        await asyncio.shield(session.adoption)


def become_owner(session: Session, run_id: str) -> bool:
    """Return whether this client answers the questions of a run, from now on if nobody has."""
    from axe_lsp.lsp.runs.approving import asker

    return session.daemon.runs.become_owner(run_id, asker(session), session)


async def _adopt(session: Session, first_look: asyncio.Future[None]) -> None:
    try:
        await _adopt_hosts(session, first_look)
    finally:
        if not first_look.done():
            first_look.set_result(None)


async def _adopt_hosts(session: Session, first_look: asyncio.Future[None]) -> None:
    # Imported late: hardly any server finds a run.
    from axe_lsp.hosting.executors.folder import has_executors

    environment, folders = session.daemon.environment, frozenset(map(str, session.view.roots))
    if not await asyncio.to_thread(has_executors, environment):
        return
    from axe_lsp.hosting.supervisor.adoption import adopted_runs
    from axe_lsp.lsp.runs.run_reports import Notifications, warnings

    goes_on = session.view.settings.run_go_on
    async for run_id in adopted_runs(
        lambda: session.daemon.runs, environment, folders, go_on=goes_on
    ):
        if run_id and session.client.supports(_SUPPORT):
            become_owner(session, run_id)
            for subscriber in (Notifications(session), warnings(session)):
                session.daemon.runs.subscribe(subscriber, run_id)
        elif not run_id and not first_look.done():
            first_look.set_result(None)


def _policy(session: Session) -> str:
    """Return what becomes of runs when the window of this client is closed."""
    if sys.platform != "linux" or session.daemon.has_many_clients:
        return "stop"
    return session.view.settings.run_on_window_close
