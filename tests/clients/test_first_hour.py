"""The first hour in VS Code: an empty home, an empty folder, no server, no trust, no key, and what helps each time, until an answer comes."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.accessibility import check_accessible
from support.editors import server_program
from support.extension import path_without_server, vscode
from support.scripted_provider import Refuses, Says, ScriptedProvider

MODEL = "claude-sonnet-5-5"
"""Which a new agent has if there is no key at all."""

KEY = "sk-ant-of-a-first-hour"


@pytest.mark.editor
def test_the_first_hour_in_vscode_has_no_dead_end(
    extension: Path,
    provider: ScriptedProvider,
    tmp_path: Path,
) -> None:
    project = tmp_path / "empty"
    project.mkdir()
    provider.script(MODEL, Refuses(401, "invalid x-api-key"), Says("# Hello\n\nIt **works**."))
    settings = {"security.workspace.trust.startupPrompt": "never"}
    variables = {name: at for name, at in provider.environment.items() if "BASE_URL" in name}
    variables["PATH"] = path_without_server()
    with vscode(extension, project, tmp_path, settings, variables) as window:
        window.open_folder()
        agents = window.open_view("Agents")
        agents.wait_for_welcome("Manage Workspace Trust")
        agents.wait_for_welcome("Install It…")
        assert window.messages() == [], "the view says it all"
        window.screenshot("untrusted")
        window.trust()
        agents.press_button("Choose the Program…")
        window.setting_up.give(server_program())
        agents.wait_for_welcome("Copy the Demo")

        agents.press_button("New Agent…")
        window.answer_question("New agent", "solo")
        window.choose("empty/axe/agents")
        window.wait_for_tab("solo.toml")
        window.wait_for_problems(["missing-api-key [Ln 5, Col 9]"])
        agents.press("solo", "Run This Agent")
        window.answer_question("Run solo", "Say hello")
        window.answer_message("is not configured", "Set API Key…")
        window.answer_question("API Key: ANTHROPIC_API_KEY", KEY)
        window.wait_for_problems([])
        agents.press("solo", "Run This Agent")
        window.answer_question("Run solo", "Say hello")
        window.answer_message("invalid x-api-key", "Set API Key…")
        window.choose("ANTHROPIC_API_KEY")
        window.answer_question("API Key: ANTHROPIC_API_KEY", f"{KEY}-2")
        agents.press("solo", "Run This Agent")
        window.choose("Say hello")  # It is remembered.
        page = window.webview()
        page.get_by_role("heading", name="Hello", exact=True).wait_for()
        page.locator("article .text strong", has_text="works").wait_for()
        check_accessible(page)
        window.screenshot("answered")
    assert [request.headers["x-api-key"] for request in provider.requests] == [KEY, f"{KEY}-2"]
