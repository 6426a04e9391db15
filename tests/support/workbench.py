"""The VS Code workbench as a user sees it: code-server, in which the extension is installed, in a browser.

    with workbench(code_server, extension, project, environment, scratch) as window:
        window.open_file("axe/agents/manager.toml")
        window.wait_for_problems(["max-depth [Ln 6, Col 13]"])
        window.run_command("axe: Run This Agent")

Waits are for what is on the screen. A wait that is in vain leaves a screenshot and says where.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from support.browser import UNTIL_PRESSED_AGAIN
from support.palette import Palette
from support.setting_up import SettingUp
from support.tree_view import TreeView

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Page

TIMEOUT = 60_000
"""Milliseconds. Generous, because the machine may be busy; only a failing test waits that long."""

_POLL = 50

# What elements say, from top to bottom; the workbench draws rows in any order and then places them.
_TEXTS = """
(selector) => [...document.querySelectorAll(selector)]
  .sort((one, other) => one.getBoundingClientRect().top - other.getBoundingClientRect().top)
  .map((element) => element.innerText.replaceAll('\\u00a0', ' '))
"""

# A window that was opened on a file would come back with that file alone.
_FORGET_FILE_TO_OPEN = """
() => {
  history.replaceState(null, "", location.href.replace(/&payload=[^&]*/, ""));
  window.isOld = true;
}
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
    """A window on `project`. What VS Code writes goes to `scratch`, and so do screenshots.

    `extension` is a package; `others` are folders of extensions, for where nothing is installed.
    """
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  not a part of the dev extras

    command = _command(code_server, scratch)
    _write_settings(scratch, settings or {})
    for folder in others:
        shutil.copytree(folder, scratch / "extensions" / folder.name)
    if extension:
        _install(command, extension, environment)
    with _served(command, environment) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(TIMEOUT)
        yield Workbench(page, address, project, scratch)
        browser.close()


