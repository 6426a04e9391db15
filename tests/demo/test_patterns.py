"""The examples show what they say: who asks whom, in which order, with what, by which tools."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from axe_lsp.cli.demo import EXAMPLES, copy_example, example_agents
from axe_lsp.runtime.engine import Engine
from axe_lsp.runtime.events import (
    AgentBegin,
    AgentEnd,
    AgentPlace,
    Event,
    MessagesGiven,
    ToolBegin,
    ToolEnd,
    TurnBegin,
)
from axe_lsp.runtime.runs import RunRequest
from axe_lsp.runtime.safety.approval import ApprovalRequest, allowed
from axe_lsp.runtime.safety.trust import TrustPolicy
from axe_lsp.runtime.services import RunServices
from axe_lsp.runtime.tools.read_only import is_enforceable


@dataclass
class Seen:
    """What happened while an example ran, and the folder that it ran in."""

    events: list[Event]
    folder: Path

    def order(self) -> list[str]:
        """Return which children began and ended, in this order: `+name`, `-name`."""
        return [
            ("+" if isinstance(event, AgentBegin) else "-") + event.run.agent
            for event in self.events
            if isinstance(event, AgentBegin | AgentEnd) and event.run.depth
        ]

    def children(self) -> list[AgentBegin]:
        """Return the beginnings of the children."""
        return [event for event in self.events if isinstance(event, AgentBegin) and event.run.depth]

    def tools(self, agent: str) -> list[str]:
        """Return what an agent called, in this order."""
        return [
            event.name
            for event in self.events
            if isinstance(event, ToolBegin) and event.run.agent == agent
        ]

    def first_messages(self) -> set[int]:
        """Return how many messages the children's first requests had."""
        return {
            event.messages
            for event in self.events
            if isinstance(event, TurnBegin) and event.run.depth and event.turn == 1
        }


async def seen(name: str, folder: Path, copies: int = 0) -> Seen:
    """Run an example in a folder, without the recorded pauses. No tool may fail in it.

    But one, if its agents work in copies: no change is allowed before there are so many copies.
    """
    events: list[Event] = []
    copy_example(EXAMPLES[name], folder)
    recording = folder / EXAMPLES[name].recording
    paced = recording.read_text("utf-8")
    assert "\npaced = true\n" in paced
    recording.write_text(paced.replace("\npaced = true\n", "\n"), "utf-8")
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    all_there = asyncio.Event()

    def emit(event: Event) -> None:
        events.append(event)
        if sum(isinstance(each, AgentPlace) for each in events) == copies:
            all_there.set()

    async def approve(request: ApprovalRequest) -> str:
        await all_there.wait()
        return await allowed(request)

    services = RunServices(
        resolve=example_agents(folder),
        workspace=folder,
        trust=TrustPolicy(environment),
        environment=environment,
        emit=emit,
        approve=approve,
    )
    async with Engine(services) as engine:
        await engine.run(RunRequest(name))
    failed = [event for event in events if isinstance(event, ToolEnd) and event.is_error]
    assert len(failed) == (1 if copies else 0)
    return Seen(events, folder)


@pytest.mark.req("002-27")
async def test_a_manager_gives_each_worker_its_part_at_the_same_time(tmp_path: Path) -> None:
    run = await seen("manager-workers", tmp_path)
    workers = ["bug-worker", "speed-worker", "docs-worker"]
    assert run.order()[:3] == [f"+{worker}" for worker in workers]
    assert sorted(run.order()[3:]) == sorted(f"-{worker}" for worker in workers)
    assert len({child.task for child in run.children()}) == 3
    assert run.tools("manager-workers") == ["call_agent"] * 3
    assert set(run.tools("docs-worker")) == {"read_file"}


@pytest.mark.req("002-28")
async def test_planner_executor_and_reviewer_work_one_after_the_other(tmp_path: Path) -> None:
    run = await seen("plan-execute-review", tmp_path)
    order = ["planner", "executor", "reviewer", "executor", "reviewer"]
    assert run.order() == [sign + name for name in order for sign in "+-"]
    assert run.tools("executor") == ["read_file", "edit_file"] * 2
    assert set(run.tools("planner") + run.tools("reviewer")) == {"read_file"}
    made = (tmp_path / "src/greet.py").read_text("utf-8")
    scope: dict[str, str] = {}
    exec(made + "\nanswer = greet('Ada', 'de')", scope)
    assert scope["answer"] == "Hallo, Ada!"
    assert "known: " in made, "what the reviewer found was mended"


