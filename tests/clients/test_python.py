"""The Python client: over both transports, with the real server and a scripted provider."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path

import pytest

import axe_client
from axe_client import (
    AgentBegin,
    AgentEnd,
    AgentResume,
    Answer,
    Client,
    Inquiry,
    MessageQueued,
    MessagesGiven,
    Question,
    RunCancelledError,
    RunFailedError,
    ServerError,
    TextDelta,
    ThoughtDelta,
    ToolEnd,
    TurnEnd,
)
from support.editors import PROJECT, server_program
from support.listening import listening_server
from support.scripted_provider import Answer as Scripted
from support.scripted_provider import Call, Hold, Refuses, Says, ScriptedProvider, calls_agent
from support.session import SERVER, Project

LIBRARY = PROJECT / "clients" / "python"
LEAD = 'name = "lead"\nmodel = "ollama/lead"\nsub_agents = ["solo"]\n'
SOLO = 'name = "solo"\nmodel = "ollama/solo"\ntools = ["write_file"]\n'
WRITE = Call("write_file", {"path": "a.txt", "content": "A\n"})

Start = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch) -> Project:
    """One of the user as whom this program runs, which so finds the token of a server by itself."""
    project = Project(tmp_path, provider.environment)
    monkeypatch.setenv("XDG_STATE_HOME", project.environment["XDG_STATE_HOME"])
    project.write("lead", LEAD)
    project.write("solo", SOLO)
    return project


@pytest.fixture
def start(project: Project) -> Start:
    environment = {**os.environ, **project.environment}
    return lambda **more: axe_client.start(SERVER, folder=project.root, env=environment, **more)


async def test_events_of_the_whole_tree_come_while_it_is_at_work(
    provider: ScriptedProvider, start: Start
) -> None:
    hold = Hold()
    provider.script("lead", Says(calls=[calls_agent("solo", "count")]), Says("All done."))
    provider.script("solo", Scripted(Says("one"), hold=hold))
    seen = []
    async with start() as client, client.run("lead", "go") as run:
        async for event in run:
            seen.append(event)
            if isinstance(event, AgentBegin) and event.agent == "solo":
                assert (event.task, event.parent_agent, event.depth) == ("count", "lead", 1)
                assert event.parent_run_id == run.id
                await hold.arrived()
                hold.release()
        result = await run.result()
    assert (result.run_id, result.content, result.turns) == (run.id, "All done.", 2)
    assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
    assert {event.root_run_id for event in seen} == {run.id}
    said = [event.delta for event in seen if isinstance(event, TextDelta) and event.depth == 0]
    assert "".join(said) == "All done."
    ends = [(event.agent, event.status) for event in seen if isinstance(event, AgentEnd)]
    assert ends == [("solo", "completed"), ("lead", "completed")]


async def test_thoughts_come_apart_from_the_answer_and_one_that_is_cut_off_says_so(
    project: Project, provider: ScriptedProvider, start: Start
) -> None:
    project.write("solo", SOLO.replace("ollama", "anthropic"))
    cut = Says("Half a", thinking="Let me see.", stop_reason="max_tokens")
    provider.script("solo", cut)
    async with start() as client, client.run("solo", "go") as run:
        seen = [event async for event in run]
        result = await run.result()
    pieces = [event for event in seen if isinstance(event, (ThoughtDelta, TextDelta))]
    thought = "".join(event.delta for event in pieces if isinstance(event, ThoughtDelta))
    said = "".join(event.delta for event in pieces if isinstance(event, TextDelta))
    assert (thought, said, result.content) == ("Let me see.", "Half a", "Half a")
    ends = [event.incomplete for event in seen if isinstance(event, (TurnEnd, AgentEnd))]
    assert ends == ["length", "length"]
    assert result.incomplete == "length"


async def test_message_is_sent_to_a_run_that_works(
    provider: ScriptedProvider, start: Start
) -> None:
    hold = Hold()
    provider.script("solo", Scripted(Says("one"), hold=hold), Says("two"))
    async with start() as client, client.run("solo") as run:
        await hold.arrived()
        message_id = await run.send("And more?", mode="after")
        hold.release()
        seen = [event async for event in run]
        result = await run.result()
    (queued,) = [event for event in seen if isinstance(event, MessageQueued)]
    (given,) = [event for event in seen if isinstance(event, MessagesGiven)]
    assert (queued.message_id, queued.mode, queued.from_) == (message_id, "after", "person")
    assert (given.turn, given.message_ids, given.text) == (2, [message_id], "And more?")
    assert result.content == "two"


async def test_a_run_is_cancelled(provider: ScriptedProvider, start: Start) -> None:
    hold = Hold()
    provider.script("solo", Scripted(Says("never"), hold=hold))
    async with start() as client, client.run("solo") as run:
        await hold.arrived()
        run.cancel()
        with pytest.raises(RunCancelledError):
            await run.result()
        await hold.hung_up()


async def test_a_run_that_was_cancelled_is_resumed(
    provider: ScriptedProvider, start: Start
) -> None:
    hold = Hold()
    provider.script("solo", Scripted(Says("never"), hold=hold), Says("done"))
    async with start() as client:
        async with client.run("solo") as run:
            await hold.arrived()
        async with client.resume(run.id, timeout=60) as resumed:
            seen = [event async for event in resumed]
            result = await resumed.result()
        with pytest.raises(RunFailedError, match="completed") as refused:
            async with client.resume(run.id) as again:
                await again.result()

    assert isinstance(seen[0], AgentResume)
    assert (seen[0].turn, resumed.id, result.content) == (1, run.id, "done")
    assert refused.value.reason == "completed"


async def test_a_completed_run_is_replied_to_and_forked(
    provider: ScriptedProvider, start: Start
) -> None:
    provider.script("solo", Says("one"), Says("two"))
    provider.script("other", Says("three"))
    async with start() as client:
        async with client.run("solo", "Count.") as run:
            await run.result()
        async with client.reply(run.id, "Go on.", timeout=60) as reply:
            further = [event async for event in reply]
            second = await reply.result()
        async with client.fork(run.id, 1, model="anthropic/other") as fork:
            forked = [event async for event in fork]
            third = await fork.result()

    assert (second.content, third.content) == ("two", "three")
    begin, other = further[0], forked[0]
    assert isinstance(begin, AgentBegin)
    assert isinstance(other, AgentBegin)
    assert begin.continues == run.id
    assert other.forked_from == {"runId": run.id, "turn": 1}
    assert len({run.id, reply.id, fork.id}) == 3


async def test_the_file_changes_of_a_run_are_undone_as_far_as_they_were_shown(
    project: Project, provider: ScriptedProvider, start: Start
) -> None:
    (project.root / "a.txt").write_text("first\n")
    other = Call("write_file", {"path": "b.txt", "content": "B\n"}, "other")
    provider.script("solo", Says(calls=[WRITE, other]), Says("done"))
    async with start(settings={"tools.allow": ["write_file"]}) as client:
        async with client.run("solo") as run:
            await run.result()
        changes = await client.changes(run.id)
        (project.root / "b.txt").write_text("edited\n")
        done = await client.undo(run.id, changes.files)
        later = await client.changes(run.id)

    texts = {Path(each.path).name: (each.before, each.after) for each in changes.files}
    assert texts == {"a.txt": ("A\n", "first\n"), "b.txt": ("B\n", None)}
    assert changes.has_commands is False
    assert [Path(path).name for path in done.undone] == ["a.txt"]
    assert [(Path(each.path).name, each.reason) for each in done.left] == [
        ("b.txt", "it has changed since")
    ]
    assert (project.root / "a.txt").read_text() == "first\n"
    assert (project.root / "b.txt").read_text() == "edited\n"
    assert [(each.digest, each.reason) for each in later.files] == [(None, "it has changed since")]


async def test_a_block_that_fails_leaves_no_run_behind(
    provider: ScriptedProvider, start: Start
) -> None:
    hold = Hold()
    provider.script("solo", Scripted(Says("never"), hold=hold), Says("next"))
    async with start() as client:
        with suppress(ZeroDivisionError):
            async with client.run("solo"):
                await hold.arrived()
                raise ZeroDivisionError
        await hold.hung_up()
        async with client.run("solo") as run:
            assert (await run.result()).content == "next"


async def test_failure_has_kind_and_partial_answer(
    provider: ScriptedProvider, start: Start
) -> None:
    provider.script("lead", Says("I ask.", calls=[calls_agent("solo", "s")]), Refuses(401, "no"))
    provider.script("solo", Says("one"))
    async with start() as client:
        async with client.run("lead") as run:
            with pytest.raises(RunFailedError, match="auth: no") as caught:
                await run.result()
        async with client.run("nobody") as run:
            with pytest.raises(RunFailedError, match="agent config not found") as unknown:
                await run.result()
    assert (caught.value.kind, caught.value.exit_code) == ("api", 3)
    assert (caught.value.reason, unknown.value.reason) == ("auth", "")
    assert caught.value.partial is not None
    assert caught.value.partial.content == "I ask."
    assert (unknown.value.kind, unknown.value.exit_code) == ("config", 2)


async def test_invalid_params_raise_their_own_error(start: Start) -> None:
    async with start() as client:
        with pytest.raises(ServerError, match='"runId" is missing') as caught:
            await client.request("axe/events", {})
        async with client.run("solo", "a", input={}) as run:
            with pytest.raises(ServerError, match='give either "task" or "input"'):
                await run.result()
    assert caught.value.code == -32602


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Answer("allow"), "wrote 2 bytes to a.txt"),
        (Answer("deny", "use b.txt"), "write_file was not allowed: the user said no: use b.txt"),
    ],
)
async def test_agents_ask_before_they_change_something(
    provider: ScriptedProvider, start: Start, answer: Answer, told: str
) -> None:
    provider.script("solo", Says(calls=[WRITE]), Says("done"))
    questions = []

    async def approve(question: Question) -> Answer:
        questions.append(question)
        return answer

    async with start(approve=approve) as client, client.run("solo") as run:
        ends = [event.content async for event in run if isinstance(event, ToolEnd)]
    assert ends == [told]
    assert [(each.agent, each.tool, each.run_id) for each in questions] == [
        ("solo", "write_file", run.id)
    ]
    assert questions[0].details.endswith("+A")


@pytest.mark.parametrize("answer", [True, "allow", None, Answer("alow")])  # type: ignore[arg-type]
async def test_answer_of_wrong_type_is_denial_and_reported_at_once(
    provider: ScriptedProvider, start: Start, answer: object
) -> None:
    provider.script("solo", Says(calls=[WRITE]), Says("done"))
    reported: list[object] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _, context: reported.append(context["exception"])
    )

    async def approve(_: Question) -> object:
        return answer

    async with start(approve=approve) as client, client.run("solo") as run:
        ends = [event.is_error async for event in run if isinstance(event, ToolEnd)]

    assert ends == [True]
    assert [type(each) for each in reported] == [TypeError]
    assert "an answer is Answer('allow')" in str(reported[0])


async def test_folder_may_be_string(provider: ScriptedProvider, project: Project) -> None:
    provider.script("solo", Says("done"))
    environment = {**os.environ, **project.environment}
    started = axe_client.start(SERVER, folder=str(project.root), env=environment)

    async with started as client, client.run("solo") as run:
        assert (await run.result()).content == "done"


@pytest.mark.parametrize(
    ("answer", "told"), [("DuckDB", "DuckDB"), (None, "the user dismissed the question")]
)
async def test_a_model_asks_what_it_wants_to_know(
    provider: ScriptedProvider, project: Project, start: Start, answer: str | None, told: str
) -> None:
    project.write("asker", 'name = "asker"\nmodel = "openai/asker"\ntools = ["ask_user"]\n')
    which = Call("ask_user", {"question": "Which?", "choices": ["Postgres", "SQLite"]})
    provider.script("asker", Says(calls=[which]), Says("done"))
    inquiries = []

    async def ask(inquiry: Inquiry) -> str | None:
        inquiries.append(inquiry)
        return answer

    async with start(ask=ask) as client, client.run("asker") as run:
        ends = [event.content async for event in run if isinstance(event, ToolEnd)]
    assert ends == [told]
    (inquiry,) = inquiries
    assert (inquiry.agent, inquiry.run_id, inquiry.question) == ("asker", run.id, "Which?")
    assert list(inquiry.choices) == ["Postgres", "SQLite"]


async def test_a_question_is_withdrawn_with_its_run(
    provider: ScriptedProvider, start: Start
) -> None:
    provider.script("solo", Says(calls=[WRITE]))
    asked, withdrawn = asyncio.Event(), asyncio.Event()

    async def approve(_: Question) -> Answer:
        asked.set()
        try:
            return await asyncio.Future()
        finally:
            withdrawn.set()

    async with start(approve=approve) as client:
        async with client.run("solo"):
            await asyncio.wait_for(asked.wait(), 20)
        await asyncio.wait_for(withdrawn.wait(), 20)


async def test_without_anybody_to_ask_the_settings_decide(
    provider: ScriptedProvider, project: Project, start: Start
) -> None:
    provider.script("solo", Says(calls=[WRITE]), Says("done"), Says(calls=[WRITE]), Says("done"))
    async with start() as client, client.run("solo") as run:
        await run.result()
    assert not (project.root / "a.txt").exists()
    settings = {"tools.allow": ["write_file"]}
    async with start(settings=settings) as client, client.run("solo") as run:
        await run.result()
    assert (project.root / "a.txt").exists()


async def test_a_server_that_dies_takes_its_runs_along(
    provider: ScriptedProvider, project: Project
) -> None:
    hold = Hold()
    provider.script("solo", Scripted(Says("never"), hold=hold))
    with listening_server(project.environment) as server:
        async with axe_client.connect(*server.address, folder=project.root) as client:
            async with client.run("solo") as run:
                await hold.arrived()
                server.process.kill()
                events = [event async for event in run]
                with pytest.raises(ConnectionError, match="connection to axe-lsp is closed"):
                    await run.result()
            assert isinstance(events[0], AgentBegin)
            with pytest.raises(ConnectionError):
                await client.request("axe/agents")


async def test_programs_share_a_server(provider: ScriptedProvider, project: Project) -> None:
    provider.script("solo", Says("one"), Says("two"))
    with listening_server(project.environment) as server:
        async with (
            axe_client.connect(*server.address, folder=project.root) as first,
            axe_client.connect(*server.address, folder=project.root) as second,
        ):
            for client, expected in ((first, "one"), (second, "two")):
                async with client.run("solo") as run:
                    assert (await run.result()).content == expected
            assert len(await second.request("axe/runs", {})) == 2


async def test_a_port_without_a_server_of_this_user_is_explained(project: Project) -> None:
    others = {**project.environment, "XDG_STATE_HOME": str(project.root)}
    with listening_server(others) as other:
        connecting = axe_client.connect(*other.address, folder=project.root)
        with pytest.raises(ConnectionError, match="start `axe-lsp --tcp` as this user, or give"):
            await connecting.__aenter__()


def test_the_example_of_the_readme_prints_what_the_readme_says(
    provider: ScriptedProvider, project: Project
) -> None:
    readme = (LIBRARY / "README.md").read_text("utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    (expected,) = re.findall(r"```text\n(.*?)```", readme, re.DOTALL)
    write = 'tools = ["write_file"]\nsub_agents = ["lint"]\n'
    project.write("reviewer", f'name = "reviewer"\nmodel = "ollama/reviewer"\n{write}')
    project.write("lint", 'name = "lint"\nmodel = "ollama/lint"\n')
    review = Call("write_file", {"path": "REVIEW.md", "content": "No bugs found.\n"})
    provider.script("reviewer", Says(calls=[calls_agent("lint", "Look for bugs")]))
    provider.script("reviewer", Says(calls=[review]), Says("Ready to merge."))
    provider.script("lint", Says("No bugs found."))
    path = f"{server_program().parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example],
        cwd=project.root,
        env={**os.environ, **project.environment, "PATH": path, "PYTHONPATH": str(LIBRARY)},
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == (expected, "")
    assert (project.root / "REVIEW.md").read_text() == "No bugs found.\n"


def test_the_example_of_the_documentation_tells_of_its_run(
    provider: ScriptedProvider, project: Project
) -> None:
    page = (PROJECT / "docs" / "python-client.md").read_text("utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    project.write("release-check", 'name = "release-check"\nmodel = "ollama/check"\n')
    provider.script("check", Says("Ready.\nMore."))
    path = f"{server_program().parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example],
        cwd=project.root,
        env={**os.environ, **project.environment, "PATH": path, "PYTHONPATH": str(LIBRARY)},
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    told = re.sub(r"\d+ ms", "N ms", done.stdout)
    expected = "release-check begins\nrelease-check: completed after N ms\nReady.\n"
    assert (told, done.stderr) == (expected, "")