class Workbench:
    """One window on one project."""

    def __init__(self, page: Page, address: str, project: Path, scratch: Path) -> None:
        self._page = page
        self._address = address
        self._project = project
        self._scratch = scratch
        self._palette = Palette(page, self._wait_for)
        self.setting_up = SettingUp(page, self._wait_for)

    def open_file(self, path: str) -> None:
        """Opens the window with a file of the project in the editor."""
        uri = f"vscode-remote://{self._address}{quote(str(self._project / path))}"
        payload = quote(json.dumps([["openFile", uri]]))
        folder = quote(str(self._project))
        self._page.goto(f"http://{self._address}/?folder={folder}&payload={payload}")
        self._page.locator(".editor-instance .view-lines").wait_for(timeout=TIMEOUT)

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
        self._wait_for("the end of the tests", lambda: bool(codes), 5 * TIMEOUT)
        text = "\n".join(said)
        assert codes == [0], text
        return text

    def hover(self, word: str, expected: str) -> None:
        """Points at a word of the editor, until what is explained there says `expected`."""
        place = self._page.locator(".editor-instance .view-line span", has_text=word).last
        boxes = ".monaco-hover .hover-contents"

        def is_explained() -> bool:
            place.hover(timeout=TIMEOUT)
            return any(expected in text for text in self._texts(boxes))

        self._wait_for(f"a hover on {word}", is_explained)

    def press_lens(self, title: str) -> None:
        """Presses a code lens. A click may be lost while the lenses are being drawn."""
        lens = self._page.locator(".codelens-decoration a", has_text=title).first
        lens.click(timeout=TIMEOUT)

    def lenses(self) -> list[str]:
        """What the code lenses of the editor say."""
        return self._texts(".editor-instance .codelens-decoration a")

    def fix(self, word: str, title: str) -> None:
        """Takes the first quick fix of what is underlined at a word."""
        text = self._page.locator(".editor-instance .view-line span span", has_text=word)
        text.last.click(timeout=TIMEOUT)
        self._page.keyboard.press("Control+.")
        offered = self._page.locator(".action-widget .monaco-list-row.focused", has_text=title)
        offered.wait_for(timeout=TIMEOUT)  # The first one is.
        self._page.keyboard.press("Enter")

    def show_file(self, name: str) -> None:
        """Brings a file that is open to the front."""
        self._page.locator(".tabs-container .tab", has_text=name).first.click(timeout=TIMEOUT)

    def replace_text(self, text: str) -> None:
        """Puts `text` in place of what the editor contains, without saving it."""
        self._focus("Control+1", ".editor-instance")
        self._page.keyboard.press("Control+a")
        self._page.keyboard.insert_text(text)

    def press(self, keys: str) -> None:
        """Presses keys where the focus is."""
        self._page.keyboard.press(keys)

    def run_command(self, title: str) -> None:
        """Picks a command from the palette, as soon as it is offered."""
        self._palette.run(title)

    def press_key(self, key: str) -> None:
        """Presses a key in the editor."""
        self._focus("Control+1", ".editor-instance")
        self._page.keyboard.press(key)

    def offers_command(self, title: str) -> bool:
        """Whether the palette finds the command."""
        return self._palette.offers(title)

    def answer_question(self, title: str, answer: str) -> None:
        """Types into the input box that the extension has opened."""
        self._page.locator(".quick-input-title", has_text=title).wait_for(timeout=TIMEOUT)
        self._wait_for("its input box", lambda: bool(self._texts(".quick-input-box :focus")))
        self._page.keyboard.insert_text(answer)
        self._page.keyboard.press("Enter")

    def pick(self, *parts: str) -> None:
        """Takes the first item of the list that the extension offers, which has all `parts`."""
        rows = ".quick-input-list .monaco-list-row"
        self._wait_for(f"the offer {parts}", lambda: _has(self._texts(rows)[:1], parts))
        self._page.keyboard.press("Enter")

    def wait_for_text(self, *parts: str) -> None:
        """Waits until the editor shows all `parts`."""
        lines = ".editor-instance .view-line"
        self._wait_for(f"the text {parts}", lambda: _has(self._texts(lines), parts))

    def wait_for_walkthrough(self, *titles: str) -> None:
        """Waits until the walkthrough that is open has steps with these titles."""
        steps = ".getting-started-step"
        self._wait_for(f"the steps {titles}", lambda: _has(self._texts(steps), titles))

    def wait_for_dialog(self, message: str) -> None:
        """Waits for the modal dialog that begins so."""
        self._page.locator(".monaco-dialog-box", has_text=message).wait_for(timeout=TIMEOUT)

    def wait_for_diff(self, before: str, after: str) -> None:
        """Waits until two texts stand side by side, and say so."""
        sides = [
            f".monaco-diff-editor .editor.{side} .view-line" for side in ("original", "modified")
        ]
        self._wait_for(
            f"the difference of {before} and {after}",
            lambda: all(
                _has(self._texts(side), [part])
                for side, part in zip(sides, (before, after), strict=True)
            ),
        )

    def answer_dialog(self, message: str, button: str) -> str:
        """Presses a button of the modal dialog that begins so; returns all that it says."""
        dialog = self._page.locator(".monaco-dialog-box", has_text=message)
        dialog.wait_for(timeout=TIMEOUT)
        said: str = dialog.inner_text()
        dialog.locator(".monaco-button", has_text=button).first.click()
        return said

    def agree_to_file(self, title: str) -> None:
        """Takes the file that VS Code's own dialog proposes, as soon as the dialog lets it."""
        dialog = self._page.locator(".quick-input-title", has_text=title)
        dialog.wait_for(timeout=TIMEOUT)

        def is_taken() -> bool:
            self._page.keyboard.press("Enter")
            self._page.wait_for_timeout(UNTIL_PRESSED_AGAIN)
            return not dialog.is_visible()

        self._wait_for(f"the end of the dialog {title}", is_taken)

    def wait_for_message(self, *parts: str) -> None:
        """Waits for a notification that says all `parts`."""
        toasts = ".notifications-toasts .notification-list-item"
        self._wait_for(f"the message {parts}", lambda: _has_all(self._texts(toasts), parts))

    def answer_message(self, part: str, button: str) -> None:
        """Presses a button of the notification that says `part`."""
        toast = self._page.locator(".notifications-toasts .notification-list-item", has_text=part)
        toast.locator(".monaco-button", has_text=button).first.click(timeout=TIMEOUT)

    def wait_for_status(self, *parts: str) -> None:
        """Waits until the language status, which screen readers read, says all `parts`."""
        self._wait_for(f"the status {parts}", lambda: _has_all([self.status()], parts))

    def status(self) -> str:
        """What the language status of the document in the editor says."""
        item = self._page.locator('[id="status.languageStatus"]')
        return item.get_attribute("aria-label") or "" if item.count() else ""

    def trust(self) -> None:
        """Says that the user trusts the workspace."""
        self.run_command("Workspaces: Manage Workspace Trust")
        button = self._page.locator(".workspace-trust-editor .monaco-button", has_text="Trust")
        button.first.click(timeout=TIMEOUT)

    def wait_for_squiggles(self, errors: int, warnings: int) -> None:
        """Waits until so many stretches of the text are underlined."""
        self._wait_for(
            f"{errors} errors and {warnings} warnings underlined",
            lambda: (
                len(self._texts(".squiggly-error")) == errors
                and len(self._texts(".squiggly-warning")) == warnings
            ),
        )

    def wait_for_problems(self, expected: Sequence[str]) -> None:
        """Waits until the Problems view has exactly these rows, each `code [Ln 1, Col 2]`."""
        if not self._texts(".markers-panel"):
            self._page.keyboard.press("Control+Shift+m")
            self._page.locator(".markers-panel").wait_for(timeout=TIMEOUT)
        self._wait_for(f"the problems {expected}", lambda: self.problems() == list(expected))

    def problems(self) -> list[str]:
        """The rows of the Problems view, in the order of the file."""
        rows = self._texts(".markers-panel .monaco-list-row")
        found = [re.search(r"(?m)^(\S+)\n\[Ln (\d+), Col (\d+)\]", row) for row in rows]
        places = sorted((int(match[2]), int(match[3]), match[1]) for match in found if match)
        return [f"{code} [Ln {line}, Col {column}]" for line, column, code in places]

    def wait_for_output(self, *parts: str) -> str:
        """Waits until the Output view shows all `parts`; returns what is on the screen then."""
        self._wait_for(f"the output {parts}", lambda: all(part in self.output() for part in parts))
        return self.output()

    def output(self) -> str:
        """The lines of the Output view that are on the screen."""
        return "\n".join(self._texts(".output-view .view-line"))

    def open_view(self, title: str) -> TreeView:
        """Opens one of the extension's views in the side bar."""
        self._page.locator('.activitybar .action-label[aria-label^="axe"]').click(timeout=TIMEOUT)
        header = self._page.locator(f'.pane-header[aria-label^="{title}"]')
        header.wait_for(state="attached", timeout=TIMEOUT)
        return self.view(title)

    def view(self, title: str) -> TreeView:
        """A view that is open."""
        return TreeView(self._page, self._wait_for, title, TIMEOUT)

    def webview(self) -> FrameLocator:
        """The page of the webview that is in front."""
        return self._page.frame_locator("iframe.webview.ready").frame_locator("#active-frame")

    def reload(self) -> None:
        """Loads the window anew with what is open in it: another extension host, another language server."""
        self._page.evaluate(_FORGET_FILE_TO_OPEN)
        self.run_command("Developer: Reload Window")
        self._page.wait_for_function("!window.isOld", timeout=TIMEOUT)
        self._page.locator(".monaco-workbench .part.editor").wait_for(timeout=TIMEOUT)

    def wait_until(self, what: str, condition: Callable[[], bool]) -> None:
        """Waits for what the text says, until it is so."""
        self._wait_for(what, condition)

    def wait_for_folder(self, name: str) -> None:
        """Waits until the window is one on a folder of that name."""
        self._page.wait_for_url(f"**/{name}", timeout=TIMEOUT)
        self._page.locator(".monaco-workbench .part.editor").wait_for(timeout=TIMEOUT)

    def wait_for_tab(self, *parts: str) -> None:
        """Waits until the editor in front has all `parts` in its title."""
        tabs = ".tabs-container .tab.active"
        self._wait_for(f"the tab {parts}", lambda: _has_all(self._texts(tabs), parts))

    def screenshot(self, name: str) -> Path:
        """A picture of the window, to look at when a test has failed."""
        path = self._scratch / f"vscode-{name}.png"
        self._page.screenshot(path=path)
        return path

    def picture(self, name: str) -> None:
        """A picture for the documentation, made only where `AXE_TEST_PICTURES` names a folder for it."""
        folder = os.environ.get("AXE_TEST_PICTURES")
        if folder:
            self._page.screenshot(path=Path(folder) / f"vscode-{name}.png")

    def _focus(self, key: str, selector: str) -> None:
        """Presses a key that leads to a part of the window, and waits until what is typed goes there."""
        self._page.keyboard.press(key)
        focused = f"{selector} :focus"
        self._wait_for(f"the focus on {selector}", lambda: bool(self._texts(focused)))

    def _texts(self, selector: str) -> list[str]:
        texts: list[str] = self._page.evaluate(_TEXTS, selector)
        return texts

    def _wait_for(self, what: str, condition: Callable[[], bool], timeout: int = TIMEOUT) -> None:
        end = time.monotonic() + timeout / 1000
        while time.monotonic() < end:
            if condition():
                return
            self._page.wait_for_timeout(_POLL)
        picture = self.screenshot("waited-in-vain")
        raise AssertionError(f"waited in vain for {what}: see {picture}")


