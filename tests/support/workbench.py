"""The VS Code workbench as a user sees it: code-server, in which the extension is installed, in a browser.

    with workbench(code_server, extension, project, environment, scratch) as window:
        window.open_file("axe/agents/manager.toml")
        window.wait_for_problems(["max-depth [Ln 6, Col 13]"])
        window.run_command("axe: Run This Agent")

Waits are for what is on the screen, and what is pressed is pressed again until that has helped. A wait that is in vain
leaves a screenshot, says where, and prints all that the window says.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from support.code_server import served
from support.palette import Palette
from support.questions import Questions
from support.screen import STAYS, TIMEOUT, Screen, failed, has_all, has_each
from support.setting_up import SettingUp
from support.text_editor import TextEditor
from support.tree_view import TreeView

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Page

_ANSWERS = 30_000
"""Milliseconds in which the extension asks what it was told to ask, on a machine that is busy."""

# A window that was opened on a file would come back with that file alone.
_FORGET_FILE_TO_OPEN = """
() => {
  history.replaceState(null, "", location.href.replace(/&payload=[^&]*/, ""));
  window.isOld = true;
}
"""

_STATUS = """
() => document.getElementById("status.languageStatus")?.getAttribute("aria-label") ?? ""
"""


@contextmanager
def workbench(
    code_server: Path,
    extension: Path | None,
    project: Path,
    environment: Mapping[str, str],
    scratch: Path,
    settings: Mapping[str, Any] | None = None,
    others: Sequence[Path] = (),
) -> Iterator[Workbench]:
    """Provide a window on `project`. What VS Code writes goes to `scratch`, and so do screenshots.

    `extension` is a package; `others` are folders of extensions, for where nothing is installed.
    """
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  not a part of the dev extras

    server = served(code_server, environment, scratch, settings or {}, extension, others)
    with server as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(TIMEOUT)
        window = Workbench(page, address, project, scratch)
        try:
            yield window
        except (
            Exception
        ):  # A page that hangs, at which pytest's own timeout ends, would not answer either.
            window.tell()
            raise
        browser.close()


class Workbench(TextEditor, Questions):
    """One window on one project."""

    def __init__(self, page: Page, address: str, project: Path, scratch: Path) -> None:
        self._page = page
        self._address = address
        self._project = project
        self._scratch = scratch
        self._screen = Screen(page, scratch)
        self._palette = Palette(self._screen)
        self.setting_up = SettingUp(self._screen)

    def open_file(self, path: str) -> None:
        """Opens the window with a file of the project in the editor."""
        uri = f"vscode-remote://{self._address}{quote(str(self._project / path))}"
        payload = quote(json.dumps([["openFile", uri]]))
        folder = quote(str(self._project))
        self._page.goto(f"http://{self._address}/?folder={folder}&payload={payload}")
        self._page.locator(".editor-instance .view-lines").wait_for(timeout=TIMEOUT)

    def open_folder(self) -> None:
        """Opens the window on the project, with no file."""
        self._page.goto(f"http://{self._address}/?folder={quote(str(self._project))}")
        self._page.locator(".monaco-workbench .part.sidebar").wait_for(timeout=TIMEOUT)

    def run_tests(self, extension: Path, tests: Path) -> str:
        """Runs tests inside the extension host, in which the folder `extension` is at work.

        Returns what they said; raises AssertionError with that if they failed.
        """
        said: list[str] = []
        codes: list[int] = []
        self._page.expose_function("codeAutomationLog", lambda _, line: said.append(str(line)))
        self._page.expose_function("codeAutomationExit", lambda code, *_: codes.append(code))
        places = {"extensionDevelopmentPath": extension, "extensionTestsPath": tests}
        payload = [
            [name, f"vscode-remote://{self._address}{path}"] for name, path in places.items()
        ]
        folder = quote(str(self._project))
        query = f"folder={folder}&payload={quote(json.dumps(payload))}"
        self._page.goto(f"http://{self._address}/?{query}")
        self._screen.wait_for(
            "the end of the tests", lambda: bool(codes), lambda: said, 5 * TIMEOUT
        )
        text = "\n".join(said)
        assert codes == [0], text
        return text

    def show_file(self, name: str) -> None:
        """Brings a file that is open to the front."""
        tab = self._page.locator(".tabs-container .tab", has_text=name).first
        tabs = ".tabs-container .tab.active"
        self._screen.act(
            f"the file {name} in front",
            lambda: tab.click(timeout=STAYS),
            lambda: has_each(self._texts(tabs), [name]),
            lambda: self._texts(".tabs-container .tab"),
        )

    def run_agent(self, name: str, task: str) -> None:
        """Presses the lens Run, and types the task.

        VS Code may lose the press, as it draws lenses anew whenever the editor gets the focus: if no question comes, the
        lens is pressed again, as a user would.
        """
        question = f"Run {name}"
        self._screen.wait_for(
            f"the question {question}",
            lambda: self.reaches_lens("Run") and self.is_asked(question, _ANSWERS),
            self.lenses,
        )
        self.answer_question(question, task)

    def press_until(self, keys: str, what: str, condition: Callable[[], bool]) -> None:
        """Presses keys where the focus is, and again until what the text says is so."""
        self._screen.act(what, lambda: self._page.keyboard.press(keys), condition)

    def repeat_until(
        self, what: str, action: Callable[[], object], condition: Callable[[], bool]
    ) -> None:
        """Does something that can be done twice, and again until what the text says is so."""
        self._screen.act(what, action, condition)

    def run_command(self, title: str) -> None:
        """Picks a command from the palette, as soon as it is offered."""
        self._palette.run(title)

    def offers_command(self, title: str) -> bool:
        """Return whether the palette finds the command."""
        return self._palette.offers(title)

    def wait_for_walkthrough(self, *titles: str) -> None:
        """Waits until the walkthrough that is open has steps with these titles."""
        steps = ".getting-started-step"
        self._screen.wait_for(f"the steps {titles}", lambda: has_each(self._texts(steps), titles))

    def wait_for_status(self, *parts: str) -> None:
        """Waits until the language status, which screen readers read, says all `parts`."""
        self._screen.wait_for(
            f"the status {parts}", lambda: has_all([self.status()], parts), self.status
        )

    def status(self) -> str:
        """Return what the language status of the document in the editor says."""
        status: str = self._page.evaluate(_STATUS)
        return status

    def trust(self) -> None:
        """Says that the user trusts the workspace."""
        self.run_command("Workspaces: Manage Workspace Trust")
        page = ".workspace-trust-editor"
        button = self._page.locator(f"{page} .monaco-button").get_by_text("Trust", exact=True)
        self._screen.act(
            "the trust in the workspace",
            lambda: button.click(timeout=STAYS),
            lambda: has_each(self._texts(page), ["You trust this folder"]),
            lambda: self._texts(page),
        )

    def wait_for_problems(self, expected: Sequence[str]) -> None:
        """Waits until the Problems view has exactly these rows, each `code [Ln 1, Col 2]`."""
        panel = self._page.locator(".markers-panel")
        if not panel.is_visible():
            self.press_until("Control+Shift+m", "the Problems view", panel.is_visible)
        self._screen.wait_for(
            f"the problems {expected}", lambda: self.problems() == list(expected), self.problems
        )

    def problems(self) -> list[str]:
        """Return the rows of the Problems view, in the order of the file."""
        rows = self._texts(".markers-panel .monaco-list-row")
        found = [re.search(r"(?m)^(\S+)\n\[Ln (\d+), Col (\d+)\]", row) for row in rows]
        places = sorted((int(match[2]), int(match[3]), match[1]) for match in found if match)
        return [f"{code} [Ln {line}, Col {column}]" for line, column, code in places]

    def wait_for_output(self, *parts: str) -> str:
        """Waits until the Output view shows all `parts`; returns what is on the screen then."""
        seen = ""

        def is_said() -> bool:
            nonlocal seen
            seen = self.output()
            return all(part in seen for part in parts)

        self._screen.wait_for(f"the output {parts}", is_said, lambda: seen)
        return seen

    def output(self) -> str:
        """Return the lines of the Output view that are on the screen."""
        return "\n".join(self._texts(".output-view .view-line"))

    def open_view(self, title: str) -> TreeView:
        """Opens one of the extension's views in the side bar."""
        icon = self._page.locator('.activitybar .action-label[aria-label^="axe"]')
        header = self._page.locator(f'.pane-header[aria-label^="{title}"]')

        def open_unless_open() -> None:
            if not header.is_visible():  # Another click on the icon would close it.
                icon.click(timeout=STAYS)

        self._screen.act(f"the view {title}", open_unless_open, header.is_visible)
        return self.view(title)

    def focus_terminal(self) -> None:
        """Opens a terminal, into which what is typed goes."""
        terminal = self._page.locator(".terminal-wrapper.active .xterm.focus")
        self.press_until("Control+Backquote", "the focus on a terminal", terminal.is_visible)

    def badge(self) -> str:
        """Return what the badge at the extension's icon says."""
        icon = self._page.locator('.activitybar .action-label[aria-label^="axe"]')
        return (icon.get_attribute("aria-label") or "").partition(" - ")[2]

    def view(self, title: str) -> TreeView:
        """Return a view that is open."""
        return TreeView(self._screen, title)

    def tests(self) -> list[str]:
        """Return the rows of the Testing view, each with the state of its test."""
        rows = self._page.locator(".test-explorer .monaco-list-row")
        return [row.get_attribute("aria-label") or "" for row in rows.all()]

    def press_on_test(self, name: str, button: str, is_done: Callable[[], bool]) -> None:
        """Presses a button of a row of the Testing view, until that has the effect."""
        row = self._page.locator(".test-explorer .monaco-list-row", has_text=name).last

        def press() -> None:
            row.hover(timeout=STAYS)
            row.get_by_role("button", name=button).click(timeout=STAYS)

        self._screen.act(f"{button} on {name}", press, is_done)

    def cancel_tests(self) -> None:
        """Presses the button that ends the tests that are running."""
        button = self._page.get_by_role("button", name="Cancel Test Run").first
        self._screen.act(
            "the end of the tests",
            lambda: button.click(timeout=STAYS),
            lambda: not button.is_visible(),
        )

    def webview(self) -> FrameLocator:
        """Return the page of the webview that is in front."""
        front = self._page.locator("iframe.webview.ready:visible").last
        return front.content_frame.frame_locator("#active-frame")

    def finds_in_page(self) -> bool:
        """Return whether the box to find a text in a webview is open."""
        return self._page.locator(".simple-find-part.visible").count() > 0

    def reload(self) -> None:
        """Loads the window anew with what is open in it: another extension host, another language server."""
        self._page.evaluate(_FORGET_FILE_TO_OPEN)
        self.run_command("Developer: Reload Window")
        self._page.wait_for_function("!window.isOld", timeout=TIMEOUT)
        self._page.locator(".monaco-workbench .part.editor").wait_for(timeout=TIMEOUT)

    def wait_until(self, what: str, condition: Callable[[], bool]) -> None:
        """Waits for what the text says, until it is so."""
        self._screen.wait_for(what, condition)

    def wait_for_folder(self, name: str) -> None:
        """Waits until the window is one on a folder of that name."""
        self._page.wait_for_url(f"**/{name}", timeout=TIMEOUT)
        self._page.locator(".monaco-workbench .part.editor").wait_for(timeout=TIMEOUT)

    def wait_for_tab(self, *parts: str) -> None:
        """Waits until the editor in front has all `parts` in its title."""
        self._screen.wait_for(f"the tab {parts}", lambda: has_all([self.tab()], parts), self.tab)

    def press_in_title(self, label: str, is_done: Callable[[], bool]) -> None:
        """Presses a button in the title of the editor in front, until that has the effect."""
        title = ".editor-group-container.active .editor-actions"
        button = self._page.locator(title).get_by_role("button", name=label, exact=True)
        self._screen.act(
            f"{label} in the title",
            lambda: button.click(timeout=STAYS),
            is_done,
            lambda: self._texts(title),
        )

    def tab(self) -> str:
        """Return the title of the editor in front."""
        return "\n".join(self._texts(".tabs-container .tab.active"))

    def wait_for_place(self, place: str) -> None:
        """Waits until the status bar says where the cursor is: `Ln 1, Col 2`."""
        shown = '[id="status.editor.selection"]'
        self._screen.wait_for(
            f"the cursor at {place}",
            lambda: has_all(self._texts(shown), [place]),
            lambda: self._texts(shown),
        )

    def screenshot(self, name: str) -> Path:
        """Return a picture of the window, to look at when a test has failed."""
        return self._screen.picture(name)

    def picture(self, name: str) -> None:
        """A picture for the documentation, made only where `AXE_TEST_PICTURES` names a folder for it."""
        folder = os.environ.get("AXE_TEST_PICTURES")
        if folder:
            self._page.screenshot(path=Path(folder) / f"vscode-{name}.png")

    def tell(self) -> None:
        """Prints what the window says, and what the extension has logged, for whoever sees no screenshot."""
        with contextlib.suppress(failed()):
            print(self._screen.describe())
        for log in (*self._logs(), *self._hosts_logs()):
            print(f"--- {log.name}", log.read_text(encoding="utf-8", errors="replace")[-6000:])

    def servers(self) -> int:
        """Return how many language servers have come up so far."""
        texts = (log.read_text(encoding="utf-8", errors="replace") for log in self._logs())
        return sum(len(re.findall(r"(?m) axe-lsp \S+ is running$", text)) for text in texts)

    def _logs(self) -> list[Path]:
        """Return what the extension has logged."""
        return list(self._scratch.glob("data/logs/**/*axe-lsp*.log"))

    def _hosts_logs(self) -> list[Path]:
        """Return what the extension host has logged, such as a command that VS Code has forgotten."""
        return list(self._scratch.glob("data/logs/**/remoteexthost.log"))

    def _texts(self, selector: str) -> list[str]:
        return self._screen.texts(selector)
