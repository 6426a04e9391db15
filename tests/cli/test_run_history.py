"""When `axe-lsp run` begins to write into the history."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from axe_lsp.cli.run_history import RunHistory
from axe_lsp.hosting.history.database import history_file
from axe_lsp.runtime.events import AgentBegin, RunIds, TextDelta, TurnBegin
from support.waiting import wait_until

RUN = RunIds("a1", "a1", "lead")
TIME = "2026-01-01T00:00:00Z"
BEGIN = AgentBegin(run=RUN, seq=1, time=TIME, task="t", model="openai/m")
TURN = TurnBegin(run=RUN, seq=2, time=TIME, turn=1, messages=1, pending_tool_calls=0)
DELTA = TextDelta(run=RUN, seq=3, time=TIME, turn=1, delta="Hello")


@pytest.fixture(autouse=True)
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return history_file(os.environ)


async def test_nothing_is_written_before_the_first_request_has_been_sent(
    tmp_path: Path, history: Path
) -> None:
    async with RunHistory(tmp_path, print, is_wanted=True) as memory:
        memory.event(BEGIN)
        memory.event(TURN)
        assert not is_begun(history)
    assert is_begun(history)


async def test_a_run_that_waits_for_its_first_answer_is_in_the_history(
    tmp_path: Path, history: Path
) -> None:
    async with RunHistory(tmp_path, print, is_wanted=True) as memory:
        memory.event(BEGIN)
        await asyncio.to_thread(wait_until_begun, history)


async def test_what_an_answer_brings_is_written_at_once(tmp_path: Path, history: Path) -> None:
    async with RunHistory(tmp_path, print, is_wanted=True) as memory:
        for event in (BEGIN, TURN, DELTA):
            memory.event(event)
        wait_until_begun(history)  # The loop stands still, so it is not because of the time.


def is_begun(history: Path) -> bool:
    return history.exists()


def wait_until_begun(history: Path) -> None:
    wait_until(lambda: is_begun(history))