def _has(texts: Sequence[str], parts: Sequence[str]) -> bool:
    return all(any(part in text for text in texts) for part in parts)


def _has_all(texts: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether one of the texts has all parts."""
    return any(all(part in text for part in parts) for text in texts)


def _command(code_server: Path, scratch: Path) -> list[str]:
    configuration = scratch / "code-server.yaml"
    configuration.touch()
    command = [str(code_server), "--config", str(configuration)]
    command += ["--user-data-dir", str(scratch / "data")]
    return [*command, "--extensions-dir", str(scratch / "extensions")]


def _write_settings(scratch: Path, settings: Mapping[str, Any]) -> None:
    """The user's, and those of the machine: only from there VS Code takes settings that name programs."""
    for place in ("User", "Machine"):
        folder = scratch / "data" / place
        folder.mkdir(parents=True)
        (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")


def _install(command: Sequence[str], extension: Path, environment: Mapping[str, str]) -> None:
    subprocess.run(
        [*command, "--install-extension", str(extension)],
        env=dict(environment),
        check=True,
        capture_output=True,
    )


@contextmanager
def _served(command: Sequence[str], environment: Mapping[str, str]) -> Iterator[str]:
    """Runs code-server on a free port; the value is its address."""
    options = ["--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-telemetry"]
    options += ["--disable-update-check", "--disable-getting-started-override"]
    with subprocess.Popen(
        [*command, *options],
        env=dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield _address(process)
        finally:
            process.terminate()


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        found = re.search(r"listening on http://(\S+?)/?$", line)
        if found:
            return found[1]
    raise AssertionError("code-server ended before it listened")
