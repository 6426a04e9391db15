"""States of folders that are found once for all who ask at the same moment."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from axe_lsp.runtime.services import Snapshots


class Maker:
    """Makes states, each when it may end."""

    def __init__(self) -> None:
        self.begun: list[asyncio.Future[int]] = []

    async def __call__(self) -> int:
        made = asyncio.get_running_loop().create_future()
        self.begun.append(made)
        result: int = await made
        return result

    async def until_begun(self, number: int) -> None:
        while len(self.begun) < number:  # noqa: ASYNC110 - nothing but turns of the loop is waited for
            await asyncio.sleep(0)


def asked(snapshots: Snapshots, make: Any, folder: str = "a") -> asyncio.Future[int]:
    return asyncio.ensure_future(snapshots.of(folder, make))


async def test_who_asks_meanwhile_gets_the_next_one_together_with_others() -> None:
    snapshots, make = Snapshots(), Maker()
    first = asked(snapshots, make)
    await make.until_begun(1)
    others = [asked(snapshots, make) for _ in range(20)]
    await asyncio.sleep(0)
    make.begun[0].set_result(1)
    await make.until_begun(2)
    make.begun[1].set_result(2)
    assert await asyncio.gather(first, *others) == [1, *[2] * 20]
    assert len(make.begun) == 2
    assert not snapshots._folders


async def test_other_folders_do_not_wait() -> None:
    snapshots, make = Snapshots(), Maker()
    both = [asked(snapshots, make, folder) for folder in ("a", "b")]
    await make.until_begun(2)
    for number, each in enumerate(make.begun):
        each.set_result(number)
    assert await asyncio.gather(*both) == [0, 1]


async def test_one_that_fails_or_is_cancelled_is_made_for_the_next_who_waits() -> None:
    snapshots, make = Snapshots(), Maker()
    first = asked(snapshots, make)
    await make.until_begun(1)
    failing, cancelled, last = (asked(snapshots, make) for _ in range(3))
    await asyncio.sleep(0)
    make.begun[0].set_result(1)
    await make.until_begun(2)
    make.begun[1].set_exception(OSError("no"))
    await make.until_begun(3)
    cancelled.cancel()
    await make.until_begun(4)
    make.begun[3].set_result(4)
    assert (await first, await last) == (1, 4)
    with pytest.raises(OSError, match="no"):
        await failing
    assert cancelled.cancelled()
