"""What the supervisor holds against a host, and what not."""

import asyncio
import time
from collections.abc import Sequence

import pytest

from axe_lsp.hosting import protocol
from axe_lsp.hosting.notifications import Message
from axe_lsp.hosting.supervisor import host_process
from axe_lsp.hosting.supervisor.link import HOST, Link, is_done_within


async def test_what_is_done_in_time_counts() -> None:
    loop = asyncio.get_running_loop()
    awaited = loop.create_future()
    loop.call_soon(awaited.set_result, None)

    assert await is_done_within(60, awaited)


async def test_what_is_never_done_does_not_count() -> None:
    assert not await is_done_within(0.01, asyncio.get_running_loop().create_future())


async def test_time_in_which_the_server_itself_stood_still_is_not_held_against_the_host() -> None:
    loop = asyncio.get_running_loop()
    awaited = loop.create_future()

    def stand_still() -> None:
        time.sleep(0.5)
        loop.call_soon(read_a_part)

    def read_a_part() -> None:
        """What a host has written meanwhile takes some rounds of the loop to be read."""
        loop.call_soon(loop.call_soon, loop.call_soon, awaited.set_result, None)

    loop.call_soon(stand_still)

    assert await is_done_within(0.4, awaited)


async def test_what_was_sent_reaches_a_host_that_is_ready_before_its_start_returns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As on a busy machine: the host's first line is read before the task that started it goes on.
    start = host_process.start
    is_ready = asyncio.Event()

    async def returns_late(
        command: Sequence[str], on_output: host_process.OnLine, on_errors: host_process.OnLine
    ) -> host_process.HostProcess:
        process = await start(command, on_output, on_errors)
        await is_ready.wait()
        return process

    def receive(message: Message) -> None:
        if isinstance(message, protocol.Ready):
            is_ready.set()

    monkeypatch.setattr(host_process, "start", returns_late)
    link = Link(receive)
    answer = link.ping()
    serving = asyncio.create_task(link.serve(HOST))
    try:
        await asyncio.wait_for(answer, 60)
    finally:
        await link.end(2)
        await serving
