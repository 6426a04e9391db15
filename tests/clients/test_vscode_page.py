"""The page of a run in the real workbench: Markdown as it streams, questions in place, a box to reply."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.accessibility import check_accessible
from support.editors import server_program
from support.engines import agent
from support.extension import TRUSTING, kill_server, put_server_into, vscode
from support.scripted_provider import (
    Answer,
    Call,
    Hold,
    Refuses,
    Says,
    ScriptedProvider,
    calls_agent,
)
from support.side_project import user_texts

if TYPE_CHECKING:
    from playwright.sync_api import Locator

PAGES = {**TRUSTING, "axe.editor.showRuns": "page"}


_IS_AT_END = "(page) => page.scrollHeight - page.scrollTop - page.clientHeight < 80"

_COVERED = """turn => {
    turn.style.width = '440px';
    const line = document.createRange();
    line.selectNodeContents(turn.querySelector('summary'));
    const buttons = turn.querySelector('.toolbar').getBoundingClientRect();
    const isCovered = [...line.getClientRects()].some(each => each.right > buttons.left && each.top < buttons.bottom);
    turn.style.width = '';
    return isCovered;
}"""
"""Whether the buttons of a turn cover the end of its line, in a page of usual width."""


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
    because = "\n\n".join(["Because of **you**.", *["And so on."] * 60])
    answers = [Says("It is *made*."), Says(because)]
    fails = Refuses(400, "no such model")
    provider.script("m-writer", streams, *answers, fails, Says("Yes, I am *sure*."))
    put_server_into(project).symlink_to(server_program())
    with vscode(extension, project, tmp_path, PAGES, provider.environment) as window:
        window.open_file("axe/agents/writer.toml")
        window.run_agent("writer", "Make it")
        page = window.webview()
        page.locator("article .text h4", has_text="Plan").wait_for()
        page.locator("article .text strong", has_text="bold").wait_for()
        hold.release()

        page.get_by_role("button", name="Deny", exact=True).wait_for()
        assert not (project / "made.txt").exists()
        page.locator(".call .question").get_by_role("timer").filter(has_text="s left").wait_for()
        page.get_by_role("button", name="Show Question").click()
        page.locator(".question:focus").wait_for()
        assert page.locator(".question pre").inner_text() == "echo done > made.txt"
        window.picture("page-question")
        check_accessible(page)

        more = page.get_by_role("button", name="More answers")
        more.click()
        page.get_by_role("button", name="Always Allow This Command Here").wait_for()
        page.get_by_role("button", name="Show Question").click()
        card = page.locator(".question:focus")
        card.press("Enter")
        card.press("a")
        assert card.count() == 1, "no key without a modifier answers"

        def allow() -> None:
            if card.count():
                card.press("Control+Enter", timeout=1000)

        window.repeat_until("the file", allow, (project / "made.txt").exists)
        page.locator("article .text em", has_text="made").wait_for()
        page.locator(".run-edits", has_text="Changes by commands are not known.").wait_for()
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
        whole = page.locator("#page")
        window.wait_until("the end of the answer", lambda: whole.evaluate(_IS_AT_END))
        whole.evaluate("(page) => { page.scrollTop = 0; }")
        window.picture("page")
        page.get_by_role("button", name="Jump to Latest").click()
        window.wait_until("the end after a jump", lambda: whole.evaluate(_IS_AT_END))
        page.get_by_role("button", name="Jump to Latest").wait_for(state="hidden")
        check_accessible(page)
        page.locator("article .turn > summary").first.click()
        page.locator("article .turn:not([open]) > summary", has_text="Plan This is bold").wait_for()
        window.reload()
        page.locator("article .text strong", has_text="you").wait_for()
        assert page.locator("article .task").all_inner_texts() == ["Make it", "Why?"]
        assert page.locator("article .turn:not([open])").count() == 1, "what was closed stays so"
        page.locator("article .turn > summary").first.click()
        page.locator("article .text h4", has_text="Plan").wait_for()

        assert page.locator("html").evaluate("each => each.scrollHeight <= innerHeight")
        page.locator("article .turn > .toolbar").first.wait_for()
        assert not page.locator("article .turn").first.evaluate(_COVERED)
        box.fill("Sure?")
        box.press("Enter")
        page.locator("article .error", has_text="no such model").wait_for()
        page.get_by_role("button", name="Switch Model…").wait_for()
        check_accessible(page)
        page.get_by_role("button", name="Retry", exact=True).click()
        page.locator("article .text em", has_text="sure").wait_for()
        page.get_by_role("status").filter(has_text="writer: completed").wait_for()
        assert page.locator("article").count() == 3, "the same run goes on"
        page.get_by_role("button", name="Continue Run").wait_for(state="hidden")

        writer.write_text("model = 3\n", encoding="utf-8")
        window.wait_for_text("model = 3")
        box.fill("And now?")
        box.press("Enter")
        window.wait_for_message("writer.toml:1:9")
        assert not window.shows_message("no such model"), "the page in sight has told it"
        window.answer_message("writer.toml:1:9", "Show Error")
        page.get_by_role("button", name="Send").and_(page.locator(":enabled")).wait_for()
        assert box.input_value() == "And now?", "what has not begun is not lost"
        window.wait_for_place("Ln 1, Col 9")
    sent = provider.requests[-1].body["messages"]
    assert [message["content"] for message in sent if message["role"] == "user"][-1] == "Sure?"


@pytest.mark.editor
def test_page_of_an_interrupted_run_has_a_card_that_continues_it(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "notes"
    writer = project / "axe" / "agents" / "writer.toml"
    writer.parent.mkdir(parents=True)
    writer.write_text(agent("writer")["writer"], encoding="utf-8")
    hold = Hold()
    provider.script("m-writer", Answer(Says("Never seen."), hold=hold), Says("It is *made*."))
    put_server_into(project).symlink_to(server_program())
    with vscode(extension, project, tmp_path, PAGES, provider.environment) as window:
        window.open_file("axe/agents/writer.toml")
        window.run_agent("writer", "Make it")
        page = window.webview()
        hold.wait_until_arrived()
        page.get_by_role("status").filter(has_text="writer: running").wait_for()
        card = page.get_by_role("region", name="Interruption")
        assert card.is_hidden(), "nothing has interrupted it"
        kill_server(project)
        card.wait_for()
        window.picture("interrupted")
        check_accessible(page)
        card.get_by_role("button", name="Continue").click()
        page.locator("article .text em", has_text="made").wait_for()
        card.wait_for(state="hidden")
        assert page.locator("article").count() == 1, "the same run goes on"


@pytest.mark.editor
def test_run_goes_on_on_its_page_when_the_server_is_killed(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "notes"
    writer = project / "axe" / "agents" / "writer.toml"
    writer.parent.mkdir(parents=True)
    writer.write_text(agent("writer", tools=["write_file"])["writer"], encoding="utf-8")
    hold = Hold()
    writes = Says(calls=[Call("write_file", {"path": "made.txt", "content": "x"})])
    provider.script("m-writer", Answer(writes, hold=hold), Says("It is *made*."))
    put_server_into(project).symlink_to(server_program())
    settings = {**PAGES, "axe.run.onWindowClose": "reload"}
    with vscode(extension, project, tmp_path, settings, provider.environment) as window:
        window.open_file("axe/agents/writer.toml")
        window.run_agent("writer", "Make it")
        page = window.webview()
        hold.wait_until_arrived()
        page.get_by_role("status").filter(has_text="writer: running").wait_for()
        kill_server(project)
        page.get_by_role("status").filter(has_text="writer: killed").wait_for()
        page.get_by_role("status").filter(has_text="writer: running").wait_for()
        hold.release()
        page.get_by_role("button", name="Deny", exact=True).wait_for()
        window.picture("outlived")
        allow = page.get_by_role("button", name="Allow", exact=True)
        window.repeat_until(
            "the file",
            lambda: allow.count() and allow.click(timeout=1000),
            (project / "made.txt").exists,
        )
        page.locator("article .text em", has_text="made").wait_for()
    assert (project / "made.txt").read_text() == "x"
    assert len(provider.requests) == 2, "nothing is asked again"


@pytest.mark.editor
def test_an_earlier_task_is_changed_and_sent_again(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "notes"
    writer = project / "axe" / "agents" / "writer.toml"
    writer.parent.mkdir(parents=True)
    writer.write_text(agent("writer")["writer"], encoding="utf-8")
    texts = ("It is done.", "Because.", "For this.", "Never.", "Again.")
    hold = Hold()
    first, second, *others = map(Says, texts)
    provider.script("m-writer", first, Answer(second, hold=hold), *others)
    put_server_into(project).symlink_to(server_program())
    with vscode(extension, project, tmp_path, PAGES, provider.environment) as window:
        window.open_file("axe/agents/writer.toml")
        window.run_agent("writer", "Make it")
        page = window.webview()
        page.locator("article .text", has_text=texts[0]).wait_for()
        page.get_by_role("status").filter(has_text="writer: completed").wait_for()
        box = page.get_by_role("textbox", name="Reply")
        box.fill("Why?")
        box.press("Enter")
        hold.wait_until_arrived()
        change = page.get_by_role("button", name="Edit this task")
        task = page.get_by_role("textbox", name="The task, to be sent again")
        change.click()
        task.fill("Make that")
        again = page.get_by_role("button", name="Send Again")
        again.and_(page.locator(":enabled")).wait_for()
        hold.release()
        page.locator("article .text", has_text=texts[1]).wait_for()
        page.get_by_role("status").filter(has_text="writer: completed").wait_for()
        task.evaluate(_ENDS_COMPOSING)
        change.click()
        task.and_(page.locator(":focus")).wait_for()
        assert task.input_value() == "Make that", "one at a time, and what was written is not lost"
        task.press("Escape")

        def edit(index: int, text: str) -> None:
            change.nth(index).click()
            task.and_(page.locator(":focus")).wait_for()
            task.fill(text)
            check_accessible(page)
            window.picture("page-edit")
            task.press("Enter")

        edit(1, "What for?")
        page.locator("article .text", has_text=texts[2]).wait_for()
        assert page.locator("article .task").all_inner_texts() == ["Make it", "What for?"]
        assert page.locator("body").evaluate("() => document.hasFocus()"), "it is read on here"
        page.get_by_role("status").filter(has_text="writer: completed").wait_for()
        sent = provider.requests[-1].body["messages"]
        assert [each["content"] for each in sent] == ["Make it", texts[0], "What for?"]

        edit(0, "Forget it")
        page.locator("article .text", has_text=texts[3]).wait_for()
        assert page.locator("article .task").all_inner_texts() == ["Forget it"]
        page.get_by_role("status").filter(has_text="writer: completed").wait_for()

        change.click()
        task.evaluate(_WRITES_ON, ["Do it", "Do it now"])
        page.locator("article .text", has_text=texts[4]).wait_for()
        assert page.locator("article .task").all_inner_texts() == ["Do it"]
        window.show_file("writer: Forget it")
        task.wait_for()
        assert task.input_value() == "Do it now", "what is written after it was sent is not lost"

        window.show_file("writer: Make it")
        page.locator("article .text", has_text=texts[1]).wait_for()
        assert page.locator("article .task").all_inner_texts() == ["Make it", "Why?"]
        assert page.locator(".edit").count() == 0, "what was sent is not written again"
        writer.write_text("model = 3\n", encoding="utf-8")
        window.show_file("writer.toml")
        window.wait_for_text("model = 3")
        window.show_file("writer: Make it")
        edit(0, "Once more")
        window.wait_for_message("writer.toml:1:9")
        assert task.input_value() == "Once more", "what has not begun is not lost"
        task.press("Escape")
        page.locator("article .task", has_text="Make it").wait_for()


@pytest.mark.editor
def test_a_page_in_place_of_another_leaves_the_focus_in_a_terminal(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "notes"
    writer = project / "axe" / "agents" / "writer.toml"
    writer.parent.mkdir(parents=True)
    writer.write_text(agent("writer")["writer"], encoding="utf-8")
    provider.script("m-writer", Says("It is done."), Says("Done again."))
    put_server_into(project).symlink_to(server_program())
    typed = project / "typed.txt"
    with vscode(extension, project, tmp_path, PAGES, provider.environment) as window:
        window.open_file("axe/agents/writer.toml")
        window.run_agent("writer", "Make it")
        page = window.webview()
        answer = page.locator("article .text", has_text="It is done.")
        is_in_page = "() => document.hasFocus()"
        window.repeat_until(
            "the focus on the page", answer.click, lambda: answer.evaluate(is_in_page)
        )
        window.focus_terminal()
        window.run_command("axe: Run Again")
        window.pick("writer")
        page.locator("article .text", has_text="Done again.").wait_for()
        window.type_on(f"touch {typed}\n")
        window.wait_until("what the terminal has executed", typed.exists)


_ENDS_COMPOSING = """(box) => {
  box.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", isComposing: true }));
}"""

_WRITES_ON = """(box, texts) => {
  for (const text of texts) {
    box.value = text;
    box.dispatchEvent(new Event("input"));
    box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", cancelable: true }));
  }
}"""
"""All at once, so that no run begins meanwhile."""


@pytest.mark.editor
def test_agents_stand_in_place_of_their_calls_and_links_open_files_of_the_workspace_alone(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "notes"
    folder = project / "axe" / "agents"
    folder.mkdir(parents=True)
    agents = agent("lead", sub_agents=["helper", "broken"]) | agent("broken")
    agents |= agent("helper", tools=["read_file", "write_file"])
    for name, text in agents.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    (project / "notes.txt").write_text("Notes.\nShip on Friday.\n", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("Not of this workspace.\n", encoding="utf-8")
    (project / "link.txt").symlink_to(tmp_path / "secret.txt")
    hold = Hold(chunk=8)
    calls = [calls_agent("helper", "Read", call_id="h"), calls_agent("broken", "Fail", call_id="b")]
    provider.script("m-lead", Says(calls=calls), Says(f"All done.\n\n{_MANY_LINES}"))
    provider.script("m-broken", Refuses(400, "no such model"))
    reads = Call("read_file", {"path": "notes.txt"}, "r")
    writes = [
        Call("write_file", {"path": path, "content": "Ship.\n"}, path)
        for path in ("docs/plan.txt", "docs/todo.txt")
    ]
    works = Says(thinking="Where are they?", calls=[reads, *writes])
    alone = [Says("By itself."), Says("Once *more*.")]
    provider.script("m-helper", works, Answer(Says(_LINKS), hold=hold), *alone)
    put_server_into(project).symlink_to(server_program())
    with vscode(extension, project, tmp_path, PAGES, provider.environment) as window:
        window.open_file("axe/agents/lead.toml")
        window.run_agent("lead", "Go")
        page = window.webview()
        page.get_by_role("heading", name="helper").wait_for()
        page.locator(".question .added", has_text="+Ship.").first.wait_for()
        assert page.locator(".question .added").first.get_attribute("data-at") == "  1"

        def allow_all_edits() -> None:
            more = page.get_by_role("button", name="More answers", expanded=False)
            if more.count():
                more.first.click(timeout=1000)
            all_edits = page.get_by_role("button", name="Allow All Edits of This Run")
            all_edits.first.click(timeout=1000)

        todo = project / "docs" / "todo.txt"
        window.repeat_until("all edits", allow_all_edits, todo.exists)
        page.get_by_role("heading", name="Links").wait_for()
        assert page.get_by_text("call_agent").count() == 0, "its agent has come in its place"
        page.locator("summary", has_text="read_file").click()
        page.get_by_text("Ship on Friday.").wait_for()
        broken = page.locator("details.run:not([open]) > summary", has_text="broken")
        broken.locator(".outcome", has_text="no such model").wait_for()
        window.repeat_until(
            "the error", broken.click, page.locator(".error", has_text="no such model").is_visible
        )
        changed = page.locator("article > .run-edits li")
        changed.filter(has_text="docs/plan.txt +1 new").wait_for()
        assert page.get_by_role("button", name="Undo changes").count() == 0, "it is at work"
        page.locator("details.run .run-edits summary").get_by_text("2 files").wait_for()
        check_accessible(page)
        window.picture("page-tree")
        hold.release()
        page.get_by_text("All done.").wait_for()
        page.get_by_role("button", name="Undo changes: lead").wait_for()
        page.get_by_role("button", name="Undo changes: turn 1").first.click()
        window.answer_dialog("Put back 2 files as before turn 1 of", "Put Back")
        changed.filter(has_text="put back").first.wait_for()
        window.close_message("2 files put back.")  # Three messages are shown at once.
        assert not (project / "docs").exists()

        folded = page.locator("details.run:not([open]) > summary", has_text="helper")
        folded.locator(".outcome", has_text="Links").wait_for()
        folded.click()
        for name, target in _REJECTED.items():
            page.get_by_role("link", name=name).click()
            window.wait_for_message(f"{target} is neither a file of this workspace nor an address")
        page.get_by_role("link", name="the notes").press("Enter")
        window.wait_for_tab("notes.txt")
        window.wait_for_text("Ship on Friday.")
        assert page.get_by_text("All done.").is_visible(), "the page is still there"

        line = page.get_by_text("Line 40.")
        line.evaluate("(line) => line.scrollIntoView({ block: 'center' })")
        place = line.evaluate(_PLACE)
        window.show_file("lead: Go")
        window.run_command("File: New Untitled Text File")
        window.wait_for_tab("Untitled-1")
        window.show_file("lead: Go")
        window.wait_until("the place after a look elsewhere", lambda: _is_at(line, place))
        window.reload()
        window.wait_until("the place after a reload", lambda: _is_at(line, place))

        again = page.get_by_role("button", name="Run Again: helper by itself")
        helper = page.locator("details.run > summary", has_text="helper")
        window.repeat_until("what is in helper", helper.click, again.is_visible)
        again.press("Enter")
        window.wait_for_tab("helper: Read")
        page.get_by_text("By itself.").wait_for()
        assert page.get_by_text("All done.").count() == 0, "it stands in place of the page before"
        page.locator(".turn > summary").hover()
        page.get_by_role("button", name="Retry from Here: turn 1").click()
        page.locator("article .text em", has_text="more").wait_for()
        window.wait_for_tab("helper: fork of Read")
        check_accessible(page)
        window.press_until("Control+f", "the box to find", window.finds_in_page)
    first, again = provider.asked("m-helper")[-2:]
    assert first.body["messages"] == again.body["messages"]


@pytest.mark.editor
@pytest.mark.parametrize("theme", ["Default Light Modern", "Default High Contrast"])
def test_code_has_colours_and_a_copy_button_and_places_in_files_open(
    extension: Path, provider: ScriptedProvider, tmp_path: Path, theme: str
) -> None:
    project = tmp_path / "notes"
    coder = project / "axe" / "agents" / "coder.toml"
    coder.parent.mkdir(parents=True)
    coder.write_text(agent("coder")["coder"], encoding="utf-8")
    (project / "src").mkdir()
    (project / "src" / "app.py").write_text("first\nsecond\n", encoding="utf-8")
    provider.script("m-coder", Says(_CODE))
    put_server_into(project).symlink_to(server_program())
    settings = {**PAGES, "workbench.colorTheme": theme}
    with vscode(extension, project, tmp_path, settings, provider.environment) as window:
        window.open_file("axe/agents/coder.toml")
        window.run_agent("coder", "Go")
        page = window.webview()
        page.locator(".code-string", has_text="<b>x</b>").wait_for()
        page.locator(".code").first.hover()
        window.picture(f"page-code-{theme}")
        check_accessible(page)
        page.get_by_role("button", name="Copy code").first.click()
        page.get_by_role("button", name="Copy code").filter(has_text="Copied").wait_for()
        page.get_by_role("link", name="src/app.py:2").click()
        window.wait_for_tab("app.py")
        window.wait_for_place("Ln 2, Col 1")


_CODE = """It is in src/app.py:2.

