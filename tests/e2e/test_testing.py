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


def test_all_tests_of_an_agent_run_from_the_lens_above_it(project: Project) -> None:
    path = project.root / "axe/tests/more.toml"
    path.write_text(PLAIN.replace('"asks"', '"again"'))
    with project.editor() as editor:
        opened(editor, project, PLAIN + TOO_FEW_TURNS)
        while len(editor.client.request("axe/tests", {})) < 2:
            pass  # The folders are still being read.
        lead = project.root / "axe/agents/lead.toml"
        item = {"uri": lead.as_uri(), "languageId": "toml", "version": 1, "text": lead.read_text()}
        editor.client.notify("textDocument/didOpen", {"textDocument": item})
        *_, lens = lenses(editor, lead.as_uri())
        resolved = editor.client.request("codeLens/resolve", lens)
        assert resolved["command"]["title"] == "2 tests"
        results = execute(editor, resolved)["results"]
        assert [(each["name"], each["verdict"]) for each in results] == [
            ("again", "passed"),
            ("asks", "failed"),
        ]
        with pytest.raises(ServerError, match="this agent has no tests"):
            editor.client.request("axe/test", {"agent": "file:///none.toml"})


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


def test_case_that_cannot_run_is_an_error_with_its_reason(project: Project) -> None:
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
        with pytest.raises(ServerError, match="untrusted workspace"):
            editor.client.request("axe/newTest", {"runId": "x"})


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
    """Return the project of a user with keys."""
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


RESULTS = {"experimental": {"axe": {"testResults": True}}}


def test_a_file_of_tests_reads_the_skills_and_the_files_elsewhere_that_its_agents_name(
    project: Project,
) -> None:
    (project.root / "axe/tests/release.toml").write_text(PLAIN)
    skill, rules = project.root / "skills/writing.md", project.root / "elsewhere/rules.md"
    for path in (skill, rules):
        path.parent.mkdir()
        path.write_text("Write.\n")
    lead, docs = (project.root / f"axe/agents/{name}.toml" for name in ("lead", "docs"))
    docs.write_text(f'{docs.read_text()}skill = "{skill}"\n')
    lead.write_text(f'{lead.read_text()}workdir = "{rules.parent}"\nfiles = ["*.md"]\n')
    with project.editor() as editor:
        while not (listed := editor.client.request("axe/tests", {})):
            pass  # The folders are still being read.
    assert {skill.as_uri(), rules.as_uri()} < {*listed[0]["reads"]}


def test_chosen_cases_of_several_files_run_and_each_result_is_sent_at_once(
    project: Project,
) -> None:
    more = PLAIN[PLAIN.index("[[case]]") :].replace("asks", "again", 1)
    files = {"release.toml": PLAIN + TOO_FEW_TURNS + more, "é others.toml": PLAIN}
    for name, text in files.items():
        (project.root / "axe/tests" / name).write_text(text)
    with project.editor(capabilities=RESULTS) as editor:
        while len(listed := editor.client.request("axe/tests", {})) < 2:
            pass  # The folders are still being read.
        agents = {f"{project.root.as_uri()}/axe/agents/{name}.toml" for name in agent_tests.AGENTS}
        workspace = (project.root / "axe/tests/fixtures/small").as_uri()
        assert [{*each["reads"]} for each in listed] == [{*agents, f"{workspace}/"}] * 2
        others, release = (file["cases"] for file in listed)
        wanted = [release[0]["id"], others[0]["id"]]
        assert others[0]["id"].startswith(listed[0]["uri"])
        results = editor.client.request("axe/test", {"ids": wanted})["results"]
        assert [(each["id"], each["verdict"]) for each in results] == [
            (wanted[0], "failed"),
            (wanted[1], "passed"),
        ]
        assert editor.client.notifications("axe/testResult") == results
        for wrong in ({"ids": []}, {"ids": ["x"]}, {"ids": wanted, "uri": "file:///x"}, {}):
            with pytest.raises(ServerError, match="axe/test: "):
                editor.client.request("axe/test", wrong)


