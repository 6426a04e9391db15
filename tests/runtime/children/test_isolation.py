"""What ties a run in another process to its tree: numbers, costs, and what is left of the budget."""

from __future__ import annotations

from pathlib import Path

import anyio

from axe_lsp.agentfile.agent_definition import AgentDefinition, BudgetConfig, IsolationConfig
from axe_lsp.agentfile.lookup_order import Caller
from axe_lsp.runtime.children.isolation import CallerLink, located, wants_process
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.events import CompactionEnd, Event, RunIds, TextDelta, TurnEnd
from axe_lsp.runtime.journal import Journal
from axe_lsp.runtime.limits.budget import Ledger
from axe_lsp.runtime.limits.clock import Clock
from axe_lsp.runtime.messages import Response, ToolCall
from axe_lsp.runtime.providers.adaptive_limiter import OwnLimiters
from axe_lsp.runtime.recordings.recording import Recording
from axe_lsp.runtime.recordings.replay import Replay
from axe_lsp.runtime.run_log import Begun, Known, Log, encoded
from axe_lsp.runtime.runs import Order
from axe_lsp.runtime.safety.trust import TrustPolicy
from axe_lsp.runtime.services import RunServices, Tree

CHILD = RunIds(run_id="c", root_run_id="r", agent="child", depth=1, parent_run_id="r")
ORDER = Order(CHILD, Caller("/"), "t", "Task: t")


def turn(tokens: int, calls: int = 0, cost: float | None = None) -> TurnEnd:
    return TurnEnd(
        run=CHILD,
        turn=1,
        stop_reason="",
        text="",
        tool_calls=({"id": "1"},) * calls,
        input_tokens=tokens,
        output_tokens=0,
        duration_ms=1,
        cost=cost,
    )


def nobody(name: str, _: Caller) -> AgentDefinition:
    raise ConfigError(f"agent config not found: {name}")


def tied(journal: Journal, caller: Ledger, log: Log | None = None) -> CallerLink:
    services = RunServices(resolve=nobody, workspace=Path(), trust=TrustPolicy({}), warn=print)
    provider = Replay(Recording(()), {})
    tree = Tree(services, provider, journal, OwnLimiters(), log or Log(), {})
    return tree.caller_link(caller, Clock(anyio.CancelScope()), "c")


async def test_what_was_used_in_a_former_process_is_paid_for_but_left_to_the_next_one() -> None:
    answer = Response(input_tokens=7, output_tokens=3, tool_calls=(ToolCall("1", "grep", {}),))
    known = Known({("c", 1, "", "answer"): encoded(answer)}, {"c": Begun("2026-01-01T00:00:00Z")})
    caller = Ledger(BudgetConfig(max_tokens=100, scope="tree"))

    link = tied(Journal(print), caller, Log(known=known))

    assert caller.tree.tokens == 10
    assert link.budget.max_tokens == 100


async def test_events_from_elsewhere_are_numbered_with_those_of_here() -> None:
    heard: list[Event] = []
    journal = Journal(heard.append)
    tell = tied(journal, Ledger(BudgetConfig())).tell
    deltas = [TextDelta(run=CHILD, turn=1, delta="a", seq=77) for _ in range(3)]

    journal.emit(deltas[0])
    assert tell(deltas[1])
    journal.emit(deltas[2])

    assert [event.seq for event in heard] == [1, 2, 3]


async def test_what_is_used_elsewhere_is_paid_for_by_all_callers() -> None:
    root = Ledger(BudgetConfig())
    caller = Ledger(BudgetConfig(), root)

    tied(Journal(print), caller).tell(turn(tokens=7, cost=0.5))

    for ledger in (root, caller):
        assert (ledger.tree.input_tokens, ledger.tree.cost) == (7, 0.5)
        assert ledger.own.input_tokens == 0


async def test_a_summary_made_elsewhere_is_paid_for_as_well() -> None:
    root = Ledger(BudgetConfig(max_tokens=100))
    summary = CompactionEnd(
        run=CHILD,
        turn=2,
        tokens_before=900,
        tokens_after=90,
        messages=5,
        summary="s",
        input_tokens=70,
        output_tokens=30,
        duration_ms=1,
        cost=0.25,
    )
    assert not tied(Journal(print), root).tell(summary)
    assert (root.tree.tokens, root.tree.cost) == (100, 0.25)


async def test_a_budget_of_a_caller_that_is_used_up_is_told() -> None:
    root = Ledger(BudgetConfig(max_tokens=100, max_tool_calls=3))
    ties = tied(Journal(print), Ledger(BudgetConfig(), root))

    assert ties.budget == BudgetConfig(max_tokens=100, max_tool_calls=3)
    assert ties.tell(turn(tokens=60, calls=2))
    later = tied(Journal(print), Ledger(BudgetConfig(), root))
    assert later.budget == BudgetConfig(max_tokens=40, max_tool_calls=1)
    assert not ties.tell(turn(tokens=0, calls=2))
    assert not ties.tell(turn(tokens=40))


async def test_a_caller_that_pays_for_itself_alone_sets_no_limit() -> None:
    caller = Ledger(BudgetConfig(max_tokens=10, scope="self"))
    ties = tied(Journal(print), caller)

    assert ties.budget == BudgetConfig()
    assert ties.tell(turn(tokens=50))


def test_an_agent_that_can_not_be_found_is_left_to_its_run() -> None:
    assert located(ORDER, nobody) == ORDER
    assert not wants_process(ORDER)


def test_the_agents_own_file_says_whether_it_wants_a_process() -> None:
    for mode, wants in (("inline", False), ("process", True)):
        definition = AgentDefinition("child", "m", isolation=IsolationConfig(mode))
        assert wants_process(located(ORDER, lambda *_: definition)) is wants  # noqa: B023
