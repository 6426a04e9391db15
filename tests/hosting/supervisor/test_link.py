"""What the supervisor holds against a host, and what not."""

import asyncio
import time

from axe_lsp.hosting.supervisor.link import is_done_within


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