@pytest.mark.req("002-29")
async def test_advocates_propose_answer_each_other_and_their_parent_decides(
    tmp_path: Path,
) -> None:
    run = await seen("debate", tmp_path)
    both = ["+cookie-advocate", "+database-advocate"]
    order = run.order()
    assert order[:2] == order[4:6] == both
    tasks = [child.task for child in run.children()]
    assert (
        tasks
        == ["Propose where the shop should keep its sessions"] * 2
        + ["Answer the proposal of the other side"] * 2
    )
    assert run.first_messages() == {1}, "in the second round everybody begins anew"


@pytest.mark.req("003-14", "003-15", "003-16", "003-13", "003-19", "003-20", "003-26")
async def test_agents_that_get_a_prompt_find_out_the_rest_each_in_its_way(tmp_path: Path) -> None:
    run = await seen("pull-investigation", tmp_path)
    assert run.tools("pull-investigation") == ["Task"] * 3
    assert run.tools("code-reviewer") == ["read_file"] * 2
    assert run.tools("debugger") == ["grep", "list_directory", "read_file", "read_file"]
    assert run.tools("documenter") == ["list_directory"] * 2 + ["grep"] + ["read_file"] * 4
    assert [child.task for child in run.children()] == [
        "Review the authentication in src/auth/login.py.",
        "The server needs more memory every hour. Find out why.",
        "Document how somebody gets logged in.",
    ]
    assert run.first_messages() == {1}


@pytest.mark.req("004-23", "004-25", "004-1")
async def test_a_coordinator_has_a_change_explored_planned_and_coded(tmp_path: Path) -> None:
    run = await seen("explore-plan-code", tmp_path)
    assert run.order() == ["+explore", "-explore", "+plan", "-plan", "+code", "-code"]
    assert run.tools("explore-plan-code") == ["Task"] * 3
    assert run.tools("explore") == ["run_command", "read_file"]
    assert run.tools("plan") == ["read_file"] * 2
    assert run.tools("code") == ["edit_file"] * 3 + ["run_command"]
    assert {child.model for child in run.children()} == {"replay/explore-plan-code"}
    sandbox = "landlock" if is_enforceable() else "none"
    assert [child.sandbox for child in run.children()] == [sandbox, sandbox, None]
    store = (tmp_path / "src/notes/store.py").read_text("utf-8")
    assert store.count('encoding="utf-8"') == 2


async def test_of_three_agents_in_copies_two_have_patches_that_fit(tmp_path: Path) -> None:
    run = await seen("copies", tmp_path, copies=3)
    assert set(run.order()[:3]) == {"+lines-worker", "+cells-worker", "+sums-worker"}
    assert run.tools("copies") == ["call_agent"] * 3
    scope: dict[str, Callable[..., object]] = {}
    exec((tmp_path / "src/tables/cells.py").read_text("utf-8"), scope)
    assert scope["total"](["0.1"] * 10) == 1.0
    mended = {"lines": [["a", " b"]], "cells": [["a", "b"], [""]]}
    assert scope["rows"]("a, b\r\n") in mended.values()
    (failed,) = (each for each in run.events if isinstance(each, ToolEnd) and each.is_error)
    assert "src/tables/cells.py has been changed since in the same lines" in failed.content


@pytest.mark.req("002-3")
async def test_side_runs_go_on_beside_their_caller_which_gets_their_answers_at_once(
    tmp_path: Path,
) -> None:
    run = await seen("side-runs", tmp_path)
    assert [child.side for child in run.children()] == ["security-reviewer-1", "docs-reviewer-2"]
    assert run.tools("side-runs") == ["call_agent", "call_agent", "read_file"]
    given = [event for event in run.events if isinstance(event, MessagesGiven)]
    assert [(each.turn, each.side_runs) for each in given] == [
        (4, ("security-reviewer-1", "docs-reviewer-2"))
    ]