```python
# A comment
class Greeter(Base):
    def greet(self, name="<b>x</b>", times=3):
        return None
```

```json
{"a": [1, true, "text"]}
```
"""

_MANY_LINES = "\n\n".join(f"Line {number}." for number in range(100))

_PLACE = "(line) => line.getBoundingClientRect().top"


def _is_at(line: Locator, place: float) -> bool:
    return line.count() == 1 and abs(line.evaluate(_PLACE) - place) <= 1


_REJECTED = {"outside": "../secret.txt", "beside": "link.txt", "climbing": "/etc/../etc/hostname"}

_LINKS = f"""# Links

{" ".join(f"[{name}]({target})" for name, target in _REJECTED.items())} [the notes](notes.txt#L2)
"""


@pytest.mark.editor
@pytest.mark.req("002-3")
def test_messages_to_a_run_and_its_side_run_wait_as_chips_and_never_answer_an_approval(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "notes"
    folder = project / "axe" / "agents"
    folder.mkdir(parents=True)
    agents = agent("lead", sub_agents=["lint"], sub_agents_config={"background": "always"})
    agents |= agent("lint", tools=["run_command"])
    for name, text in agents.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    command = Call("run_command", {"command": "echo done > made.txt"})
    provider.script("m-lint", Says(calls=[command]), Says("Clean."))
    looks = Answer(Says("Meanwhile, I look at all the files."), hold=Hold(chunk=4))
    starts = Says(calls=[calls_agent("lint", "Lint")])
    provider.script("m-lead", starts, looks, Says("Looked at *c*."), Says("All *done*."))
    put_server_into(project).symlink_to(server_program())
    with vscode(extension, project, tmp_path, PAGES, provider.environment) as window:
        window.open_file("axe/agents/lead.toml")
        window.run_agent("lead", "Go")
        page = window.webview()
        page.get_by_text("Meanwhile").wait_for()
        page.get_by_role("button", name="Allow", exact=True).wait_for()
        page.locator(".badge", has_text="side run").wait_for()

        box = page.get_by_role("textbox", name="Message", exact=True)
        box.fill("And b.py")
        box.press("Alt+Enter")
        page.locator(".reply .chip", has_text="at the end").wait_for()
        box.fill("Only a.py")
        box.press("Enter")
        chips = page.locator(".reply .chip .words")
        chips.filter(has_text="Only a.py").wait_for()
        assert chips.all_inner_texts() == ["And b.py", "Only a.py"]
        assert box.input_value() == ""
        page.get_by_role("button", name="Allow", exact=True).wait_for()
        assert not (project / "made.txt").exists()
        window.picture("page-messages")
        check_accessible(page)

        page.get_by_role("button", name="Remove message: And b.py").click()
        page.get_by_role("button", name="Edit message: Only a.py").click()
        text = page.get_by_role("textbox", name="Text of the message")
        text.fill("Only c.py")
        text.press("Enter")
        chips.filter(has_text="Only c.py").wait_for()
        page.get_by_role("button", name="Send now: Only c.py").click()
        page.locator("article .text em", has_text="c").wait_for()
        page.locator(".given pre", has_text="Only c.py").wait_for()
        page.get_by_role("status").filter(has_text="lead: waits for lint-1").wait_for()

        side = page.get_by_role("textbox", name="Message to lint-1")
        side.fill("Be quick")
        side.press("Enter")
        page.locator(".side-box .chip", has_text="Be quick").wait_for()
        allow = page.get_by_role("button", name="Allow", exact=True)
        window.repeat_until(
            "the file",
            lambda: allow.count() and allow.click(timeout=1000),
            (project / "made.txt").exists,
        )
        page.locator("article .text em", has_text="done").wait_for()
        page.get_by_role("status").filter(has_text="lead: completed").wait_for()
        page.get_by_role("button", name="Timeline").click()
        window.webview().get_by_role("treeitem", name="lead waits for lint-1").wait_for()
    answer = '[Side run "lint-1" has ended]\nClean.'
    assert user_texts(provider, "m-lead") == ["Go", "Only c.py", answer]
    assert user_texts(provider, "m-lint") == ["Task: Lint", "Be quick"]
