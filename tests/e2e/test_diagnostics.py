"""Diagnostics over the wire: what clients are told, when they ask and when they are told unasked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from axe_lsp.features.rules import RULES
from axe_lsp.lsp.file_diagnostics import page
from support.session import PUBLISH, Editor, Project

HEAD = 'name = "parent"\nmodel = "ollama/m"\n'
CHILD = 'name = "lint"\nmodel = "ollama/m"\n'
TWICE = HEAD + 'sub_agents = ["lint", "lint"]\n'
REFRESH = "workspace/diagnostic/refresh"
PULLS = {
    "textDocument": {"diagnostic": {}},
    "workspace": {
        "diagnostics": {"refreshSupport": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
    },
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def editor(project: Project) -> Iterator[Editor]:
    """Provide an editor that pulls."""
    with project.editor(capabilities=PULLS) as editor:
        yield editor


def pull(editor: Editor, name: str, known: str | None = None) -> Any:
    params = {"textDocument": {"uri": editor.uri(name)}, "previousResultId": known}
    return editor.client.request("textDocument/diagnostic", params)


def pull_until(editor: Editor, name: str, wanted: list[str]) -> Any:
    """Pull, and again whenever the server asks for it, until these codes are reported."""
    while codes(report := pull(editor, name)) != wanted:
        editor.client.wait_for(REFRESH)
    return report


def codes(report: Any) -> list[str]:
    return [each["code"] for each in report["items"]]


def known_to(reports: list[Any]) -> list[dict[str, str]]:
    return [{"uri": each["uri"], "value": each["resultId"]} for each in reports]


def ask_workspace(editor: Editor, *reports: Any, **params: Any) -> int:
    known = {"previousResultIds": known_to(list(reports))}
    return editor.client.start_request("workspace/diagnostic", {**known, **params})


def test_a_document_is_reported_once_and_then_only_when_something_changes(editor: Editor) -> None:
    editor.open("parent", HEAD + "timeout = -1\n")
    first = pull(editor, "parent")
    assert (first["kind"], codes(first)) == ("full", ["negative-timeout"])
    again = pull(editor, "parent", first["resultId"])
    assert again == {"kind": "unchanged", "resultId": first["resultId"]}
    editor.replace("parent", "-1", "-2")
    other = pull(editor, "parent", first["resultId"])
    assert other["kind"] == "full"
    assert other["resultId"] != first["resultId"]
    editor.replace("parent", "-2", "-1")
    assert pull(editor, "parent", other["resultId"])["resultId"] == first["resultId"]


@pytest.mark.parametrize(
    ("name", "capabilities", "pulls"),
    [
        ("VS Code", PULLS, {"workspaceDiagnostics": True}),
        # A refresh makes it pull the workspace only, whose reports it drops for open documents.
        ("Neovim", PULLS, {"workspaceDiagnostics": False}),
        # It would not hear of what a change of another file means for this one.
        ("Neovim", {"textDocument": {"diagnostic": {}}}, None),
    ],
)
def test_pull_is_offered_only_to_clients_that_refresh(
    project: Project, name: str, capabilities: Any, pulls: Any
) -> None:
    child = project.write("lint", CHILD)
    with project.editor(capabilities=capabilities, clientInfo={"name": name}) as editor:
        offered = editor.server["capabilities"].get("diagnosticProvider")
        assert offered is None if pulls is None else offered.items() >= pulls.items()
        editor.open("parent", HEAD + 'sub_agents = ["lint"]\n')
        child.unlink()
        editor.changed_on_disk(child)
        if pulls is None:
            assert editor.problems("parent", 1) == ['unknown-agent "lint"']
        else:
            pull_until(editor, "parent", ["unknown-agent"])


def test_open_file_that_is_pulled_is_not_pushed(editor: Editor) -> None:
    editor.open("parent", HEAD + "timeout = -1\n")
    editor.replace("parent", "-1", "-2")
    assert codes(pull(editor, "parent")) == ["negative-timeout"]
    editor.project.write("other", CHILD + "timeout = -1\n")
    editor.changed_on_disk(editor.project.path("other"))
    editor.problems("other", 2)
    pushed = {params["uri"] for params in editor.client.notifications(PUBLISH)}
    assert pushed == {editor.uri("other")}


def test_pushed_diagnostics_are_cleared_when_the_file_is_opened(editor: Editor) -> None:
    editor.project.write("other", HEAD + "timeout = -1\n")
    editor.changed_on_disk(editor.project.path("other"))
    editor.problems("other", 2)
    editor.open("other")
    editor.problems("other", 0)
    assert len(codes(pull(editor, "other"))) == 2


def test_the_client_is_asked_to_pull_again_when_another_file_changes_what_is_said(
    editor: Editor,
) -> None:
    editor.open("parent", HEAD + 'sub_agents = ["lint"]\n')
    pull_until(editor, "parent", ["unknown-agent"])
    editor.project.write("lint", CHILD)
    editor.changed_on_disk(editor.project.path("lint"))
    pull_until(editor, "parent", [])


def test_the_workspace_is_reported_as_far_as_there_is_something_to_say(editor: Editor) -> None:
    editor.project.write("good", HEAD.replace("parent", "good"))
    bad = editor.project.write("bad", HEAD.replace("parent", "bad") + "timeout = -1\n")
    editor.changed_on_disk(bad, editor.project.path("good"))
    editor.problems("bad", 1)
    (report,) = editor.client.result(ask_workspace(editor))["items"]
    assert (report["uri"], report["kind"], report["version"]) == (bad.as_uri(), "full", None)
    assert codes(report) == ["negative-timeout"]
    # What had been pushed until then is taken back.
    editor.problems("bad", 0)


def test_a_second_request_waits_for_news_and_tells_only_those(editor: Editor) -> None:
    one = editor.project.write("one", HEAD)
    two = editor.project.write("two", HEAD)
    editor.changed_on_disk(one, two)
    editor.problems("one", 1)
    editor.problems("two", 1)
    first = editor.client.result(ask_workspace(editor))["items"]
    assert {each["uri"] for each in first} == {one.as_uri(), two.as_uri()}
    waiting = ask_workspace(editor, *first)
    editor.open("parent", HEAD)
    assert codes(pull(editor, "parent")) == []
    editor.project.write("two", HEAD.replace("parent", "two"))
    editor.changed_on_disk(two)
    (news,) = editor.client.result(waiting)["items"]
    assert (news["uri"], news["items"]) == (two.as_uri(), [])


def test_a_request_that_waits_can_be_cancelled(editor: Editor) -> None:
    editor.client.result(ask_workspace(editor))
    waiting = ask_workspace(editor)
    editor.client.cancel(waiting)
    assert editor.client.answer(waiting)["error"]["code"] == -32800
    assert editor.client.leave() == 0


def test_deleted_file_is_reported_once_as_empty(editor: Editor) -> None:
    one = editor.project.write("one", HEAD)
    editor.changed_on_disk(one)
    editor.problems("one", 1)
    (report,) = editor.client.result(ask_workspace(editor))["items"]
    one.unlink()
    editor.changed_on_disk(one)
    (gone,) = editor.client.result(ask_workspace(editor, report))["items"]
    assert gone["items"] == []
    waiting = ask_workspace(editor, gone)
    editor.project.write("one", HEAD)
    editor.changed_on_disk(one)
    (back,) = editor.client.result(waiting)["items"]
    assert back["resultId"] == report["resultId"]


def test_reports_of_the_workspace_are_streamed_to_whoever_can_take_them(editor: Editor) -> None:
    paths = [editor.project.write(f"bad{number}", HEAD) for number in range(300)]
    editor.changed_on_disk(*paths)
    editor.problems("bad299", 1)
    waiting = ask_workspace(editor, partialResultToken="parts")
    assert editor.client.result(waiting) == {"items": []}
    parts = editor.client.notifications("$/progress")
    assert {part["token"] for part in parts} == {"parts"}
    assert len(parts) > 1
    reported = [item["uri"] for part in parts for item in part["value"]["items"]]
    assert sorted(reported) == sorted(path.as_uri() for path in paths)


KNOWS = {
    "relatedInformation": True,
    "tagSupport": {"valueSet": [1]},
    "codeDescriptionSupport": True,
}


@pytest.mark.parametrize("place", ["publishDiagnostics", "diagnostic"])
def test_tags_and_related_information_follow_the_capabilities(project: Project, place: str) -> None:
    project.write("lint", CHILD)
    with project.editor(capabilities={"textDocument": {place: KNOWS}}) as editor:
        editor.open("parent", TWICE)
        report = pull(editor, "parent")
        (found,) = report["items"]
        assert found["tags"] == [1]
        (related,) = found["relatedInformation"]
        assert related["location"]["uri"] == editor.uri("parent")
        first = TWICE.index('"lint"')
        assert related["location"]["range"] == editor.range("parent", first, first + 6)
        assert found["codeDescription"]["href"] == page("duplicate-agent")


@pytest.mark.parametrize(
    ("options", "severities"),
    [
        ({}, {"unknown-key": 2, "duplicate-agent": 4, "name-mismatch": 2}),
        ({"audience": "model"}, {"unknown-key": 1, "name-mismatch": 2}),
        (
            {"audience": "model", "diagnostics": {"unknown-key": "warning"}},
            {"unknown-key": 2, "name-mismatch": 2},
        ),
        (
            {"audience": "somebody"},
            {"unknown-key": 2, "duplicate-agent": 4, "name-mismatch": 2},
        ),
    ],
)
def test_audience_model_gets_errors_for_what_has_no_effect_and_no_hints(
    options: dict[str, Any], severities: dict[str, int], project: Project
) -> None:
    project.write("lint", CHILD)
    with project.editor(initializationOptions=options) as editor:
        editor.open("other", TWICE + "zzz = 1\n")
        params = editor.client.wait_for(PUBLISH, lambda it: it["diagnostics"])
        assert {each["code"]: each["severity"] for each in params["diagnostics"]} == severities


def test_client_without_capabilities_gets_plain_diagnostics(project: Project) -> None:
    project.write("lint", CHILD)
    with project.editor() as editor:
        editor.open("parent", TWICE)
        (params,) = [editor.client.wait_for(PUBLISH, lambda it: it["diagnostics"])]
        (found,) = params["diagnostics"]
        assert set(found) == {"range", "severity", "code", "source", "message"}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_code_leads_to_a_page(rule: Any) -> None:
    path = Path(unquote(urlsplit(page(rule.code)).path))
    assert path.read_text("utf-8").startswith(f"# {rule.code}\n")


def test_comments_silence_in_the_editor(project: Project) -> None:
    with project.editor() as editor:
        editor.open("parent", HEAD + "zzz = 1\nyyy = 1  # axe: ignore[unknown-key]\n")
        assert editor.problems("parent", 1) == ["unknown-key zzz"]
        editor.replace("parent", "zzz = 1", "zzz = 1 # axe: ignore[unknown-key]")
        assert editor.problems("parent", 0) == []


def test_edit_of_the_root_changes_unreachable_depth(project: Project) -> None:
    project.write("middle", HEAD.replace("parent", "middle") + 'sub_agents = ["lint"]\n')
    project.write("lint", CHILD)
    with project.editor() as editor:
        editor.open(
            "parent", HEAD + 'sub_agents = ["middle"]\n[sub_agents_config]\nmax_depth = 2\n'
        )
        editor.problems("parent", 0)
        editor.replace("parent", "max_depth = 2", "max_depth = 1")
        assert editor.problems("middle", 1) == ['unreachable-depth "lint"']
        editor.replace("parent", "max_depth = 1", "max_depth = 3")
        assert editor.problems("middle", 0) == []
