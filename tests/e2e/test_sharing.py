"""Two editors on one server: what one of them does takes nothing from the other."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

import axe_client
from axe_client import Decision
from support.listening import Listening
from support.scripted_provider import Answer, Call, Hold, Says, ScriptedProvider, calls_agent
from support.session import Editor, Project

HEAD = 'name = "parent"\nmodel = "ollama/m"\n'

Connect = Callable[..., Editor]


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider) -> Project:
    return Project(tmp_path, provider.environment)


def test_a_file_that_one_editor_closes_is_still_open_in_the_other(
    project: Project, connect: Connect
) -> None:
    project.write("parent", HEAD)
    first, second = connect(), connect()
    first.open("parent", HEAD + "timeout = -1\n")
    first.problems("parent", 1)
    second.open("parent", HEAD + "timeout = -2\n")
    second.problems("parent", 1)

    second.close("parent")
    second.problems("parent", 0)

    assert first.ask("hover", "parent", "timeo") is not None
    first.replace("parent", "-1", "1")
    assert first.problems("parent", 0) == []


def test_an_editor_that_has_no_settings_leaves_those_of_the_other_in_force(
    project: Project, connect: Connect
) -> None:
    project.write("parent", HEAD)
    connect(initializationOptions={"diagnostics": {"negative-timeout": "off"}})
    editor = connect()
    editor.open("parent", HEAD + "timeout = -1\nzzz = 1\n")

    assert editor.problems("parent", 1) == ["unknown-key zzz"]


def test_an_editor_that_comes_later_is_told_of_problems_in_files_that_nobody_has_open(
    project: Project, connect: Connect
) -> None:
    project.write("parent", HEAD + "timeout = -1\n")
    connect().problems("parent", 1)

    assert connect().problems("parent", 1) == ["negative-timeout -1"]


def test_nothing_is_sent_to_a_client_that_has_not_introduced_itself(
    project: Project, connect: Connect, listening: Listening
) -> None:
    with listening.connect() as stranger:
        editor = connect()
        editor.open("parent", HEAD + 'sub_agents = ["lint"]\n')
        editor.problems("parent", 1)
        editor.changed_on_disk(project.write("lint", HEAD.replace("parent", "lint")))
        editor.problems("parent", 0)

        stranger.initialize()
        assert [each for each in stranger.received if "method" in each] == []


SOLO = 'name = "solo"\nmodel = "ollama/m-solo"\n'


@pytest.mark.req("002-21")
def test_many_editors_run_at_once_and_each_hears_of_its_own_runs_only(
    project: Project, provider: ScriptedProvider, connect: Connect
) -> None:
    project.write("lead", 'name = "lead"\nmodel = "ollama/m-lead"\nsub_agents = ["solo"]\n')
    project.write("solo", SOLO)
    both = [calls_agent("solo", "s"), calls_agent("solo", "s")]
    provider.script("m-lead", Answer(Says("done"), match='"tool"', repeat=True))
    provider.script("m-lead", Answer(Says("both", calls=both), repeat=True))
    provider.script("m-solo", Answer(Says("well"), repeat=True))
    editors = [connect() for _ in range(6)]

    requests = [
        [editor.client.start_request("axe/run", {"agent": "lead"}) for _ in range(2)]
        for editor in editors
    ]

    for editor, (one, two) in zip(editors, requests, strict=True):
        answers = [editor.client.answer(one), editor.client.answer(two)]
        assert [answer["result"]["content"] for answer in answers] == ["done", "done"]
        own = {answer["result"]["runId"] for answer in answers}
        heard = [
            message["params"]
            for message in editor.client.received
            if message.get("method", "").startswith("axe/")
        ]
        assert {params["rootRunId"] for params in heard} == own
        for run_id in own:
            numbers = [params["seq"] for params in heard if params["rootRunId"] == run_id]
            assert numbers == list(range(1, len(numbers) + 1))


def test_runs_beyond_the_limit_of_the_settings_wait_whoever_has_started_them(
    project: Project, provider: ScriptedProvider, connect: Connect
) -> None:
    project.write("solo", SOLO)
    hold = Hold()
    provider.script("m-solo", Answer(Says("first"), hold=hold), Says("second"))
    first = connect(initializationOptions={"run": {"maxConcurrent": 1}})
    second = connect(initializationOptions={"run": {"maxConcurrent": 1}})
    one = first.client.start_request("axe/run", {"agent": "solo"})
    hold.wait_until_arrived()
    two = second.client.start_request("axe/run", {"agent": "solo", "workDoneToken": "t"})
    begin = second.client.wait_for("$/progress", lambda it: it["token"] == "t")
    assert begin["value"]["message"] == "waits until another run has ended"
    assert len(provider.requests) == 1

    hold.release()

    assert first.client.answer(one)["result"]["content"] == "first"
    assert second.client.answer(two)["result"]["content"] == "second"


async def test_each_client_answers_for_the_runs_that_it_has_started(
    project: Project, provider: ScriptedProvider, listening: Listening
) -> None:
    for name in ("left", "right"):
        write = Call("write_file", {"path": f"{name}.txt", "content": ""})
        provider.script(f"m-{name}", Says(calls=[write]), Says("done"))
        project.write(name, f'name = "{name}"\nmodel = "ollama/m-{name}"\ntools = ["write_file"]\n')
    asked = []

    def connect(name: str, decision: Decision) -> AbstractAsyncContextManager[axe_client.Client]:
        async def approve(question: axe_client.Question) -> axe_client.Answer:
            asked.append((name, question.agent))
            return axe_client.Answer(decision)

        token = listening.token_file.read_text()
        return axe_client.connect(
            *listening.address, folder=project.root, approve=approve, token=token
        )

    async with (
        connect("left", "allow") as left,
        connect("right", "deny") as right,
        left.run("left") as one,
        right.run("right") as two,
    ):
        await one.result()
        await two.result()

    assert sorted(asked) == [("left", "left"), ("right", "right")]
    assert (project.root / "left.txt").exists()
    assert not (project.root / "right.txt").exists()
