"""What is looked up once in a step of the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from axe_lsp.runtime.shared_lookups import once_a_step


class Disk:
    """What is looked at: whether there is a file of a name, and how often that was asked."""

    def __init__(self) -> None:
        self.looks: list[str] = []
        self.files: set[str] = set()

    def look(self, name: str) -> bool:
        self.looks.append(name)
        if name == "broken":
            raise ValueError(name)
        return name in self.files


async def test_what_begins_together_looks_once_for_each_thing() -> None:
    disk = Disk()
    look = once_a_step(disk.look)

    async def child(name: str) -> bool:
        return look(name)

    assert await asyncio.gather(*map(child, "abaab")) == [False] * 5
    assert sorted(disk.looks) == ["a", "b"]


async def test_a_later_step_sees_what_has_changed() -> None:
    disk = Disk()
    look = once_a_step(disk.look)
    assert not look("a")
    disk.files.add("a")
    await asyncio.sleep(0)
    assert look("a")


async def test_a_failure_is_nobody_elses() -> None:
    look = once_a_step(Disk().look)
    for _ in range(2):
        with pytest.raises(ValueError, match="broken"):
            look("broken")


def in_a_loop(look: Callable[[str], bool]) -> bool:
    async def main() -> bool:
        return look("a")  # The loop ends with this step.

    return asyncio.run(main())


@pytest.mark.parametrize("ask", [in_a_loop, lambda look: look("a")], ids=["other loop", "no loop"])
def test_nothing_stays_for_another_loop_or_where_there_is_none(
    ask: Callable[[Callable[[str], bool]], bool],
) -> None:
    disk = Disk()
    look = once_a_step(disk.look)
    assert not ask(look)
    disk.files.add("a")
    assert ask(look)
