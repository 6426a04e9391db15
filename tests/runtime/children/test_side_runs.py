"""Side runs: called agents for which their caller does not wait."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.runtime.errors import BudgetError, RunCancelledError
from axe_lsp.runtime.events import AgentBegin, AgentEnd, AgentIdle, MessagesGiven, ToolEnd
from axe_lsp.runtime.safety.approval import Approval
from axe_lsp.runtime.safety.questions import Answer as Reply
from axe_lsp.runtime.safety.questions import Question
from support.bodies import messages_of, text_of, tools_of
from support.copies import Place
from support.engines import agent, bench, running
from support.scripted_provider import Answer, Call, Hold, Refuses, Says, ScriptedProvider

pytestmark = pytest.mark.req("002-3")

TOOLS = ["check_agents", "wait_agents", "message_agent", "stop_agent"]

STARTED = (
    'Started the side run "{}". Its answer is given to you when it has ended. '
    "Go on with other work, or end your turn: you are called again then."
)


def team(background: str = "optional", **config: Any) -> dict[str, str]:
    """`lead` may call `lint` and `scan` as side runs."""
    lead = agent(
        "lead",
        sub_agents=["lint", "scan"],
        sub_agents_config={"background": background, **config},
    )
    return {**lead, **agent("lint"), **agent("scan")}


def starts(*agents: str, **more: Any) -> Says:
    """Return an answer that starts side runs."""
    return Says(
        calls=[
            Call("call_agent", {"agent": each, "task": "work", "background": True, **more})
            for each in agents
        ]
    )


def calls(name: str, **arguments: Any) -> Says:
    return Says(calls=[Call(name, arguments)])


def texts(provider: ScriptedProvider, request: int, model: str = "m-lead") -> list[str]:
    """Return the texts of the messages of a request, without the system prompt."""
    return [text_of(each) for each in messages_of(provider.asked(model)[request].body)]


async def test_agent_without_the_key_is_offered_no_tool_for_side_runs(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-lead", Says("end"))
    async with bench(provider, tmp_path, team("never")) as work:
        await work.run("lead", "go")
    ((name, _, schema),) = tools_of(provider.requests[0].body)
    assert (name, [*schema["properties"]]) == ("call_agent", ["agent", "task", "context"])


@pytest.mark.parametrize(("background", "has_choice"), [("optional", True), ("always", False)])
async def test_tools_for_side_runs_follow_call_agent(
    provider: ScriptedProvider, tmp_path: Path, background: str, has_choice: bool
) -> None:
    provider.script("m-lead", Says("end"))
    async with bench(provider, tmp_path, team(background)) as work:
        await work.run("lead", "go")
    offered = tools_of(provider.requests[0].body)
    assert [name for name, _, _ in offered] == ["call_agent", *TOOLS]
    assert ("background" in offered[0][2]["properties"]) is has_choice
    assert "background" not in offered[0][2]["required"]


async def test_task_alone_is_followed_by_the_tools(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-lead", Says("end"))
    lead = agent("lead", task={}, sub_agents_config={"background": "optional"})
    async with bench(provider, tmp_path, lead) as work:
        await work.run("lead", "go")
    offered = tools_of(provider.requests[0].body)
    assert [name for name, _, _ in offered] == ["Task", *TOOLS]
    assert offered[0][2]["properties"]["background"]["type"] == "boolean"


async def test_agent_at_the_depth_limit_is_offered_none_of_the_tools(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-lead", starts("lint"), Says("end"), Says("end"))
    provider.script("m-lint", Says("ok"))
    agents = {
        **team(max_depth=1),
        **agent("lint", sub_agents=["scan"], sub_agents_config={"background": "always"}),
    }
    async with bench(provider, tmp_path, agents) as work:
        await work.run("lead", "go")
    assert tools_of(provider.asked("m-lint")[0].body) == []


async def test_caller_goes_on_while_the_side_run_works(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    provider.script("m-lead", starts("lint"), Answer(Says("waiting"), hold=hold), Says("end"))
    side = Hold()
    provider.script("m-lint", Answer(Says("lint ok"), hold=side))
    async with bench(provider, tmp_path, team()) as work, running(work.run("lead", "go")) as run:
        await side.arrived()
        await hold.arrived()
        assert texts(provider, 1)[-1] == STARTED.format("lint-1")
        hold.release()
        idle = await work.heard(AgentIdle)
        assert (idle.turn, idle.side_runs) == (3, ("lint-1",))
        side.release()
        result = await run
        (begin,) = [each for each in work.of(AgentBegin) if each.run.depth == 1]
        (given,) = work.of(MessagesGiven)
    assert result.content == "end"
    assert texts(provider, 2)[-2:] == ["waiting", '[Side run "lint-1" has ended]\nlint ok']
    assert begin.side == "lint-1"
    assert (given.turn, given.side_runs) == (3, ("lint-1",))


async def test_answers_come_in_one_message_in_the_order_of_their_numbers(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    first, second = Hold(), Hold()
    provider.script("m-lead", starts("lint", "scan"), Says("waiting"), Says("end"))
    provider.script("m-lint", Answer(Says("lint ok"), hold=first))
    provider.script("m-scan", Answer(Says("scan ok"), hold=second))
    async with bench(provider, tmp_path, team()) as work, running(work.run("lead", "go")) as run:
        await work.heard(AgentIdle)
        second.release()
        await work.heard(AgentEnd, lambda event: event.run.agent == "scan")
        first.release()
        await run
    assert len(provider.asked("m-lead")) == 3
    assert texts(provider, 2)[-1] == (
        '[Side run "lint-1" has ended]\nlint ok\n\n[Side run "scan-2" has ended]\nscan ok'
    )


async def test_end_of_the_caller_cancels_side_runs_with_at_end_cancel(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    side = Hold()
    provider.script("m-lead", starts("lint"), Answer(Says("end"), hold=hold))
    provider.script("m-lint", Answer(Says("late"), hold=side))
    agents = team(at_end="cancel")
    async with bench(provider, tmp_path, agents) as work, running(work.run("lead", "go")) as run:
        await side.arrived()
        await hold.arrived()
        hold.release()
        result = await run
        ends = {event.run.agent: event.status for event in work.of(AgentEnd)}
    assert result.content == "end"
    assert texts(provider, 1)[-1].endswith("side runs that have not ended are stopped.")
    assert ends == {"lint": "cancelled", "lead": "completed"}


async def test_failure_is_given_with_the_error_of_blocking_calls(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-lead", starts("lint"), Says("waiting"), Says("end"))
    provider.script("m-lint", Refuses(400, "no such thing"))
    async with bench(provider, tmp_path, team()) as work:
        result = await work.run("lead", "go")
    text = texts(provider, 2)[-1]
    assert result.status == "completed"
    assert text.startswith('[Side run "lint-1" has failed]\nError: sub-agent "lint" failed - ')
    assert text.endswith("You may retry or proceed without this result.")


async def test_side_run_that_a_person_stops_is_given_with_its_last_text(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    provider.script("m-lead", starts("lint"), Says("waiting"), Says("end"))
    provider.script(
        "m-lint", Says("half done", calls=[Call("nothing", {})]), Answer(Says("late"), hold=hold)
    )
    agents = {**team(), **agent("lint", tools=["read_file"])}
    async with bench(provider, tmp_path, agents) as work, running(work.run("lead", "go")) as run:
        await hold.arrived()
        await work.heard(AgentIdle)
        (begin,) = [each for each in work.of(AgentBegin) if each.run.depth == 1]
        assert work.engine.cancel(begin.run.run_id)
        await run
    assert texts(provider, 2)[-1] == '[Side run "lint-1" was stopped]\nhalf done'


async def test_long_answer_is_cut_and_check_agents_shows_the_rest(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    answer = "a" * 32_000 + "b" * 10
    check = {"agent": "lint-1", "from": 32_000}
    provider.script(
        "m-lead", starts("lint"), Says("waiting"), calls("check_agents", **check), Says("end")
    )
    provider.script("m-lint", Says(answer))
    async with bench(provider, tmp_path, team()) as work:
        await work.run("lead", "go")
    assert texts(provider, 2)[-1].endswith(
        "aaa\n[cut: 32,010 characters; check_agents with from 32000 shows the rest]"
    )
    assert texts(provider, 3)[-1] == "b" * 10


async def test_answer_that_wait_agents_has_given_is_not_given_again(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-lead", starts("lint"), calls("wait_agents"), Says("end"))
    provider.script("m-lint", Says("lint ok"))
    async with bench(provider, tmp_path, team()) as work:
        await work.run("lead", "go")
    assert len(provider.asked("m-lead")) == 3
    assert texts(provider, 2)[-1] == '[Side run "lint-1" has ended]\nlint ok'


async def test_wait_agents_ends_after_its_seconds(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold, last = Hold(), Hold()
    provider.script("m-lead", starts("lint"), calls("wait_agents", seconds=1))
    provider.script("m-lead", Answer(Says("waiting"), hold=last), Says("end"))
    provider.script("m-lint", Answer(Says("lint ok"), hold=hold))
    async with bench(provider, tmp_path, team()) as work, running(work.run("lead", "go")) as run:
        await last.arrived()
        hold.release()
        last.release()
        await run
    expected = 'No side run has ended within 1 s. Still running: "lint-1".'
    assert texts(provider, 2)[-1] == expected


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("check_agents", {}, "There is no side run."),
        ("wait_agents", {}, "No side run is running."),
        ("wait_agents", {"agents": ["x"]}, 'wait_agents error: there is no side run "x"'),
        ("wait_agents", {"seconds": "soon"}, 'wait_agents error: "seconds" must be an integer'),
        ("check_agents", {"agent": "x"}, 'check_agents error: there is no side run "x"'),
        ("stop_agent", {"agent": "x"}, 'stop_agent error: there is no side run "x"'),
        (
            "message_agent",
            {"agent": "x", "message": "m"},
            'message_agent error: there is no side run "x"',
        ),
    ],
)
async def test_call_about_no_side_run_says_so(
    provider: ScriptedProvider,
    tmp_path: Path,
    tool: str,
    arguments: dict[str, Any],
    expected: str,
) -> None:
    provider.script("m-lead", calls(tool, **arguments), Says("end"))
    async with bench(provider, tmp_path, team()) as work:
        await work.run("lead", "go")
    assert texts(provider, 1)[-1] == expected


async def test_calls_about_a_side_run_that_has_ended_say_so(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    about = [
        Call("stop_agent", {"agent": "lint-1"}),
        Call("message_agent", {"agent": "lint-1", "message": "m"}),
        Call("check_agents", {}),
        Call("check_agents", {"agent": "lint-1"}),
    ]
    provider.script("m-lead", starts("lint"), Says("waiting"), Says(calls=about), Says("end"))
    provider.script("m-lint", Says("lint ok"))
    async with bench(provider, tmp_path, team()) as work:
        await work.run("lead", "go")
    assert texts(provider, 3)[-4:] == [
        '"lint-1" had ended already.',
        'message_agent error: "lint-1" has ended',
        '"lint-1": has ended',
        "lint ok",
    ]


async def test_stopped_side_run_gives_nothing_afterwards(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold, side = Hold(), Hold()
    provider.script(
        "m-lead", starts("lint"), Answer(calls("stop_agent", agent="lint-1"), hold=hold)
    )
    provider.script("m-lead", Says("end"))
    provider.script("m-lint", Answer(Says("late"), hold=side))
    async with bench(provider, tmp_path, team()) as work, running(work.run("lead", "go")) as run:
        await side.arrived()
        hold.release()
        result = await run
    assert (result.content, len(provider.asked("m-lead"))) == ("end", 3)
    assert texts(provider, 2)[-1] == '"lint-1" was stopped.'


async def test_message_of_the_caller_is_in_the_next_request_of_the_side_run(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    message = {"agent": "lint-1", "message": "Only src."}
    provider.script(
        "m-lead", starts("lint"), calls("message_agent", **message), Says("waiting"), Says("end")
    )
    provider.script("m-lint", Answer(Says(calls=[Call("nothing", {})]), hold=hold), Says("ok"))
    agents = {**team(), **agent("lint", tools=["read_file"])}
    async with bench(provider, tmp_path, agents) as work, running(work.run("lead", "go")) as run:
        await work.heard(ToolEnd, lambda event: event.name == "message_agent")
        hold.release()
        await run
    assert texts(provider, 2)[-1] == '"lint-1" gets the message before its next request.'
    assert texts(provider, 1, "m-lint")[-1] == "Only src."


async def test_side_runs_beyond_the_limit_wait_untold(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    provider.script("m-lead", starts("lint", "scan"), Says("waiting"), Says("end"))
    provider.script("m-lint", Answer(Says("lint ok"), hold=hold))
    provider.script("m-scan", Says("scan ok"))
    agents = team(max_concurrent=1)
    async with bench(provider, tmp_path, agents) as work, running(work.run("lead", "go")) as run:
        await hold.arrived()
        await work.heard(AgentIdle)
        assert provider.asked("m-scan") == []
        assert texts(provider, 1)[-1] == STARTED.format("scan-2")
        hold.release()
        await run
    assert provider.max_in_flight <= 2


async def test_blocking_call_takes_a_slot_from_side_runs(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    both = [
        Call("call_agent", {"agent": "lint", "task": "a", "background": True}),
        Call("call_agent", {"agent": "scan", "task": "b"}),
    ]
    provider.script("m-lead", Says(calls=both), Says("waiting"), Says("end"))
    provider.script("m-lint", Says("lint ok"))
    provider.script("m-scan", Answer(Says("scan ok"), hold=hold))
    agents = team(max_concurrent=1)
    async with bench(provider, tmp_path, agents) as work, running(work.run("lead", "go")) as run:
        await hold.arrived()
        await work.heard(ToolEnd)
        assert provider.asked("m-lint") == []
        hold.release()
        await run
    assert "scan ok" in texts(provider, 1)


async def test_more_than_a_hundred_side_runs_are_refused(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    # Answers that are late on a busy machine are given one after the other.
    end = Answer(Says("end"), repeat=True)
    provider.script("m-lead", starts(*["lint"] * 101), Says("waiting"), end)
    provider.script("m-lint", Answer(Says("ok"), repeat=True))
    async with bench(provider, tmp_path, team()) as work:
        await work.run("lead", "go")
    refusals = [text for text in texts(provider, 1) if "at most 100 side runs" in text]
    assert refusals == ["call_agent error: an agent may start at most 100 side runs"]
    assert len(provider.asked("m-lint")) == 100


async def test_stop_of_the_caller_ends_its_side_runs_first(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    hold = Hold()
    provider.script("m-lead", starts("lint"), Says("waiting"))
    provider.script("m-lint", Answer(Says("late"), hold=hold))
    async with bench(provider, tmp_path, team()) as work, running(work.run("lead", "go")) as run:
        await hold.arrived()
        await work.heard(AgentIdle)
        (root,) = [each for each in work.of(AgentBegin) if each.run.depth == 0]
        work.engine.cancel(root.run.run_id)
        with pytest.raises(RunCancelledError):
            await run
        ends = [(event.run.agent, event.status) for event in work.of(AgentEnd)]
    assert ends == [("lint", "cancelled"), ("lead", "cancelled")]


async def test_budget_of_the_tree_ends_a_runaway(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    """Each side run starts two more, at any depth."""
    two = [Call("call_agent", {"agent": "lead", "task": "more"}) for _ in range(2)]
    provider.script("m-lead", Answer(Says(calls=two, usage=(10, 10)), repeat=True))
    lead = agent(
        "lead",
        sub_agents=["lead"],
        sub_agents_config={"background": "always", "max_depth": 5},
        budget={"max_tokens": 1000, "scope": "tree"},
    )
    async with bench(provider, tmp_path, lead) as work:
        with pytest.raises(BudgetError):
            await work.run("lead", "go")
    # Those that were under way when the budget was used up count, too.
    assert 50 <= len(provider.requests) <= 150


async def test_side_run_that_starts_one_itself_waits_for_it(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    provider.script("m-lead", starts("lint"), Says("waiting"), Says("end"))
    provider.script("m-lint", starts("scan"), Says("not yet"), Says("lint knows scan"))
    provider.script("m-scan", Says("scan ok"))
    agents = {
        **team(),
        **agent("lint", sub_agents=["scan"], sub_agents_config={"background": "optional"}),
    }
    async with bench(provider, tmp_path, agents) as work:
        await work.run("lead", "go")
    assert texts(provider, 2, "m-lint")[-1] == '[Side run "scan-1" has ended]\nscan ok'
    assert texts(provider, 2)[-1] == '[Side run "lint-1" has ended]\nlint knows scan'


async def test_caller_goes_on_while_a_question_of_a_side_run_is_open(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    writes = Call("write_file", {"path": "a.txt", "content": "x"})
    hold = Hold()
    provider.script("m-lead", starts("lint"), Answer(Says("waiting"), hold=hold), Says("end"))
    provider.script("m-lint", Says(calls=[writes]), Says("lint ok"))
    asked = asyncio.Event()
    is_allowed = asyncio.Event()

    async def ask(question: Question) -> Reply:
        asked.set()
        await is_allowed.wait()
        return Reply("allow")

    agents = {**team(), **agent("lint", tools=["write_file"])}
    async with (
        bench(provider, tmp_path, agents, approve=Approval(ask)) as work,
        running(work.run("lead", "go")) as run,
    ):
        await asked.wait()
        await hold.arrived()
        hold.release()
        await work.heard(AgentIdle)
        assert not (tmp_path / "a.txt").exists()
        is_allowed.set()
        result = await run
    assert result.content == "end"
    assert texts(provider, 2)[-1] == '[Side run "lint-1" has ended]\nlint ok'
    assert (tmp_path / "a.txt").read_text() == "x"


async def test_changes_in_the_copy_of_a_side_run_are_applied_before_its_answer_is_given(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    place = Place(tmp_path, provider)
    provider.script("m-lead", starts("helper"), Says("waiting"), Says("end"))
    place.writes(**{"a.txt": "changed\n"})
    lead = agent("lead", sub_agents=["helper"], sub_agents_config={"background": "optional"})
    async with place.bench(more=lead) as (work, person):
        result = await work.run("lead", "go")
    assert result.content == "end"
    assert person.asked == [("apply_changes", "a.txt")]
    assert texts(provider, 2)[-1] == (
        '[Side run "helper-1" has ended]\nhelped\n\n'
        "[It worked in a copy. Its changes were applied: M a.txt]"
    )
    assert (place.read(), place.left) == ("changed\n", [])
