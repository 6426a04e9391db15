"""The lenses above the cases of a file of tests, and `axe.test`, which they send."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import agent_tests
from support.agent_tests import HEAD, PLAIN, TOO_FEW_TURNS
from support.raw_client import NEVER, ServerError
from support.scripted_provider import Answer, Hold, Says, ScriptedProvider
from support.session import Editor, Project

Json = Any


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    agent_tests.Project(project.root)
    return project


def opened(editor: Editor, project: Project, text: str) -> str:
    path = project.root / "axe/tests/release.toml"
    path.write_text(text)
    document = {"uri": path.as_uri(), "languageId": "toml", "version": 1, "text": text}
    editor.client.notify("textDocument/didOpen", {"textDocument": document})
    return path.as_uri()


def lenses(editor: Editor, uri: str) -> list[Json]:
    found: list[Json] = editor.client.request(
        "textDocument/codeLens", {"textDocument": {"uri": uri}}
    )
    return found


def execute(editor: Editor, lens: Json) -> Json:
    command = {key: lens["command"][key] for key in ("command", "arguments")}
    return editor.client.request("workspace/executeCommand", command)


def test_a_case_is_run_from_its_lens(project: Project) -> None:
    with project.editor() as editor:
        uri = opened(editor, project, PLAIN + TOO_FEW_TURNS)
        run, live, record = lenses(editor, uri)
        titles = [each["command"]["title"] for each in (run, live, record)]
        assert titles == ["Run test", "Run live", "Record"]
        assert run["range"]["start"] == {"line": 4, "character": 7}
        (result,) = execute(editor, run)["results"]
        assert (result["name"], result["verdict"]) == ("asks", "failed")
        told = editor.client.wait_for("window/showMessage")
        assert told["message"] == '"asks": failed, line 10: lead: turns is 3, more than 1'
        opened(editor, project, PLAIN)
        assert execute(editor, run)["results"][0]["verdict"] == "passed"


def test_hover_at_the_name_of_a_case_has_its_last_result(project: Project) -> None:
    with project.editor() as editor:
        uri = opened(editor, project, PLAIN + TOO_FEW_TURNS)

        def hover(line: int) -> str:
            where = {"textDocument": {"uri": uri}, "position": {"line": line, "character": 9}}
            found = editor.client.request("textDocument/hover", where)
            return found["contents"]["value"] if found else ""

        assert "Last result" not in hover(4)
        (result,) = editor.client.request("axe/test", {"uri": uri})["results"]
        told = f"Last result: **failed** · run `{result['runId'][:8]}`"
        assert hover(4) == f"{told}\n\n    line 10: lead: turns is 3, more than 1"
        assert "Last result" not in hover(5)
        opened(editor, project, PLAIN)
        editor.client.request("axe/test", {"uri": uri})
        assert hover(4) == "Last result: **passed**"


def test_what_can_not_be_run_is_told(project: Project) -> None:
    with project.editor() as editor:
        uri = opened(editor, project, HEAD)
        run, *_ = lenses(editor, uri)
        with pytest.raises(ServerError, match="you have not trusted that"):
            execute(editor, run)
        (project.root / "axe/tests/release.toml").write_text(PLAIN)
        with pytest.raises(ServerError, match=r"save release\.toml first"):
            execute(editor, run)


def test_nothing_runs_in_an_untrusted_workspace(project: Project) -> None:
    with project.editor(initializationOptions={"trusted": False}) as editor:
        uri = opened(editor, project, PLAIN)
        assert lenses(editor, uri) == []
        command = {"command": "axe.test", "arguments": [{"uri": uri}]}
        with pytest.raises(ServerError, match="untrusted workspace"):
            editor.client.request("workspace/executeCommand", command)
        with pytest.raises(ServerError, match="untrusted workspace"):
            editor.client.request("axe/test", {"uri": uri, "record": True})


def test_clients_list_the_cases_and_get_the_results_without_messages(project: Project) -> None:
    closed = project.root / "axe/tests/others.toml"
    closed.write_text(PLAIN.replace('"asks"', '"é asks"'))
    with project.editor() as editor:
        uri = opened(editor, project, PLAIN + TOO_FEW_TURNS)
        while len(listed := editor.client.request("axe/tests", {})) < 2:
            pass  # The folders are still being read.
        others, release = listed
        assert (others["uri"], release["uri"]) == (closed.as_uri(), uri)
        assert [each["name"] for each in (*others["cases"], *release["cases"])] == [
            "é asks",
            "asks",
        ]
        (case,) = release["cases"]
        assert case["range"]["start"] == {"line": 4, "character": 7}
        (result,) = editor.client.request("axe/test", {"uri": uri, "case": "asks"})["results"]
        messages = editor.client.notifications("window/showMessage")
    assert (result["verdict"], result["failures"][0]["line"]) == ("failed", 10)
    assert not messages


UNRECORDED = PLAIN.replace('replay = "asks.toml"\n', "")


@pytest.fixture
def online(tmp_path: Path, provider: ScriptedProvider) -> Project:
    """The project of a user with keys."""
    project = Project(tmp_path, provider.environment)
    agent_tests.Project(project.root)
    return project


def test_a_case_is_recorded_once_and_then_replayed(
    online: Project, provider: ScriptedProvider
) -> None:
    recording = online.root / "axe/tests/recordings/release/asks.toml"
    provider.script("m-lead", Says("Yes."))
    with online.editor() as editor:
        uri = opened(editor, online, UNRECORDED)
        (missing,) = editor.client.request("axe/test", {"uri": uri})["results"]
        (result,) = editor.client.request("axe/test", {"uri": uri, "record": True})["results"]
        assert (missing["verdict"], result["verdict"]) == ("missing", "passed")
        assert 'text = "Yes."' in recording.read_text()
        (again,) = editor.client.request("axe/test", {"uri": uri, "record": True})["results"]
    assert again["verdict"] == "passed"
    assert len(provider.requests) == 1


def test_a_cancelled_recording_hangs_up_and_leaves_no_file(
    online: Project, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.script("m-lead", Answer(Says("late"), hold=hold))
    with online.editor() as editor:
        uri = opened(editor, online, UNRECORDED)
        number = editor.client.start_request("axe/test", {"uri": uri, "record": True})
        hold.wait_until_arrived()
        editor.client.cancel(number)
        hold.wait_until_hung_up()
        with pytest.raises(ServerError):
            editor.client.result(number)
    assert not (online.root / "axe/tests/recordings/release").exists()


def test_a_file_that_is_no_file_of_tests_is_refused(project: Project) -> None:
    agent = {"uri": (project.root / "axe/agents/lead.toml").as_uri()}
    with project.editor() as editor, pytest.raises(ServerError, match="not a file of tests"):
        editor.client.request("axe/test", agent)


SHOWS_CHANGES = {"experimental": {"axe": {"replaceRecording": True}}}


@pytest.mark.parametrize(
    ("answer", "is_replaced"), [({"replace": True}, True), ({"replace": False}, False), ({}, False)]
)
def test_a_recording_is_replaced_after_the_client_has_shown_the_change(
    online: Project, provider: ScriptedProvider, answer: Json, is_replaced: bool
) -> None:
    recording = online.root / "axe/tests/recordings/asks.toml"
    before = recording.read_text()
    provider.script("m-lead", Says("Yes."))
    with online.editor(capabilities=SHOWS_CHANGES) as editor:
        editor.client.answer_with["axe/replaceRecording"] = lambda _: answer
        uri = opened(editor, online, PLAIN)
        (result,) = editor.client.request("axe/test", {"uri": uri, "update": True})["results"]
        asked = editor.client.wait_for("axe/replaceRecording")
    assert (result["verdict"], asked["uri"], asked["case"]) == ("passed", uri, "asks")
    assert "Can this be released?" in asked["before"]
    assert 'text = "Yes."' in asked["after"]
    assert "duration_ms = 0" in asked["after"]
    assert ('text = "Yes."' in recording.read_text()) is is_replaced
    assert is_replaced or recording.read_text() == before


def test_an_update_that_is_cancelled_while_it_asks_keeps_the_recording(
    online: Project, provider: ScriptedProvider
) -> None:
    recording = online.root / "axe/tests/recordings/asks.toml"
    before = recording.read_text()
    provider.script("m-lead", Says("Yes."))
    with online.editor(capabilities=SHOWS_CHANGES) as editor:
        editor.client.answer_with["axe/replaceRecording"] = lambda _: NEVER
        uri = opened(editor, online, PLAIN)
        number = editor.client.start_request("axe/test", {"uri": uri, "update": True})
        editor.client.wait_for("axe/replaceRecording")
        editor.client.cancel(number)
        editor.client.wait_for("$/cancelRequest")
        with pytest.raises(ServerError):
            editor.client.result(number)
    assert recording.read_text() == before


def test_nothing_is_recorded_again_for_a_client_that_can_not_show_the_change(
    online: Project, provider: ScriptedProvider
) -> None:
    with online.editor() as editor:
        uri = opened(editor, online, PLAIN)
        with pytest.raises(ServerError, match="can't show the changes"):
            editor.client.request("axe/test", {"uri": uri, "update": True})
    assert provider.requests == []


def test_a_case_runs_live_from_its_lens_and_is_not_recorded(
    online: Project, provider: ScriptedProvider
) -> None:
    recording = online.root / "axe/tests/recordings/asks.toml"
    before = recording.read_text()
    provider.script("m-lead", Says("Yes."))
    with online.editor() as editor:
        uri = opened(editor, online, PLAIN)
        _, live, _ = lenses(editor, uri)
        (result,) = execute(editor, live)["results"]
        with pytest.raises(ServerError, match="are not recorded"):
            editor.client.request("axe/test", {"uri": uri, "live": True, "record": True})
    assert (result["verdict"], result["rate"]["runs"]) == ("passed", 1)
    assert len(provider.requests) == 1
    assert recording.read_text() == before
