"""Signals end what is going on in order."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from axe_lsp.cli.interruption import run_until_interrupted


def test_without_a_signal_the_work_has_its_way() -> None:
    async def work() -> int:
        return 3

    assert run_until_interrupted(work()) == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cancels_the_work_and_is_the_exit_code(number: signal.Signals) -> None:
    tidied = []

    async def work() -> int:
        try:
            os.kill(os.getpid(), number)
            await asyncio.Event().wait()
        finally:
            tidied.append("up")
        return 0

    before = signal.getsignal(number)
    assert run_until_interrupted(work()) == 128 + number
    assert tidied == ["up"]
    assert signal.getsignal(number) == before


def test_a_cancellation_of_another_origin_passes() -> None:
    async def work() -> int:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        run_until_interrupted(work())
