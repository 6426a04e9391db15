"""The run log as editors get it: lens, hover, request, and the question about logs of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.codex_logs import ROLE, add_codex_runs
from support.session import Editor, Project

REFRESHES = {"workspace": {"codeLens": {"refreshSupport": True}}}
SOURCES = {"runLog": {"sources": ["codex"]}}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "CODEX_HOME": ""}
    found = Project(tmp_path, environment)
    found.agents = found.root / ".codex" / "agents"
    found.agents.mkdir(parents=True)
    found.write("reader", ROLE.format("reader"))
    return found


def titles(editor: Editor) -> list[str]:
    document = {"textDocument": {"uri": editor.uri("reader")}}
    lenses = editor.client.request("textDocument/codeLens", document)
    resolved = (
        each if each.get("command") else editor.client.request("codeLens/resolve", each)
        for each in lenses
    )
    return [str(each["command"]["title"]) for each in resolved]


def refreshed(editor: Editor) -> list[str]:
    """Return the titles once the server has said that there are others."""
    titles(editor)
    editor.client.wait_for("workspace/codeLens/refresh")
    return titles(editor)


def opened(editor: Editor) -> Editor:
    editor.client.answer_with["workspace/codeLens/refresh"] = lambda _: None
    editor.open("reader")
    return editor


def test_lens_hover_and_request_have_the_runs_of_an_agent(project: Project) -> None:
    add_codex_runs(project.home, project.root, 3, failed=1)
    with project.editor(capabilities=REFRESHES, initializationOptions=SOURCES) as editor:
        assert refreshed(opened(editor))[-1] == "3 runs, 1 failed · last today"
        hover: Any = editor.ask("hover", "reader", '"rea')
        assert "3 runs in 30 days" in hover["contents"]["value"]
        uri = {"uri": editor.uri("reader")}
        (agent,) = editor.client.request("axe/runLog", uri)
        assert (agent["program"], agent["runs"], agent["failed"]) == ("codex", 3, 1)
        command = {"command": "axe.showRunLog", "arguments": [uri]}
        shown = editor.client.request("workspace/executeCommand", command)
        assert "3 runs in 30 days" in shown["markdown"]
        message = editor.client.wait_for("window/showMessage")
        assert message["message"].startswith("3 runs in 30 days (Codex 3): 1 failed.")


def test_logs_of_other_programs_are_read_once_the_user_has_said_so(project: Project) -> None:
    add_codex_runs(project.home, project.root, 3)
    with project.editor(capabilities=REFRESHES) as editor:
        asked: list[Any] = []

        def answer(params: Any) -> Any:
            asked.append(params)
            return params["actions"][0]

        editor.client.answer_with["window/showMessageRequest"] = answer
        (title,) = [each for each in refreshed(opened(editor)) if "runs" in each]
        assert title == "Show its runs (reads ~/.codex)"
        command = {"command": "axe.showRunLog", "arguments": [{"uri": editor.uri("reader")}]}
        editor.client.request("workspace/executeCommand", command)
        editor.client.wait_for("workspace/codeLens/refresh")
        assert [each["title"] for each in asked[0]["actions"]] == ["Show", "No"]
        assert titles(editor)[-1] == "3 runs · last today"
    with project.editor(capabilities=REFRESHES) as editor:  # The answer is kept.
        assert refreshed(opened(editor))[-1] == "3 runs · last today"


def test_user_who_says_no_is_not_asked_again(project: Project) -> None:
    add_codex_runs(project.home, project.root, 3)
    with project.editor(capabilities=REFRESHES) as editor:
        editor.client.answer_with["window/showMessageRequest"] = lambda params: params["actions"][1]
        refreshed(opened(editor))
        command = {"command": "axe.showRunLog", "arguments": [{"uri": editor.uri("reader")}]}
        editor.client.request("workspace/executeCommand", command)
        editor.client.wait_for("workspace/codeLens/refresh")
        assert not any("runs" in each for each in titles(editor))


def test_source_that_a_client_switches_off_has_no_lens_any_more(project: Project) -> None:
    add_codex_runs(project.home, project.root, 3)
    with project.editor(capabilities=REFRESHES, initializationOptions=SOURCES) as editor:
        refreshed(opened(editor))
        settings = {"settings": {"axe": {"runLog": {"sources": []}}}}
        editor.client.notify("workspace/didChangeConfiguration", settings)
        editor.client.wait_for("workspace/codeLens/refresh")
        assert not any("runs" in each for each in titles(editor))
