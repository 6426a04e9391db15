"""What comes back from children, and what never does."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.engines import agent, bench
from support.scripted_provider import Refuses, Says, ScriptedProvider, calls_agent


@pytest.mark.req("000-1", "000-7", "000-18", "001-P2")
@pytest.mark.req("003-8", "003-9", "003-27", "004-1", "004-16")
async def test_a_parent_learns_nothing_but_the_last_text(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    (tmp_path / "plan.txt").write_text("what the child has read")
    provider.script("m-p", Says(calls=[calls_agent("child", "ask around")]), Says("F"))
    provider.script(
        "m-child",
        Says("what the child thought", [calls_agent("leaf", "what the child asked")]),
        Says("the last text"),
    )
    provider.script("m-leaf", Says("what the child was told"))
    agents = (
        agent("p", sub_agents=["child"])
        | agent("child", sub_agents=["leaf"], files=["*.txt"])
        | agent("leaf")
    )
    async with bench(provider, tmp_path, agents) as work:
        await work.run("p")
    assert "what the child has read" in str(provider.asked("m-child")[0].body)
    last = provider.requests[-1]
    assert last.body["messages"][-1]["content"] == "the last text"
    assert "what the child" not in str(last.body)


@pytest.mark.req("001-5.5e", "001-5.7d", "001-5.7e", "001-13.4")
async def test_when_all_children_fail_their_parent_learns_why(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script(
        "m-p", Says(calls=[calls_agent("a", "1"), calls_agent("b", "2")]), Says("coped")
    )
    provider.script("m-a", Refuses(401, "no such key"))
    provider.script("m-b", Refuses(500, "out of order"))
    agents = agent("p", sub_agents=["a", "b"]) | agent("a") | agent("b")
    async with bench(provider, tmp_path, agents) as work:
        assert (await work.run("p")).content == "coped"
    results = [message["content"] for message in provider.requests[-1].body["messages"][-2:]]
    assert results == [
        'Error: sub-agent "a" failed - auth: no such key. '
        "You may retry or proceed without this result.",
        'Error: sub-agent "b" failed - server: out of order. '
        "You may retry or proceed without this result.",
    ]
    assert len(provider.requests) == 4, "nothing is asked twice"
