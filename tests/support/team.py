"""A lead with two agents that it calls at once, and what is told of their run."""

from __future__ import annotations

from axe_lsp.hosting.supervisor.orders import Run
from support.hosts import Stage, agent
from support.scripted_provider import Answer, Hold, Says, ScriptedProvider, calls_agent

TEAM = {"lead": agent("lead", "left", "right"), "left": agent("left"), "right": agent("right")}
BOTH = Says("I ask both.", calls=[calls_agent("left", "l"), calls_agent("right", "r")])


async def both_at_work(at: Stage, provider: ScriptedProvider) -> Run:
    """Return a run whose two children wait for answers that never come."""
    holds = {name: Hold() for name in ("left", "right")}
    provider.script("m-lead", BOTH)
    for name, hold in holds.items():
        provider.script(f"m-{name}", Answer(Says("never"), hold=hold))
    run = at.start("lead", "go")
    for hold in holds.values():
        await hold.arrived()
    for name in holds:
        await at.event("axe/turn", agent=name, kind="begin")
    return run


def assert_gapless(at: Stage, run: Run) -> None:
    """The events of the run are numbered without a gap."""
    numbers = [params["seq"] for _, params in at.of(run.id)]
    assert numbers == list(range(1, len(numbers) + 1))


def ends(at: Stage, run: Run) -> list[tuple[str, str]]:
    """Return which agents have ended, and how, in that order."""
    return [
        (params["agent"], params["status"])
        for method, params in at.of(run.id)
        if method == "axe/agent" and params["kind"] == "end"
    ]
