"""The page of a run in the real workbench: Markdown as it streams, questions in place, a box to reply."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.accessibility import check_accessible
from support.editors import server_program
from support.engines import agent
from support.extension import TRUSTING, put_server_into, vscode
from support.scripted_provider import Answer, Call, Hold, Says, ScriptedProvider

PAGES = {**TRUSTING, "axe.editor.showRuns": "page"}


@pytest.mark.editor
def test_a_run_is_a_page_that_is_read_and_answered(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "notes"
    writer = project / "axe" / "agents" / "writer.toml"
    writer.parent.mkdir(parents=True)
    keys = {"tools": ["run_command"]}
    writer.write_text(agent("writer", **keys)["writer"], encoding="utf-8")
    hold = Hold(chunk=8)
    text = "# Plan\n\nThis is **bold** and <b>no markup</b>.\n\n- one\n- two\n"
    command = Call("run_command", {"command": "echo done > made.txt"})
    streams = Answer(Says(text, [command]), hold=hold)
    provider.script("m-writer", streams, Says("It is *made*."), Says("Because of **you**."))
    put_server_into(project).symlink_to(server_program())
    with vscode(extension, project, tmp_path, PAGES, provider.environment) as window:
        window.open_file("axe/agents/writer.toml")
        window.press_lens("Run")
        window.answer_question("Run writer", "Make it")
        page = window.webview()
        page.locator("article .text h1", has_text="Plan").wait_for()
        page.locator("article .text strong", has_text="bold").wait_for()
        hold.release()

        page.get_by_role("button", name="Deny", exact=True).wait_for()
        assert not (project / "made.txt").exists()
        assert page.locator(".question pre").inner_text() == "echo done > made.txt"
        window.picture("page-question")
        check_accessible(page)

        def allow() -> None:
            button = page.get_by_role("button", name="Allow", exact=True)
            if button.count():
                button.click(timeout=1000)

        window.repeat_until("the file", allow, (project / "made.txt").exists)
        page.locator("article .text em", has_text="made").wait_for()
        assert (
            page.locator("article .turn > .text").first.inner_text().count("<b>no markup</b>") == 1
        )

        box = page.get_by_role("textbox", name="Reply")
        box.fill("Why?")
        box.press("Enter")
        page.locator("article .text strong", has_text="you").wait_for()
        assert page.locator("article").count() == 2
        assert page.locator("article .task").all_inner_texts() == ["Make it", "Why?"]
        page.get_by_role("status").filter(has_text="writer: completed").wait_for()
        window.picture("page")
        check_accessible(page)
        window.reload()
        page.locator("article .text strong", has_text="you").wait_for()
        assert page.locator("article .task").all_inner_texts() == ["Make it", "Why?"]
    sent = provider.requests[-1].body["messages"]
    assert [message["content"] for message in sent if message["role"] == "user"][-1] == "Why?"
