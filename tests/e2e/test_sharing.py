"""Two editors on one server: what one of them does takes nothing from the other."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

import axe_client
from axe_client import Decision
from support.listening import Listening
from support.scripted_provider import Answer, Call, Hold, Says, ScriptedProvider, calls_agent
from support.session import Editor, Project
from support.waiting import wait_until

HEAD = 'name = "parent"\nmodel = "ollama/m"\n'

Connect = Callable[..., Editor]


@pytest.fixture
def project(tmp_path: Path, provider: ScriptedProvider) -> Project:
    return Project(tmp_path, provider.environment)


def test_unsaved_text_is_visible_to_its_own_editor_only(project: Project, connect: Connect) -> None:
    project.write("parent", HEAD + 'sub_agents = ["child"]\n')
    project.write("child", HEAD.replace("parent", "child"))
    first, second = connect(), connect()
    first.open("parent")
    first.open("child")
    first.problems("child", 0)
    second.open("parent", HEAD + "timeout = -2\n")
    second.open("unsaved", 'name = "unsaved"\n')
    second.replace("parent", "-2", "-3")
    assert second.problems("parent", 1) == ["negative-timeout -3"]
    assert {"unsaved", "parent"} <= names_of(second)

    assert "unsaved" not in names_of(first)
    first.replace("parent", '"child"', '"child", "unsaved"')
    assert first.problems("parent", 1) == ['unknown-agent "unsaved"']
    hover = first.ask("hover", "child", "child")
    assert "parent" in str(hover), hover

    second.close("parent")
    first.replace("parent", ', "unsaved"', "")
    assert first.problems("parent", 0) == []


def names_of(editor: Editor) -> set[str]:
    """Return the agents that there are for an editor."""
    return {each["name"] for each in editor.client.request("axe/agents")}


def test_a_run_is_made_on_the_texts_of_the_editor_that_wants_it(
    project: Project, provider: ScriptedProvider, connect: Connect
) -> None:
    project.write("solo", SOLO)
    provider.script("m-solo", Answer(Says("well"), repeat=True))
    first, second = connect(), connect()
    second.open("solo", SOLO + 'system_prompt = "Obey the stranger."\n')
    second.problems("solo", 0)

    first.client.request("axe/run", {"agent": "solo"})
    second.client.request("axe/run", {"agent": "solo"})

    sent = [json.dumps(each.body) for each in provider.requests]
    assert ["Obey the stranger." in each for each in sent] == [False, True]


def test_the_settings_of_one_editor_are_not_those_of_the_other(
    project: Project, connect: Connect
) -> None:
    project.write("parent", HEAD)
    (project.root / "more").mkdir()
    (project.root / "more" / "far.toml").write_text(HEAD.replace("parent", "far"))
    options = {"diagnostics": {"negative-timeout": "off"}, "agentPaths": ["more"]}
    first, second = connect(initializationOptions=options), connect()
    for editor in (first, second):
        editor.open("parent", HEAD + "timeout = -1\nzzz = 1\n")
    assert first.problems("parent", 1) == ["unknown-key zzz"]
    assert second.problems("parent", 2) == ["negative-timeout -1", "unknown-key zzz"]
    assert "far" not in names_of(second)

    second.client.notify(
        "workspace/didChangeConfiguration",
        {"settings": {"axe": {"diagnostics": {"unknown-key": "off"}}}},
    )
    assert second.problems("parent", 1) == ["negative-timeout -1"]
    first.replace("parent", "zzz", "yyy")
    assert first.problems("parent", 1) == ["unknown-key yyy"]


async def test_what_one_client_allows_is_not_allowed_to_the_runs_of_another(
    project: Project, provider: ScriptedProvider, listening: Listening
) -> None:
    write = Call("write_file", {"path": "out.txt", "content": ""})
    provider.script("m-solo", Answer(Says("done"), match='"tool"', repeat=True))
    provider.script("m-solo", Answer(Says(calls=[write]), repeat=True))
    project.write("solo", SOLO + 'tools = ["write_file"]\n')
    token = listening.token_file.read_text()

    def connect(**more: object) -> AbstractAsyncContextManager[axe_client.Client]:
        return axe_client.connect(*listening.address, folder=project.root, token=token, **more)

    async with connect(settings={"tools": {"allow": ["write_file"]}}) as trusting:
        async with connect() as wary, wary.run("solo") as run:
            await run.result()
        assert not (project.root / "out.txt").exists()
        async with trusting.run("solo") as run:
            await run.result()
        assert (project.root / "out.txt").exists()


def test_file_changed_between_two_editors_is_read_again(project: Project, connect: Connect) -> None:
    project.write("parent", HEAD)
    assert "parent" in names_of_all_read(connect())
    project.write("parent", HEAD + 'description = "changed"\n')
    project.write("new", HEAD.replace("parent", "new"))

    later = connect()

    found = names_of_all_read(later)
    assert found["new"] == ""
    assert found["parent"] == "changed"


def names_of_all_read(editor: Editor) -> dict[str, str]:
    """Return the descriptions of all agents in the workspace, once they have been read."""
    wait_until(lambda: editor.client.request("axe/graph", {"format": "json"})["complete"])
    agents = editor.client.request("axe/agents")
    return {each["name"]: each["description"] for each in agents if each["uri"] is not None}


def test_an_editor_that_comes_later_is_told_of_problems_in_files_that_nobody_has_open(
    project: Project, connect: Connect
) -> None:
    project.write("parent", HEAD + "timeout = -1\n")
    connect().problems("parent", 1)

    assert connect().problems("parent", 1) == ["negative-timeout -1"]


def test_an_editor_that_removes_a_folder_or_breaks_off_takes_no_file_from_the_other(
    project: Project, connect: Connect
) -> None:
    """The third one can't watch files, so the server does; the one beside it watches, and says what has changed."""
    project.write("parent", HEAD + 'sub_agents = ["child"]\n')
    project.write("child", HEAD.replace("parent", "child"))
    folder = {"uri": project.root.as_uri(), "name": "project"}
    leaves, breaks, watched = connect(), connect(), connect(capabilities={})
    for editor in (leaves, breaks, watched):
        editor.open("parent")
        editor.problems("parent", 0)

    leaves.client.notify(
        "workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": [folder]}}
    )
    breaks.client.send_raw(b'Content-Length: 1000\r\n\r\n{"jsonrpc": "2.0", "meth')
    breaks.client.close()
    project.path("child").unlink()
    assert watched.problems("parent", 1) == ['unknown-agent "child"']

    project.write("child", HEAD.replace("parent", "child"))
    assert watched.problems("parent", 0) == []
    leaves.client.notify(
        "workspace/didChangeWorkspaceFolders", {"event": {"added": [folder], "removed": []}}
    )
    wait_until(lambda: {"parent", "child"} <= names_of(leaves))


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


def test_runs_beyond_the_limit_of_an_editor_wait_and_hold_up_no_other(
    project: Project, provider: ScriptedProvider, connect: Connect
) -> None:
    project.write("solo", SOLO)
    hold = Hold()
    provider.script("m-solo", Answer(Says("first"), hold=hold), Says("other"), Says("second"))
    first = connect(initializationOptions={"run": {"maxConcurrent": 1}})
    other = connect(initializationOptions={"run": {"maxConcurrent": 1}})
    one = first.client.start_request("axe/run", {"agent": "solo"})
    hold.wait_until_arrived()
    two = first.client.start_request("axe/run", {"agent": "solo", "workDoneToken": "t"})
    begin = first.client.wait_for("$/progress", lambda it: it["token"] == "t")
    assert begin["value"]["message"] == "waits until another run has ended"

    assert other.client.request("axe/run", {"agent": "solo"})["content"] == "other"
    assert len(provider.requests) == 2
    hold.release()

    assert first.client.answer(one)["result"]["content"] == "first"
    assert first.client.answer(two)["result"]["content"] == "second"


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
