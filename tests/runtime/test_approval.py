"""Calls that change something are executed only if somebody agrees."""

from __future__ import annotations

from pathlib import Path

from axe_lsp.runtime.approval import Wish, allowed
from axe_lsp.runtime.events import ToolEnd
from support.engines import agent, bench
from support.scripted_provider import Call, Says, ScriptedProvider

WRITE = Call("write_file", {"path": "a.txt", "content": "A"})


async def test_nothing_is_changed_where_nobody_can_be_asked(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-a", Says(calls=[WRITE]), Says("done"))
    async with bench(provider, tmp_path, agent("a", tools=["write_file"])) as work:
        assert (await work.run("a")).content == "done"
    (end,) = work.of(ToolEnd)
    assert end.is_error
    assert end.content == (
        "write_file was not allowed: "
        "it needs the user's approval, and nobody can be asked here; go on without it"
    )
    assert not (tmp_path / "a.txt").exists()


async def test_what_was_agreed_to_happens(provider: ScriptedProvider, tmp_path: Path) -> None:
    provider.script("m-a", Says(calls=[WRITE]), Says("done"))
    agents = agent("a", tools=["write_file"])
    async with bench(provider, tmp_path, agents, approve=allowed) as work:
        await work.run("a")
    assert (tmp_path / "a.txt").read_text() == "A"


async def test_who_decides_knows_what_is_wanted_and_by_whom(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    (tmp_path / "b.txt").touch()
    wishes = []

    async def refuse(wish: Wish) -> str:
        wishes.append((wish.run.agent, wish.tool, wish.arguments))
        return "the user said no"

    read = Call("read_file", {"path": "b.txt"})
    provider.script("m-a", Says(calls=[read, WRITE]), Says("done"))
    agents = agent("a", tools=["read_file", "write_file"])
    async with bench(provider, tmp_path, agents, approve=refuse) as work:
        await work.run("a")
    assert wishes == [("a", "write_file", WRITE.arguments)]
    (refused,) = [event.content for event in work.of(ToolEnd) if event.is_error]
    assert refused == "write_file was not allowed: the user said no"