def test_live_cases_run_as_often_as_is_asked_for(
    online: Project, provider: ScriptedProvider
) -> None:
    provider.script("m-lead", *[Says("Yes.")] * 3)
    with online.editor() as editor:
        uri = opened(editor, online, PLAIN)
        (result,) = editor.client.request("axe/test", {"uri": uri, "live": True, "n": 3})["results"]
        for wrong in ({"n": 3}, {"live": True, "n": 0}, {"live": True, "n": "2"}):
            with pytest.raises(ServerError, match='"n" is how often'):
                editor.client.request("axe/test", {"uri": uri, **wrong})
    assert (result["rate"]["runs"], result["rate"]["passed"]) == (3, 3)
    assert len(provider.requests) == 3


def test_failures_are_diagnostics_at_their_expectations_until_the_next_edit(
    project: Project,
) -> None:
    text = PLAIN + TOO_FEW_TURNS
    with project.editor() as editor:
        uri = opened(editor, project, text)

        def shown() -> list[tuple[str, int]]:
            found = editor.client.wait_for("textDocument/publishDiagnostics")
            assert found["uri"] == uri
            return [(each["code"], each["range"]["start"]["line"]) for each in found["diagnostics"]]

        assert shown() == []
        editor.client.request("axe/test", {"uri": uri})
        assert shown() == [("test-failed", 9)]
        changes = [{"text": f"{text}# more\n"}]
        document = {"uri": uri, "version": 2}
        editor.client.notify(
            "textDocument/didChange", {"textDocument": document, "contentChanges": changes}
        )
        assert shown() == []


def test_a_case_is_made_of_a_run_and_replayed(online: Project, provider: ScriptedProvider) -> None:
    provider.script("m-docs", Says("Written."))
    agent = {"uri": (online.root / "axe/agents/docs.toml").as_uri(), "task": "Write it."}
    with online.editor() as editor:
        run = editor.client.request("axe/run", agent)
        for _ in range(2):  # The file is open when it gets its second case.
            made = editor.client.request("axe/newTest", {"runId": run["runId"]})
            path = online.root / "axe/tests/docs.toml"
            assert (made["uri"], made["notes"]) == (path.as_uri(), [])
            (result,) = made["results"]
            assert (result["name"], result["verdict"]) == (made["case"], "passed")
            assert made["case"] in path.read_text().splitlines()[made["line"] - 1]
            text = path.read_text()
            document = {"uri": path.as_uri(), "languageId": "toml", "version": 1, "text": text}
            editor.client.notify("textDocument/didOpen", {"textDocument": document})
        for wrong in ({"runId": "none"}, {}, {"runId": run["runId"], "uri": "untitled:x"}):
            with pytest.raises(ServerError):
                editor.client.request("axe/newTest", wrong)
    assert len(provider.requests) == 1


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


def test_a_file_of_tests_takes_its_recordings_along_when_it_is_renamed(project: Project) -> None:
    tests = project.root / "axe/tests"
    (tests / "release.toml").write_text(HEAD.replace('replay = "asks.toml"\n', ""))
    (tests / "recordings/release").mkdir()
    recording = (tests / "recordings/asks.toml").rename(tests / "recordings/release/asks.toml")
    old, new = (tests / f"{name}.toml" for name in ("release", "shipping"))
    edits = {"documentChanges": True, "resourceOperations": ["rename"]}
    with project.editor(capabilities={"workspace": {"workspaceEdit": edits}}) as editor:
        while not editor.client.request("axe/tests", {}):
            pass  # The folders are still being read.
        moved = {"files": [{"oldUri": old.as_uri(), "newUri": new.as_uri()}]}
        edit = editor.client.request("workspace/willRenameFiles", moved)
        there = tests / "recordings/shipping/asks.toml"
        assert edit["documentChanges"] == [
            {"kind": "rename", "oldUri": recording.as_uri(), "newUri": there.as_uri()}
        ]
        # As VS Code asks meanwhile. The cases are still in the file with the old name.
        own = {"files": [{"oldUri": recording.as_uri(), "newUri": there.as_uri()}]}
        assert editor.client.request("workspace/willRenameFiles", own) is None
