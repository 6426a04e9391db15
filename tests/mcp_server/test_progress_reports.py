"""Reports of progress of a called agent."""

from __future__ import annotations

import asyncio

import pytest

from axe_lsp.hosting.notifications import Notification
from axe_lsp.mcp_server.progress_reports import MOST_REPORTS, Progress


def turn(number: int) -> Notification:
    return Notification("axe/turn", {"kind": "begin", "agent": "lead", "turn": number})


async def test_a_report_that_is_being_sent_when_the_run_ends_is_not_lost() -> None:
    progress, told = Progress(), list[tuple[float, str | None]]()
    sending, go_on = asyncio.Event(), asyncio.Event()

    async def report(number: float, total: float | None, message: str | None) -> None:
        sending.set()
        await go_on.wait()
        told.append((number, message))

    enough: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    telling = asyncio.create_task(progress.tell(report, enough))
    progress.hear(turn(1))
    await sending.wait()
    progress.hear(turn(2))
    enough.set_result(None)
    go_on.set()
    await telling
    assert told == [(1, "lead > turn 1"), (2, "lead > turn 2")]


async def test_reports_beyond_the_limit_are_not_waited_for_when_the_run_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("axe_lsp.mcp_server.progress_reports.loop_time", lambda: 100.0)
    progress, told = Progress(), list[float]()
    full = asyncio.Event()

    async def report(number: float, total: float | None, message: str | None) -> None:
        told.append(number)
        if len(told) == MOST_REPORTS:
            full.set()

    enough: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    telling = asyncio.create_task(progress.tell(report, enough))
    for number in range(1, MOST_REPORTS + 1):
        progress.hear(turn(number))
    await full.wait()
    progress.hear(turn(MOST_REPORTS + 1))
    enough.set_result(None)
    await telling
    assert told == [*range(1, MOST_REPORTS + 1)]
