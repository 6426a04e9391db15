"""The view "Runs" of the VS Code extension in the real workbench: live trees, history, timeline."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.editors import server_program
from support.extension import TRUSTING, put_server_into, vscode
from support.review_project import MENDED, script_review, write_project
from support.scripted_provider import ScriptedProvider


@pytest.mark.editor
def test_a_run_from_the_lens_grows_as_a_tree_and_one_agent_of_it_can_be_stopped(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "review"
    write_project(project).write_text(MENDED, encoding="utf-8")
    put_server_into(project).symlink_to(server_program())
    review = script_review(provider)
    with vscode(extension, project, tmp_path, TRUSTING, provider.environment) as window:
        window.open_file("axe/agents/manager.toml")
        runs = window.open_view("Runs")
        window.press_lens("Run")
        window.answer_question("Run manager", "Review the change")
        rows = runs.wait_for("Today", "manager", "Turn 1", "fast🚀", "slow", "Turn 1")
        assert not any("Ready" in row for row in rows)
        runs.wait_until_spoken("slow", "slow, running, ")
        window.picture("runs")

        runs.press("slow", "Stop")
        runs.wait_for("manager", "fast🚀", "slow", "Ready to")
        runs.wait_until_spoken("slow", "slow, cancelled, ")
        runs.wait_until_spoken("manager", "manager, running, ")
        runs.click("Turn 2")
        window.wait_for_text("# manager, turn 2", "running · ", "Ready to")
        review.end.release()
        window.wait_for_text("completed · ", "Ready to merge.")
        runs.wait_for("manager", "slow", "Ready to merge.")
        runs.wait_until_spoken("manager", "manager, completed, ")
        window.screenshot("document")

        runs.press("manager", "Show Timeline")
        timeline = window.webview()
        bars = timeline.get_by_role("treeitem")
        bars.first.focus()
        assert "manager, completed" in (bars.first.get_attribute("aria-label") or "")
        names = timeline.locator(".name").all_inner_texts()
        assert names == ["manager", "Turn 1", "fast🚀", "Turn 1", "slow", "Turn 1", "Turn 2"]
        window.picture("timeline")
        for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowLeft", "Enter"):
            timeline.locator(":focus").press(key)
        window.wait_for_text("# fast🚀", "> Look for bugs", "No bugs found.")
